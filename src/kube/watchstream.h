/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_WATCHSTREAM_H
#define KUBE_WATCHSTREAM_H

/*
 * Streaming GETs with the client's credentials: the transport of kube/watch. Streams use as many
 * links as needed, each a pool with one HTTP/2 connection and at most WATCHSTREAM_LINK_MAX streams.
 * libcurl would open a connection per stream while the first is being established, so one stream of
 * a link starts first and the others wait until it is answered or fails. A stream without data for
 * silence_ms means a dead link: it fails, and later streams of the link use a new connection
 * (opened once, however many streams it carried).
 */

#include <stdint.h>

#include "kube/session.h"

#define WATCHSTREAM_LINK_MAX 90 /* the API server allows 100 on a connection */

struct watchstream;
struct watchstream_link;

struct watchstreams {                   /* of one client */
	struct session *session;        /* borrowed */
	struct watchstream_link *links; /* created on demand */
};

/* path as in kube_request; events (on_data is needed) and arg as in httpc_start. */
struct watchstream *watchstream_start(struct watchstreams *all, const char *path, int64_t silence_ms,
	const struct httpc_events *events, void *arg);
void watchstream_cancel(struct watchstream *s); /* no callback any more; safe from inside them; NULL is fine */

/* ---- For kube/client: all links ---- */

/*
 * A call got no answer since that time (loop clock): tests the connections that carry streams, and
 * fails the streams of dead ones.
 */
void watchstream_check_links(struct watchstreams *all, int64_t since_ms);
void watchstream_reset_links(struct watchstreams *all); /* new streams use new connections */
void watchstream_free_links(struct watchstreams *all);  /* and cancels their streams */

#endif
