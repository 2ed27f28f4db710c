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
 * The back-off (loop_backoff_ms) before a server that failed is dialled again for queries: about
 * once a second. A query that comes meanwhile waits for that attempt instead of failing with an
 * older result, so that the first poll after a server has come back succeeds.
 */
#define DIAL_AGAIN_FIRST_MS 100
#define DIAL_AGAIN_MAX_MS   1000

/*
 * The same for a subscription, for which no query waits, after so many failures, of which `why` is
 * the last. A login that was refused is not tried again and again: accounts are locked for that.
 */
int64_t dial_subscribe_ms(unsigned failures, enum err_kind why);

struct dial;

/* fd: connected, owned by the receiver; or -1 with err (ERR_TEMPORARY). */
typedef void (*dial_fn)(void *arg, int fd, const struct err *err);

/*
 * host: a name or an IP literal (IPv6 without brackets), or, with port 0, the path of a Unix
 * socket. Called back exactly once, never before this returns. hold: accounts for the socket
 * (net/descriptors); borrowed until the callback. With a socket it holds what it asked for, and the
 * receiver gives that back; after an error or dial_cancel it holds nothing.
 */
struct dial *dial_start(struct loop *loop, const char *host, uint16_t port, int64_t timeout_ms,
	struct descriptors_hold *hold, dial_fn fn, void *arg);
void dial_cancel(struct dial *d); /* no callback any more; NULL is fine */

/*
 * Socket options for connections to servers (libcurl's, too): a dead peer is noticed after about
 * dead_peer_ms, 1 to 15 s, whether data is under way or not; 0: 15 s. No effect on sockets that are
 * not TCP.
 */
void dial_tune_socket(int fd, int64_t dead_peer_ms);

#endif
