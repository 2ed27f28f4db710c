/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CLIENT_PARTS_H
#define KUBE_CLIENT_PARTS_H

/* The client's own state, for client.c (short calls) and stream.c (watches) only. */

#include "kube/client.h"
#include "kube/credentials.h"

struct stream_link;

struct kube {
	struct loop *loop;               /* borrowed */
	struct kube_config *config;      /* borrowed */
	struct credentials *credentials; /* what the next request is sent with */
	int64_t refreshed_at_ms;
	struct loop_task refresh_task;
	int64_t writes_until_ms; /* 0: no limit */

	struct httpc *call_pool;
	struct stream_link *links; /* the watches' pools, made as they are needed */

	/*
	 * A call is in one of these lists: in its priority's queue until it is sent, then among
	 * those under way.
	 */
	struct kube_call *queued[KUBE_PRIORITIES];
	struct kube_call *under_way;
	unsigned queued_count[KUBE_PRIORITIES];
	unsigned sent_count, sent_by[KUBE_PRIORITIES];

	/* NULL without a registry */
	struct counters_family *requests, *in_flight, *waiting;
};

extern const char kube_user_agent[]; /* a header line */

void kube_count_request(struct kube *k, const char *verb, int http_status); /* 0: no answer came */

/*
 * Reads the credentials again when their files changed; true when the next request will be sent
 * with others.
 */
bool kube_refresh(struct kube *k, struct err *err);
void kube_refresh_if_due(struct kube *k); /* at the end of the turn */

#endif
