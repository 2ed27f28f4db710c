/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATSREPLY_H
#define SCALERS_NATS_NATSREPLY_H

/*
 * Reads what the monitoring port of a NATS server says: /jsz, a consumer of a stream of an account,
 * and /varz, who the server is and where the others of its cluster are. Pure. Anything may stand at
 * that address, so nothing in an answer is trusted; what is missing is an error, never 0.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct natsreply_wanted {                 /* borrowed */
	const char *account, *account_id; /* whichever fits; either may be NULL */
	const char *stream, *consumer;
};

enum natsreply_found { /* how far it was found */
	NATSREPLY_NO_ACCOUNT,
	NATSREPLY_NO_STREAM,
	NATSREPLY_NO_CONSUMER,
	NATSREPLY_CONSUMER,
};

/* Names of servers, and identities, without blanks and controls. */
#define NATSREPLY_NAME_SIZE 256

struct natsreply_jsz {
	char id[NATSREPLY_NAME_SIZE]; /* of the server that says this */
	bool is_cluster;              /* of several servers */
	enum natsreply_found found;
	char leader[NATSREPLY_NAME_SIZE]; /* of the consumer: a server's name; "": none is told */
	double lag;                       /* not delivered yet, or not acknowledged */
};

/* 0, or -1 with ERR_INVALID. */
int natsreply_jsz(const char *body, size_t len, const struct natsreply_wanted *wanted, struct natsreply_jsz *out,
	struct err *err);

#define NATSREPLY_HOSTS_MAX 32

struct natsreply_varz {
	char id[NATSREPLY_NAME_SIZE], name[NATSREPLY_NAME_SIZE];
	char *hosts[NATSREPLY_HOSTS_MAX]; /* owned: names and addresses, no brackets, each once */
	size_t count;
	/* of the servers' routes to each other, as they tell clients nothing (no_advertise) */
	bool are_routes;
};

/* 0, or -1 with ERR_INVALID, after which *out owns nothing. */
int natsreply_varz(const char *body, size_t len, struct natsreply_varz *out, struct err *err);
void natsreply_varz_done(struct natsreply_varz *v);

#endif
