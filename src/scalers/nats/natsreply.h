/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATSREPLY_H
#define SCALERS_NATS_NATSREPLY_H

/*
 * Reads answers of a NATS server's monitoring port: /jsz, the consumer of a stream, and /varz, the
 * server's identity and the addresses of its cluster. Pure. Answers are untrusted; missing values
 * are errors, never 0.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct natsreply_wanted {                 /* borrowed */
	const char *account, *account_id; /* either may match; either may be NULL */
	const char *stream, *consumer;
};

enum natsreply_found { /* the most specific object that was found */
	NATSREPLY_NO_ACCOUNT,
	NATSREPLY_NO_STREAM,
	NATSREPLY_NO_CONSUMER,
	NATSREPLY_CONSUMER,
};

/* Server names and IDs, without blanks and control characters. */
#define NATSREPLY_NAME_SIZE 256

struct natsreply_jsz {
	char id[NATSREPLY_NAME_SIZE]; /* of the answering server */
	bool is_cluster;              /* it belongs to a cluster */
	enum natsreply_found found;
	char leader[NATSREPLY_NAME_SIZE]; /* of the consumer: a server's name; "": not reported */
	double lag;                       /* messages not delivered, or not acknowledged */
};

/* 0, or -1 with ERR_INVALID. */
int natsreply_jsz(const char *body, size_t len, const struct natsreply_wanted *wanted, struct natsreply_jsz *out,
	struct err *err);

#define NATSREPLY_HOSTS_MAX 32

struct natsreply_varz {
	char id[NATSREPLY_NAME_SIZE], name[NATSREPLY_NAME_SIZE];
	char *hosts[NATSREPLY_HOSTS_MAX]; /* owned: names and addresses, no brackets, each once */
	size_t count;
	/* hosts are the servers' routes to each other, as they advertise none to clients */
	bool are_routes;
};

/* 0, or -1 with ERR_INVALID, after which *out owns nothing. */
int natsreply_varz(const char *body, size_t len, struct natsreply_varz *out, struct err *err);
void natsreply_varz_done(struct natsreply_varz *v);

#endif
