/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

/*
 * A listening TCP socket for net/http/httpd: non-blocking, and TCP_NODELAY, which accepted
 * connections inherit (without it each answer over TLS waits 40 ms).
 */

#include <stdint.h>

#include "base/err.h"

/*
 * address: "" or NULL for all addresses, IPv6 and IPv4 on one port (IPv4 alone where there is no
 * IPv6); else an IP literal, v6 with or without brackets. The caller owns the socket; -1 on error.
 */
int listen_tcp(const char *address, uint16_t port, struct err *err);

/* The port that a listening socket has; 0 when it has none. */
uint16_t listen_port(int fd);

#endif
