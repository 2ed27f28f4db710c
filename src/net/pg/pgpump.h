/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPUMP_H
#define NET_PG_PGPUMP_H

/*
 * What stands between libpq and a server as long as their connection lives. libpq reads as long as
 * data comes, stores a whole row, even a gigabyte, before it returns it, and cannot be told to
 * stop. So its socket is moved to another descriptor once it is connected, and libpq gets, under
 * the old number, one end of a socket pair, which is fed from here in pieces that it reads in one
 * call, after net/pg/pgguard has judged them. TLS ends here (net/pg/pgtls): libpq speaks in the
 * clear, so all that it is sent is seen. The pair is never watched: each side is read when the
 * other has written.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/pg/pgendpoint.h"
#include "net/sign/salter.h"

struct pgpump;

struct pgpump_config {
	const struct pgendpoint *endpoint; /* borrowed, with host, as long as the pump lives */
	const struct pgendpoint_host *host;
	struct salter *salter;       /* for logins by SCRAM; NULL: libpq has them */
	const char *password;        /* borrowed; NULL for none */
	struct scram_memory *memory; /* of its last login by SCRAM; borrowed */
	const char *namespace_;      /* borrowed */
	bool tls;                    /* is tried */
	bool listens;                /* net/pg/pgguard */
};

/* Called from the loop, never from inside a function of this file; each may free the pump. */
struct pgpump_handler {
	void (*ready)(void *arg);                        /* libpq may begin its login */
	void (*came)(void *arg);                         /* libpq has bytes to read, or the end of its connection */
	void (*ended)(void *arg, const struct err *why); /* TLS failed, or the server said what libpq must not see */
};

/*
 * fd: libpq's socket, connected and unused; the number stays libpq's, which closes it.
 *
 * libevent tells epoll only at its next wait that a descriptor is not watched any more, and epoll
 * keeps watching a socket that lives on under another number, and would report it under the old one
 * for ever. So fd may be given only if it was not watched since the loop waited last.
 */
struct pgpump *pgpump_new(struct loop *loop, int fd, const struct pgpump_config *config,
	const struct pgpump_handler *handler, void *arg, struct err *err);
bool pgpump_is_at(const struct pgpump *p, int fd); /* false: libpq has closed this socket and opened another */
void pgpump_free(struct pgpump *p);                /* takes leave of the server, and closes; NULL is fine */
void pgpump_send(struct pgpump *p);          /* what libpq has written; after each of its functions that may write */
void pgpump_opened(struct pgpump *p);        /* libpq's login is complete */
void pgpump_ask(struct pgpump *p);           /* before libpq writes a statement, in pieces or at once */
void pgpump_asked(struct pgpump *p);         /* it is written: the session's reset goes behind it */
bool pgpump_has_tls(const struct pgpump *p); /* or its handshake is under way; of NULL, too */
bool pgpump_is_shaking(const struct pgpump *p);
bool pgpump_is_refused(const struct pgpump *p); /* it was ended for what the server said */
bool pgpump_complained(const struct pgpump *p); /* the server refused the login in its own words; of NULL, too */
bool pgpump_is_worn(const struct pgpump *p);    /* no further statement may be sent */
size_t pgpump_bytes(const struct pgpump *p);    /* from the server, of what is under way; 0 for NULL */

#endif
