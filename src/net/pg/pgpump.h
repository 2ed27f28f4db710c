/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGPUMP_H
#define NET_PG_PGPUMP_H

/*
 * Puts itself into an open connection of libpq and counts what comes from the server. libpq reads
 * as long as something comes and keeps a whole row, be it a gigabyte, without telling before; and
 * it has no way to say when to stop. Before it has let us in, a server may send as much as it
 * likes, too. So the socket is moved to another descriptor, and in its place, under the old number,
 * libpq gets one end of a pair of sockets that is fed here, bit by bit. TLS passes through unread.
 * Of a login that it must not try (net/pg/pglogin) libpq sees the end of the connection, no more.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"

struct pgpump;

/*
 * fd: libpq's socket; its number stays libpq's, which closes it. login: libpq has not been let in,
 * and nothing was said on this socket yet. The loop tells epoll that a number
 * is not watched any more only when it waits again, and epoll, which knows sockets by number, keeps
 * one that lives on under another: it would tell of it under the old number for ever. So sockets
 * change their numbers here only when nobody has watched them since the loop waited last: fd in
 * pgpump_new and pgpump_leave, and our own after pgpump_rest.
 */
struct pgpump *pgpump_new(struct loop *loop, int fd, bool login, struct err *err);
void pgpump_free(struct pgpump *p);                /* closes the connection to the server; NULL is fine */
bool pgpump_is_at(const struct pgpump *p, int fd); /* false: libpq has closed that socket and opened another */
void pgpump_rest(struct pgpump *p);                /* nothing moves until pgpump_leave */
/* Gives libpq its socket back, if nothing is on its way: true, and p is freed. Else it goes on. */
bool pgpump_leave(struct pgpump *p, int fd);
void pgpump_restart(struct pgpump *p);       /* counts from 0 again; NULL is fine */
size_t pgpump_bytes(const struct pgpump *p); /* from the server since then; 0 for NULL */
/* The login that the server asked for, which ended it: "GSSAPI" or "SSPI". NULL: none, no pump. */
const char *pgpump_refused(const struct pgpump *p);

#endif
