/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDIS_H
#define NET_REDIS_REDIS_H

/*
 * Redis connections shared by everybody who asks the same server with the same credentials: one
 * connection per (address, database, credentials, TLS). Commands given in one loop turn leave in
 * one write (pipelined); answers come back in order. hiredis formats and parses (RESP2, with our
 * own reply objects under caps, net/redis/redisreply); the socket is a bufferevent, plain or TLS.
 *
 * A connection is made when first needed, closed after it was idle for 60 s, and made again with
 * back-off and jitter after failures (net/dial.h); commands given meanwhile wait for it, and past
 * their deadline fail with the last reason. A command that is cancelled or past its deadline leaves
 * its slot behind; when the head of the pipeline is overdue the connection is dropped and every
 * command on it fails. The number of commands waiting on one connection has a cap.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct redis_pool;
struct redis_endpoint; /* shared, counted */
struct redis_call;

struct redis_endpoint_config {
	const char *address; /* "host:port", "[v6]:port" or "/path/of/a/unix/socket" */
	int database;
	const char *username; /* NULL or "" for none */
	const char *password;
	bool tls;
	bool tls_insecure;
	const char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
	/*
	 * each connection first asks for the ROLE, and fails when it is a replica's (whoever may
	 * not ask gets no answer, which is fine)
	 */
	bool master_only;
};

/*
 * Checks the address, reads the PEMs, and makes the endpoint's key. ERR_INVALID names the field.
 * Does no network I/O. The caller owns one count.
 */
struct redis_endpoint *redis_endpoint_new(const struct redis_endpoint_config *config, struct err *err);
/* The same in all but the address: the other servers of a cluster. The PEMs are not read again. */
struct redis_endpoint *redis_endpoint_at(const struct redis_endpoint *like, const char *address, struct err *err);
struct redis_endpoint *redis_endpoint_ref(struct redis_endpoint *e);
void redis_endpoint_unref(struct redis_endpoint *e); /* NULL is fine; wipes credentials with the last count */
/* identity without secrets: address, database, TLS, fingerprint of the credentials */
const char *redis_endpoint_key(const struct redis_endpoint *e);
const char *redis_endpoint_server_key(const struct redis_endpoint *e); /* the same without the database */
const char *redis_endpoint_address(const struct redis_endpoint *e);    /* for messages */
int redis_endpoint_database(const struct redis_endpoint *e);

struct redis_pool *redis_pool_new(struct loop *loop);
void redis_pool_free(struct redis_pool *p); /* commands under way end without callbacks; safe from inside them */
size_t redis_pool_connections(const struct redis_pool *p); /* open or being opened */

enum redis_reply_type { REDIS_STATUS, REDIS_ERROR, REDIS_INTEGER, REDIS_NIL, REDIS_STRING, REDIS_ARRAY };
struct redis_reply {
	enum redis_reply_type type;
	int64_t integer;
	char *text; /* STATUS, ERROR, STRING; NUL-terminated, len bytes */
	size_t len;
	struct redis_reply **elements; /* ARRAY */
	size_t count;
};

void redis_reply_free(struct redis_reply *reply); /* NULL is fine */
/*
 * What the text of an error reply means for whoever asked: "NOPERM ..." is ERR_DENIED, "LOADING
 * ..." passes by itself; ERR_INVALID for what is no such word.
 */
enum err_kind redis_error_kind(const char *text);

/*
 * An error reply of the server is an answer (type REDIS_ERROR), not an err; err is for transport,
 * time-outs, authentication and malformed replies.
 */
typedef void (*redis_fn)(void *arg, const struct redis_reply *reply, const struct err *err);

/* Sends one command before deadline_ms (loop clock). Arguments are copied into the output. */
struct redis_call *redis_command(struct redis_pool *p, struct redis_endpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg);
/* the last connection failed just now: a command would wait a little for the next one */
bool redis_rests(const struct redis_pool *p, const struct redis_endpoint *e);
void redis_cancel(struct redis_call *call); /* no callback any more; NULL is fine */

#endif
