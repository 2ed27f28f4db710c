/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPUMP_H
#define NET_PG_PGPUMP_H

/*
 * Relays data between libpq and a server during their connection. libpq reads as long as data
 * arrives, stores a whole row, even a gigabyte, before it returns it, and cannot be stopped. So its
 * connected socket is moved to another descriptor, and libpq gets, under the old number, one end of
 * a socket pair, into which we write pieces that it reads in one call, after net/pg/pgguard has
 * checked them. TLS ends here (net/pg/pgtls), so libpq's data is plain text that can be checked.
 * The pair is never watched: each side is read when the other has written.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/pg/pgendpoint.h"
#include "net/sign/salter.h"

struct pgpump;

struct pgpump_config {
	const struct pgendpoint *endpoint; /* borrowed, like host, for the pump's life */
	const struct pgendpoint_host *host;
	struct salter *salter;       /* for SCRAM logins; NULL: libpq does them */
	const char *password;        /* borrowed; NULL for none */
	struct scram_memory *memory; /* of the last SCRAM login; borrowed */
	const char *namespace_;      /* borrowed */
	bool tls;                    /* try TLS */
	bool listens;                /* net/pg/pgguard */
};

/* Called from the loop, never from inside a function of this file; each may free the pump. */
struct pgpump_handler {
	void (*ready)(void *arg);                        /* libpq may begin its login */
	void (*came)(void *arg);                         /* libpq can read bytes, or the end of its connection */
	void (*ended)(void *arg, const struct err *why); /* TLS failed, or a message of the server was refused */
};

/*
 * fd: libpq's socket, connected and unused; libpq keeps the number and closes it.
 *
 * fd must not have been watched since the loop waited last: libevent removes descriptors from epoll
 * only at its next wait, and epoll would report the moved socket under the old number for ever.
 */
struct pgpump *pgpump_new(struct loop *loop, int fd, const struct pgpump_config *config,
	const struct pgpump_handler *handler, void *arg, struct err *err);
bool pgpump_is_at(const struct pgpump *p, int fd); /* false: libpq has closed this socket and opened another */
void pgpump_free(struct pgpump *p);                /* sends Terminate and closes; NULL is fine */
void pgpump_send(struct pgpump *p);                /* call after each libpq function that may write */
void pgpump_opened(struct pgpump *p);              /* libpq's login is complete */
void pgpump_ask(struct pgpump *p);                 /* before libpq writes a statement, in pieces or at once */
void pgpump_asked(struct pgpump *p);               /* after that: the session's reset follows the statement */
bool pgpump_has_tls(const struct pgpump *p);       /* also during the handshake; NULL: false */
bool pgpump_is_shaking(const struct pgpump *p);
bool pgpump_is_refused(const struct pgpump *p); /* it ended due to a message of the server */
bool pgpump_complained(const struct pgpump *p); /* the server refused the login with a message; NULL: false */
bool pgpump_is_worn(const struct pgpump *p);    /* no further statement may be sent */
size_t pgpump_bytes(const struct pgpump *p);    /* received in the current state; NULL: 0 */

#endif
