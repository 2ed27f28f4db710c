/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DIAL_H
#define NET_DIAL_H

/*
 * Connects a stream socket: resolves the name, then tries its addresses in turn, each with an equal
 * share of the time left. The socket is non-blocking, with TCP_NODELAY, keepalive and
 * TCP_USER_TIMEOUT, so that a dead link is noticed. Connects only to addresses that net/sourcerules
 * allows. Knows no protocol above TCP.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/descriptors.h"
#include "net/loop.h"

/*
 * The back-off (loop_backoff_ms) before a failed server is dialled again for queries: at most about
 * a second. A query that comes meanwhile waits for that attempt instead of failing with an older
 * result, so that the first poll after the server's return succeeds.
 */
#define DIAL_AGAIN_FIRST_MS 100
#define DIAL_AGAIN_MAX_MS   1000

/*
 * The back-off for a subscription, for which no query waits, after this many failures; why: the
 * last one. Longer after a refused login, because repeated attempts lock accounts.
 */
int64_t dial_subscribe_ms(unsigned failures, enum err_kind why);

struct dial;

/* fd: connected, owned by the receiver; or -1 with err (ERR_TEMPORARY). */
typedef void (*dial_fn)(void *arg, int fd, const struct err *err);

/*
 * host: a name or an IP literal (IPv6 without brackets), or, with port 0, the path of a Unix
 * socket. Called back exactly once, never before this returns. hold: accounts for the socket
 * (net/descriptors); borrowed until the callback. On success it holds what it asked for, and the
 * receiver must give that back; after an error or dial_cancel it holds nothing.
 */
struct dial *dial_start(struct loop *loop, const char *host, uint16_t port, int64_t timeout_ms,
	struct descriptors_hold *hold, dial_fn fn, void *arg);
void dial_cancel(struct dial *d); /* no callback any more; NULL is fine */

/*
 * Sets socket options for connections to servers (libcurl's, too): a dead peer is noticed after
 * about dead_peer_ms (1 to 15 s; 0: 15 s), whether data is under way or not. No effect on sockets
 * other than TCP.
 */
void dial_tune_socket(int fd, int64_t dead_peer_ms);

#endif
