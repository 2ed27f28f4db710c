/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLIO_H
#define NET_MYSQL_MYSQLIO_H

/*
 * Runs the MariaDB connector on our loop, which continues while the connector waits.
 *
 * The connector's own non-blocking interface (mysql_..._start, mysql_..._cont) does not fit: it
 * resolves names by getaddrinfo, waits for the whole TLS handshake in poll(2) or a blocking read
 * (ma_tls_connect), and verifies the certificate for the host that it connects to. So its ordinary
 * calls run in a coroutine (net/mysql/coroutine), with our I/O plugin, through which it reads,
 * writes and waits: the socket comes from net/dial, and each wait, the handshake's too, is an event
 * of the loop.
 *
 * An "operation" (a function that calls the connector) can be aborted at any time: its current wait
 * fails, and the connector frees what it holds in its usual way, without waiting. Received bytes
 * and TLS messages are counted, and an operation that receives too many is aborted. The number of
 * reads per turn of the loop is limited.
 */

#include <mysql.h>
#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"
#include "net/tls/tls.h"

struct mysqlio;
typedef void (*mysqlio_fn)(void *arg);

/*
 * Whether the connector's TLS is OpenSSL's. Then a connection is verified with the shared roots of
 * net/tls/tls where it has no CA of its own, and its limits hold for TLS, too.
 */
bool mysqlio_has_openssl(void);

/*
 * namespace_: to which received bytes are charged (net/answers); borrowed for its life. fd: the
 * socket, owned from now on, which the next mysql_real_connect within an operation uses, whatever
 * its host argument.
 */
struct mysqlio *mysqlio_new(struct loop *loop, const char *namespace_, int fd);
/*
 * No operation may be in progress (mysqlio_break). Closes the socket if the connector has not. NULL
 * is fine.
 */
void mysqlio_free(struct mysqlio *io);

/*
 * Runs operation(arg), which may call the connector, then calls ended(arg), not before this
 * returns. max_bytes: the most that it may receive.
 */
void mysqlio_run(struct mysqlio *io, size_t max_bytes, mysqlio_fn operation, mysqlio_fn ended, void *arg);
/*
 * Aborts the operation, if there is one, before this returns; ended is not called.
 */
void mysqlio_break(struct mysqlio *io);

/*
 * Within an operation: opens the connection. host: the name to verify. tls: only the request for
 * TLS is sent unencrypted; nothing is sent to a server without TLS. roots: trusted CAs, instead of
 * the connector's (mysqlio_has_openssl); a reference is taken for the handshake; NULL: the
 * system's. 0, or -1 with the connector's error in mysql.
 */
int mysqlio_connect(struct mysqlio *io, MYSQL *mysql, const char *host, const char *user, const char *password,
	const char *database, unsigned port, const char *unix_socket, unsigned long flags, bool tls, X509_STORE *roots);

/*
 * Between operations: calls lost(arg) when the server sends data or closes the connection. NULL
 * ends that; so does mysqlio_run.
 */
void mysqlio_watch(struct mysqlio *io, mysqlio_fn lost, void *arg);

/* Failures that the connector does not explain. */
struct mysqlio_faults {
	bool too_much;       /* the last operation received more than max_bytes */
	bool tls_flood;      /* it received too many TLS messages */
	bool refused_plain;  /* mysqlio_connect: the server has no TLS */
	bool bad_greeting;   /* the first packet was no greeting and no error; the connector does not get it */
	struct err *crowded; /* owned; the namespace's share of bytes is used up (net/answers); NULL */
};
const struct mysqlio_faults *mysqlio_faults(const struct mysqlio *io);

#endif
