/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATS_PARTS_H
#define SCALERS_NATS_NATS_PARTS_H

/* What nats.c, the parameters, and natswalk.c, the asking, share. */

#include "scalers/http/httpsource.h"
#include "scalers/nats/natsreply.h"

/* The data of a question. Owns its texts. */
struct nats_question {
	struct httpsource_login login;
	const char *scheme; /* constant */
	char *base;         /* "http://nats.shop.svc:8222" */
	char *host, *port;  /* of it; the host without brackets, port "": none given */
	char *jsz;          /* path and query that tell of the account */
	char *account, *account_id, *stream, *consumer;
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
