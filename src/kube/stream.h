/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_STREAM_H
#define KUBE_STREAM_H

/*
 * Streaming GETs with the client's credentials: the transport of kube/watch. Streams use as many
 * links as needed, each a pool with one HTTP/2 connection and at most STREAM_LINK_MAX streams.
 * libcurl would open a connection per stream while the first is being established, so one stream of
 * a link starts first and the others wait until it is answered or fails. A stream without data for
 * silence_ms means a dead link: it fails, and later streams of the link use a new connection
 * (opened once, however many streams it carried).
 */

#include <stdint.h>

#include "kube/session.h"

#define STREAM_LINK_MAX 90 /* the API server allows 100 on a connection */

struct kube_stream;
struct stream_link;

struct streams {                   /* of one client */
	struct session *session;   /* borrowed */
	struct stream_link *links; /* created on demand */
};

/* path as in kube_request; events (on_data is needed) and arg as in httpc_start. */
struct kube_stream *kube_stream_start(struct streams *all, const char *path, int64_t silence_ms,
	const struct httpc_events *events, void *arg);
void kube_stream_cancel(struct kube_stream *s); /* no callback any more; safe from inside them; NULL is fine */

/* For kube/client: all links. */
/*
 * A call got no answer since that time (loop clock): tests the connections that carry streams, and
 * fails the streams of dead ones.
 */
void stream_doubt_links(struct streams *all, int64_t since_ms);
void stream_reset_links(struct streams *all); /* new streams use new connections */
void stream_free_links(struct streams *all);  /* and cancels their streams */

#endif
