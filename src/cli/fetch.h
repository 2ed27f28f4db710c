/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

/*
 * GET requests of sub-commands that need more than cli/host/cluster has: a Unix socket, a media
 * type, the status and Date of the answer. Blocks; each request has a deadline.
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/config.h"

struct fetch;

/* socket: a path; NULL: the server of config. Both are borrowed. NULL and err: out of resources. */
struct fetch *fetch_new(const char *socket, const struct kube_config *config, struct err *err);
void fetch_free(struct fetch *f); /* NULL is fine */

struct fetch_answer {
	int status;
	json_t *body;    /* owned by the caller; NULL: not JSON */
	int64_t date_ms; /* the header Date; 0: none */
};

/* path: percent-encoded; accept: the media type. -1 and err: no answer. */
int fetch_get(struct fetch *f, const char *path, const char *accept, struct fetch_answer *out, struct err *err);

#endif
