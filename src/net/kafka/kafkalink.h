/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKALINK_H
#define NET_KAFKA_KAFKALINK_H

/*
 * The connection to one broker: dialling, TLS, ApiVersions, login, then pipelined requests; answers
 * come in order. net/kafka/kafkacluster owns one per broker.
 *
 * Queue, deadlines, back-off and idle close are net/pool's: each link has a pool of its own, and
 * names its errors. Brokers answer in order, so the window is unlimited.
 *
 * Errors name the broker and the step: connecting, TLS handshake, ApiVersions, SaslHandshake,
 * SaslAuthenticate, or the request. A broker with an unreachable advertised address gets an error
 * that says so.
 */

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/shares.h"
#include "net/identity/identity.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkamessages.h"
#include "net/pool.h"
#include "net/sign/salter.h"
#include "net/stream.h"

struct kafkasasl;
struct webtoken_store;
struct webtoken_wait;

/* What the links of one cluster share. Belongs to their owner, and outlives them. */
struct kafkalink_terms {
	struct loop *loop;
	struct kafkaendpoint *endpoint;
	struct webtoken_store *tokens; /* NULL in tests: no login by an identity */
	struct salter *salter;         /* NULL in tests: no login by SCRAM */
	SSL_CTX *tls;                  /* made at the first connection; the owner frees it */
};

enum kafkalink_state {
	KAFKALINK_CLOSED,
	KAFKALINK_FETCHING_TOKEN,
	KAFKALINK_CONNECTING,
	KAFKALINK_ASKING_VERSIONS,
	KAFKALINK_CHOOSING,
	KAFKALINK_LOGGING_IN,
	KAFKALINK_SALTING,
	KAFKALINK_OPEN, /* logged in */
};

struct kafkalink {
	/* For net/kafka/kafkabrokers. */
	char *address; /* host and port; the key */
	int32_t node;  /* its id in the cluster's metadata; -1: a bootstrap server */
	struct shares_hold share;
	UT_hash_handle hh;
	/* To be read. */
	enum kafkalink_state state;
	int64_t used_ms; /* the last request or answer */
	/*
	 * For a callback with an error: the broker closed a connection that had answered, as it
	 * does when the login has expired (connections.max.reauth.ms). The next one may work.
	 */
	bool closed_by_peer;

	/* The rest is private. */
	struct stream stream;
	struct kafkalink_terms *terms;
	struct loop *loop;
	char *host;
	uint16_t port;
	bool was_open, served; /* was ever open; has answered since it opened */
	struct webtoken_wait *token_wait;
	struct credential credential; /* of the endpoint's identity, while opening */
	struct kafkasasl *sasl;
	struct salter_turn salting;    /* for sasl's SCRAM */
	int32_t correlation, answered; /* of the last frame sent; of the last answer */
	struct pool *pool;             /* for this broker alone */
	struct pool_slot *slot;        /* NULL while closed */
	struct loop_timer begin;       /* connects in a turn of its own */
};

struct kafkalink *kafkalink_new(struct kafkalink_terms *terms, const char *host, uint16_t port);
void kafkalink_free(struct kafkalink *l); /* requests end without callbacks; must not be called from one */

/*
 * answer: what follows the correlation id, borrowed; NULL with err. Called from the loop, exactly
 * once, never before kafkalink_ask has returned; may ask and cancel other requests.
 */
typedef void (*kafkalink_fn)(void *arg, struct wire *answer, const struct err *err);
/* Takes the frame's content. deadline_ms: loop clock. */
struct pool_call *kafkalink_ask(struct kafkalink *l, enum kafkamessages_api api, struct buf *frame, int64_t deadline_ms,
	kafkalink_fn fn, void *arg);

bool kafkalink_backs_off(const struct kafkalink *l); /* in back-off after a failed connection */
size_t kafkalink_waiting(const struct kafkalink *l); /* requests */
/* Closed, without requests and without callbacks due: it may be freed. */
bool kafkalink_is_unused(const struct kafkalink *l);
/* A request has waited so long that others should use another broker. */
bool kafkalink_is_slow(const struct kafkalink *l);
void kafkalink_close_idle(struct kafkalink *l); /* closes it at once, unless there are requests */

#endif
