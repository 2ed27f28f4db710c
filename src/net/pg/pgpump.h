/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPUMP_H
#define NET_PG_PGPUMP_H

/*
 * A proxy inside an open libpq connection that counts the bytes from the server. libpq reads as
 * long as data comes, stores a whole row, even a gigabyte, before it returns it, and cannot be told
 * to stop; before the login, too, a server may send any amount. So the socket is moved to another
 * descriptor, and libpq gets, under the old number, one end of a socket pair that is fed from here
 * in small parts. TLS passes through unread. At a request for a login that libpq must not see
 * (net/pg/pglogin) it sees the end of the connection.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"

struct pgpump;

/*
 * fd: libpq's socket; the number stays libpq's, which closes it. login: the login is not complete,
 * and nothing was sent on the socket yet.
 *
 * libevent tells epoll only at its next wait that a descriptor is not watched any more, and epoll
 * keeps watching a socket that lives on under another number, and would report it under the old one
 * for ever. So a socket may change its number here only if it was not watched since the loop waited
 * last: fd in pgpump_new and pgpump_leave, and our own socket after pgpump_rest.
 */
struct pgpump *pgpump_new(struct loop *loop, int fd, bool login, struct err *err);
void pgpump_free(struct pgpump *p);                /* closes the connection to the server; NULL is fine */
bool pgpump_is_at(const struct pgpump *p, int fd); /* false: libpq has closed this socket and opened another */
void pgpump_rest(struct pgpump *p);                /* no data moves until pgpump_leave */
/*
 * Gives libpq its socket back if no data is in between: true, and p is freed. Else the pump goes
 * on.
 */
bool pgpump_leave(struct pgpump *p, int fd);
void pgpump_restart(struct pgpump *p);       /* counts from 0 again; NULL is fine */
size_t pgpump_bytes(const struct pgpump *p); /* bytes from the server since then; 0 for NULL */
/*
 * The login that the server asked for, so that the connection was ended: "GSSAPI" or "SSPI". NULL:
 * none, or p is NULL.
 */
const char *pgpump_refused(const struct pgpump *p);

#endif
