/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_SESSION_H
#define KUBE_SESSION_H

/*
 * What the short calls of a client (kube/client, which owns it) and its streams (kube/stream) have
 * in common: with which credentials the next request is sent, and how requests are counted.
 */

#include "base/counters.h"
#include "kube/credentials.h"
#include "net/loop.h"

struct session {
	struct loop *loop;               /* borrowed */
	struct kube_config *config;      /* borrowed */
	struct credentials *credentials; /* what the next request is sent with */
	int64_t refreshed_at_ms;
	struct loop_task refresh_task;    /* the client's: reads the credentials again */
	struct counters_family *requests; /* NULL without a registry */
};

extern const char session_user_agent[]; /* a header line */

void session_count(const struct session *s, const char *verb, int http_status); /* 0: no answer came */
void session_refresh_soon(struct session *s);                                   /* at the end of the turn */
void session_refresh_if_due(struct session *s);                                 /* the same */

#endif
