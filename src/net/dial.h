/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DIAL_H
#define NET_DIAL_H

/*
 * Connects a stream socket: looks the name up, then tries its addresses one after the other, each
 * with its share of the time left. The socket that comes out is non-blocking, TCP_NODELAY, with
 * keepalive and TCP_USER_TIMEOUT, so that a half-open link is noticed. Connects only where a
 * trigger's server may be (net/sourcerules). Knows nothing of what is spoken on it.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/descriptors.h"
#include "net/loop.h"

/*
 * How soon a server that failed is dialled again (loop_backoff_ms), by all who ask questions: about
 * once a second. Whoever asks meanwhile waits for that dial instead of failing with what was so
 * before: what he is told was found out after he asked, and so the first poll after a server is
 * back succeeds. (Subscriptions, for which nobody waits, may take longer.)
 */
#define DIAL_AGAIN_FIRST_MS 100
#define DIAL_AGAIN_MAX_MS   1000

struct dial;

/* fd: connected, the receiver owns it; or -1 with err (temporary). */
typedef void (*dial_fn)(void *arg, int fd, const struct err *err);

/*
 * host: a name or an IP literal (v6 without brackets), or, with port 0, the path of a Unix socket.
 * Called back exactly once, never before this returns. hold: who answers for the socket
 * (net/descriptors), borrowed until the callback. With a socket it has what it wants, and the
 * receiver gives it back; with an error, or after dial_cancel, it has nothing.
 */
struct dial *dial_start(struct loop *loop, const char *host, uint16_t port, int64_t timeout_ms,
	struct descriptors_hold *hold, dial_fn fn, void *arg);
void dial_cancel(struct dial *d); /* no callback any more; NULL is fine */

/*
 * Options for a stream socket to a server (also libcurl's): notice a dead peer after about 15 s,
 * with and without data under way. Does nothing to other sockets.
 */
void dial_tune_socket(int fd);

#endif
