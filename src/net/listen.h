/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

/*
 * Listening sockets for net/http/httpd, non-blocking: over TCP, with TCP_NODELAY, which accepted
 * connections inherit (without it each answer over TLS waits 40 ms); or a Unix socket, which the
 * file's mode guards.
 */

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * address: "" or NULL for all addresses, IPv6 and IPv4 on one port (IPv4 alone where there is no
 * IPv6); else an IP literal, v6 with or without brackets. The caller owns the socket; -1 on error.
 */
int listen_tcp(const char *address, uint16_t port, struct err *err);

/*
 * A stream socket at this path, at most 107 bytes, in a folder that is there. Its file's mode is
 * 0600, never more in between; with a group (a name or a number; NULL or "": none) it is that
 * group's, with 0660. The socket of a process that is gone is replaced; a path where somebody
 * answers, or that is anything else, is an error, and left as it is. The caller owns the socket; -1
 * on error, which names the path.
 */
int listen_unix(const char *path, const char *group, struct err *err);

/*
 * Removes the file of such a socket, if it is still there and nobody else's by now; best effort: in
 * the sandbox it stays, and the next process replaces it. Before the socket is closed.
 */
void listen_unlink(int fd);

/* The port that a listening socket has; 0 when it has none. */
uint16_t listen_port(int fd);

#endif
