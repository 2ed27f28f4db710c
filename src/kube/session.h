/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_SESSION_H
#define KUBE_SESSION_H

/*
 * Shared by a client's short calls (kube/client, which owns it) and streams (kube/watchstream): the
 * current credentials and the request counters.
 */

#include "base/counters.h"
#include "base/err.h"
#include "kube/credentials.h"
#include "net/loop.h"

struct session {
	struct loop *loop;               /* borrowed */
	struct kube_config *config;      /* borrowed */
	struct credentials *credentials; /* for the next request */
	int64_t refreshed_at_ms;
	struct loop_task refresh_task;    /* reloads the credentials */
	struct counters_family *requests; /* NULL without a registry */
	int64_t unanswered_since_ms;      /* time of the first request without an answer; 0: the last one had one */
	struct err unanswered;            /* the error */
	char trouble[ERR_MSG_MAX + 64];   /* the text of session_trouble */
};

extern const char session_user_agent[]; /* a header line */

/* A GET of this URL with the present credentials. Borrows both. */
struct httpc_request session_request(const struct session *s, const char *url);

void session_answered(struct session *s, const char *verb, int http_status);
void session_unanswered(struct session *s, const char *verb, const struct err *why);
const char *session_trouble(struct session *s); /* kube_trouble (kube/client.h) */
void session_refresh_soon(struct session *s);   /* at the end of the turn */
void session_refresh_if_due(struct session *s); /* likewise, if due */

#endif
