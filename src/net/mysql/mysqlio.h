/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLIO_H
#define NET_MYSQL_MYSQLIO_H

/*
 * The MariaDB connector on our loop: where it waits for the server, the loop goes on.
 *
 * The connector has a non-blocking interface of its own (mysql_..._start, mysql_..._cont), which
 * does not hold what it promises where it matters here: it resolves names by getaddrinfo, waits for
 * the whole TLS handshake in poll(2) or a blocking read (ma_tls_connect), and has the host that is
 * connected to be the one that the certificate must name. So its ordinary calls run in a co-routine
 * (net/mysql/coroutine), and its I/O plugin, the interface at which it reads, writes and waits, is
 * ours: the socket comes from net/dial, and every wait, those of the handshake among them, is an
 * event of the loop.
 *
 * What runs (an "operation": a function that calls the connector) can be broken off at any time:
 * whatever it waits for then fails, and the connector gives back what it holds in its own way,
 * without waiting. All bytes that come in are counted, and an operation that gets too many is
 * broken off, so that no answer grows without bounds.
 */

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

struct mysqlio;
typedef void (*mysqlio_fn)(void *arg);

/*
 * namespace_: who answers for what it reads (net/answers); borrowed for its life. fd: the socket,
 * owned from now on, which the next mysql_real_connect within an operation takes, whatever host it
 * is told.
 */
struct mysqlio *mysqlio_new(struct loop *loop, const char *namespace_, int fd);
/*
 * no operation under way (mysqlio_break); closes the socket if the connector has not; NULL is fine
 */
void mysqlio_free(struct mysqlio *io);

/*
 * Runs operation(arg), which may call the connector, until it has ended; then ended(arg), not
 * before this returns. max_bytes: how much it may read.
 */
void mysqlio_run(struct mysqlio *io, size_t max_bytes, mysqlio_fn operation, mysqlio_fn ended, void *arg);
/*
 * The operation ends now, before this returns; ended is not called. Does nothing when none is under
 * way.
 */
void mysqlio_break(struct mysqlio *io);

/*
 * Within an operation: opens the connection. `host` is whose name is verified. tls: nothing is
 * written in the clear but what asks for TLS; a server that has none is told nothing. 0, or -1 with
 * the connector's error in mysql.
 */
int mysqlio_connect(struct mysqlio *io, MYSQL *mysql, const char *host, const char *user, const char *password,
	const char *database, unsigned port, const char *unix_socket, unsigned long flags, bool tls);

/*
 * Between operations: calls lost(arg) when the server says or closes something that nobody asked
 * for. NULL ends that; so does mysqlio_run.
 */
void mysqlio_watch(struct mysqlio *io, mysqlio_fn lost, void *arg);

bool mysqlio_too_much(const struct mysqlio *io); /* the last operation got more than it may */
/* Why less than that is too much at the moment; NULL: it is not. */
const struct err *mysqlio_crowded(const struct mysqlio *io);
bool mysqlio_refused_plain(const struct mysqlio *io); /* its tls stopped mysqlio_connect */
/* The server began with what the connector must not see: no greeting, and no reason why not. */
bool mysqlio_greeted_badly(const struct mysqlio *io);

#endif
