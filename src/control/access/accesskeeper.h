/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_ACCESS_ACCESSKEEPER_H
#define CONTROL_ACCESS_ACCESSKEEPER_H

/*
 * Keeps our way into the API server open. The kubeconfig and the files it names are read again as
 * soon as they change. A token in a file below our state folder is ours: `kscaled join` put it
 * there. It is renewed at half of its life by a TokenRequest for its own ServiceAccount (kube/
 * tokenfacts says when), every replica by itself, and written over the old one. When what we have
 * ends is a metric, and a warning when that is near: 30 days for certificates, a third of its life
 * for a token of ours, a tenth for one of others.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/counters.h"
#include "kube/client.h"
#include "kube/config.h"

struct accesskeeper;

struct accesskeeper_config {              /* texts outlive it */
	const struct kube_config *access; /* the client's, kept current by it; borrowed */
	const char *state_dir;
	bool renew; /* false: tokens are others' to renew */
	/*
	 * When the certificate that we serve with ends, in ms since 1970; 0: there is none, or it
	 * is not known.
	 */
	int64_t (*serving_until)(void *arg);
	void *arg;
};

/* counters may be NULL. Begins with the next turn of the loop. */
struct accesskeeper *accesskeeper_new(struct kube *kube, struct counters *counters,
	const struct accesskeeper_config *config);
void accesskeeper_free(struct accesskeeper *a); /* NULL is fine */

/* SIGHUP: reads the files now, and says in the log what came of it. */
void accesskeeper_reload(struct accesskeeper *a);

/* The file that will be written over, for those who restrict that; borrowed; NULL: none. */
const char *accesskeeper_token_file(const struct accesskeeper *a);

#endif
