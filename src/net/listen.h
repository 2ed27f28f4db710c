/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

/*
 * Listening sockets for net/httpd/httpd, non-blocking. TCP ones have TCP_NODELAY, which accepted
 * connections inherit (without it each answer over TLS waits 40 ms). Access to a Unix socket is
 * guarded by the mode of its file.
 */

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * address: "" or NULL for all addresses, IPv6 and IPv4 on one port (IPv4 alone on hosts without
 * IPv6); otherwise an IP literal, IPv6 with or without brackets. Returns the socket, which the
 * caller owns, or -1.
 */
int listen_tcp(const char *address, uint16_t port, struct err *err);

/*
 * A stream socket at this path (at most 107 bytes), in an existing folder. Its file has mode 0600
 * from the start; with a group (name or number; NULL or "" for none) it is given to that group,
 * with mode 0660. The socket of a process that has ended is replaced. A path at which a process
 * answers, or that is not a socket, is an error and left alone. Returns the socket, which the
 * caller owns, or -1 with err, which names the path.
 */
int listen_unix(const char *path, const char *group, struct err *err);

/*
 * Removes the file of a Unix socket, unless another process listens there by now. Best effort: in
 * the sandbox the file stays, and the next process replaces it. Call it before closing the socket.
 */
void listen_unlink(int fd);

/* The port of a listening socket; 0 when it has none. */
uint16_t listen_port(int fd);

#endif
