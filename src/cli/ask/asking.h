/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_ASKING_H
#define CLI_ASK_ASKING_H

/*
 * Shared by `kscaled explain` and `kscaled get`: options and kinds on the command line, the
 * terminal, exit statuses.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cli/ask/insightclient.h"
#include "options/options.h"

enum asking_exit { ASKING_OK = 0, ASKING_UNKNOWN = 1, ASKING_UNREACHABLE = 2 /* wrong usage, too */ };

/* The size of the terminal on standard output; 0 and 0: not a terminal, so nothing is cut. */
struct asking_screen {
	size_t columns, rows;
};
struct asking_screen asking_screen(void);

/* The common options, over struct insightclient_ways. */
extern const struct option asking_options[];
#define ASKING_REMOVED                                                                                                 \
	"status-address was removed: use --socket PATH for kscaled on this host (its --insight-socket) or "            \
	"--kubeconfig "                                                                                                \
	"FILE for the cluster"

/*
 * Makes the client for *ways, read from the command line and completed by the defaults: the cluster
 * of kubectl, if run as its plugin; else the daemon's environment and config file. *ways borrows
 * from *a. -1: these or *ways are unusable. asking_done in both cases.
 */
struct asking {
	struct options options;
	char *kubeconfig; /* kubectl's; owned */
	struct insightclient *client;
};
int asking_begin(struct asking *a, struct insightclient_ways *ways, struct err *err);
void asking_done(struct asking *a);

/*
 * The resource of the insight API for a word: "scaledobjectinsights" for so, scaledobject,
 * scaledobjects and soi; "scaledjobinsights" likewise. NULL: none.
 */
#define ASKING_OBJECTS "scaledobjectinsights"
#define ASKING_JOBS    "scaledjobinsights"
#define ASKING_KINDS   2
extern const struct asking_kind {
	const char *resource, *word, *kind; /* "scaledobjectinsights", "so", "ScaledObject" */
} asking_every_kind[ASKING_KINDS];
const char *asking_resource(const char *word);
extern const char *const asking_kinds[]; /* these words; NULL-terminated */

/*
 * "/apis/insight.kscaled.io/v1/namespaces/shop/scaledobjectinsights/web". namespace_ and name may
 * be NULL: all. The caller owns it.
 */
char *asking_path(const char *resource, const char *namespace_, const char *name);

/* The media type of a Table: metadata and columns, no explanations. */
#define ASKING_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

#endif
