/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATS_PARTS_H
#define SCALERS_NATS_NATS_PARTS_H

/* What nats.c, the parameters, and natswalk.c, the asking, share. */

#include "scalers/http/httpsource.h"
#include "scalers/nats/natsreply.h"

/* The data of a question: the parameters, and what build makes of them. */
struct nats_question {
	struct httplogin login; /* url: "http://nats.shop.svc:8222" */
	char *endpoint, *account, *account_id, *stream, *consumer;
	bool https;
	char *host, *port; /* of the endpoint; the host without brackets, port "": none given */
	char *jsz;         /* path and query that tell of the account */
	/*
	 * What the last answer taught, so that the next ask needs one request; no part of what is
	 * asked. base NULL: nothing.
	 */
	struct {
		char *base, *name, *id;
	} leader;
};

extern const struct httpsource_type natswalk_http;
void natswalk_forget(struct nats_question *q);

#endif
