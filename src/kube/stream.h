/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_STREAM_H
#define KUBE_STREAM_H

/*
 * A streaming GET on the client's watch pool, with the client's credentials: the transport under kube/watch. A stream that says nothing for longer than
 * silence_ms is taken for a dead link: it fails, and the next streams are dialled anew (once per link, however many streams it carried).
 */

#include <stdint.h>

#include "kube/client.h"

struct kube_stream;

/* path as in kube_request; events and arg as in httpc_start. */
struct kube_stream *kube_stream_start(struct kube *k, const char *path, int64_t silence_ms, const struct httpc_events *events, void *arg);
void kube_stream_cancel(struct kube_stream *s); /* no callback any more; safe from inside them; NULL is fine */

#endif
