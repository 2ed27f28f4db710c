/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATS_PARTS_H
#define SCALERS_NATS_NATS_PARTS_H

/* Shared by nats.c, the parameters, and natswalk.c, the requests. */

#include "scalers/http/httpsource.h"
#include "scalers/nats/natsreply.h"

/* The data of a question: the parameters, and values that build derives from them. */
struct nats_question {
	struct httplogin login; /* url: "http://nats.shop.svc:8222" */
	char *endpoint, *account, *account_id, *stream, *consumer;
	bool https;
	char *host, *port; /* of the endpoint; the host without brackets, port "": none given */
	char *jsz;         /* path and query of the account's /jsz */
	/*
	 * The consumer's leader by the last answer, so that the next ask needs one request; not
	 * part of the question's key. base NULL: unknown.
	 */
	struct {
		char *base, *name, *id;
	} leader;
};

extern const struct httpsource_type natswalk_http;
void natswalk_forget(struct nats_question *q);

#endif
