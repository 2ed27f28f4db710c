/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_ACCESS_ACCESSKEEPER_H
#define CONTROL_ACCESS_ACCESSKEEPER_H

/*
 * Maintains our access to the API server. The kubeconfig and the files it names are read again as
 * soon as they change. A token in a file below our state folder is ours: `kscaled join` put it
 * there. Every replica renews it at half of its life (kube/tokenfacts) by a TokenRequest for its
 * own ServiceAccount, and overwrites the file. The end of our credentials is a metric, and a
 * warning when it is near: 30 days for certificates, a third of its life for our own token, a tenth
 * for others.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/counters.h"
#include "kube/client.h"
#include "kube/config.h"

struct accesskeeper;

struct accesskeeper_config {              /* texts outlive it */
	const struct kube_config *access; /* the client's, which keeps it current; borrowed */
	const char *state_dir;
	bool renew; /* false: others renew tokens */
	/* When our serving certificate ends, in ms since 1970; 0: none, or unknown. */
	int64_t (*serving_until)(void *arg);
	void *arg;
};

/* counters may be NULL. Begins with the next turn of the loop. */
struct accesskeeper *accesskeeper_new(struct kube *kube, struct counters *counters,
	const struct accesskeeper_config *config);
void accesskeeper_free(struct accesskeeper *a); /* NULL is fine */

/* SIGHUP: reads the files now and logs the result. */
void accesskeeper_reload(struct accesskeeper *a);

/* The file that will be overwritten, for the sandbox; borrowed; NULL: none. */
const char *accesskeeper_token_file(const struct accesskeeper *a);

#endif
