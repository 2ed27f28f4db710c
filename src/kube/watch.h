/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_WATCH_H
#define KUBE_WATCH_H

/*
 * List, then watch, for ever: chunks of `page` objects, bookmarks, resume from the last
 * resourceVersion after a cut, a new list after 410 Gone, back-off with jitter after failures, and
 * a re-dial when a link stays silent too long. Keeps no objects: each one is handed on as JSON
 * while it is parsed.
 *
 * The receiver sees: on_list (a full list starts), on_object for each, on_synced (what was not seen
 * since on_list is gone), then on_object and on_deleted.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "kube/client.h"
#include "kube/objecttext.h"

struct watch;

struct watch_config {
	const char *path;           /* collection, e.g. "/apis/keda.sh/v1alpha1/scaledobjects" or
				       ".../namespaces/x/scaledobjects"; copied */
	const char *label_selector; /* NULL: all; not encoded; copied */
	const char *field_selector; /* "metadata.name=x"; copied */
	int page;                   /* objects per chunk; 0: 50 */
	const char *subject;        /* for the log: "scaledobjects"; copied */
	bool managed_fields;        /* whole objects, with their managedFields (kube/objecttext.h) */
};

struct watch_events {
	void (*on_list)(void *arg);
	void (*on_object)(void *arg, const json_t *object);  /* added or changed; borrowed for the call */
	void (*on_deleted)(void *arg, const json_t *object); /* its last state */
	void (*on_synced)(void *arg);
	/*
	 * Optional: the watch works again (err NULL) or fails (called on each change and with each
	 * new reason, not on each retry, nor when a stream is cut and goes on at the next try).
	 * ERR_MISSING: no such resource (CRD not installed).
	 */
	void (*on_trouble)(void *arg, const struct err *err);
	/*
	 * Optional: the text of an event, before it is parsed; not with managed_fields. true, where
	 * it has a print: the receiver knows the object so already, it is not handed on. The watch
	 * may not be stopped in it.
	 */
	bool (*on_text)(void *arg, const struct objecttext *text);
};

/* Stop it before its client is freed. */
struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg);
const char *watch_version(
	const struct watch *w);   /* how far it has come: the resourceVersion of the list, then of the last event;
				     borrowed until the next one; "" before the first list */
void watch_stop(struct watch *w); /* no callbacks any more; safe from inside them; NULL is fine */

/*
 * The line splitter under the watch: cuts a byte stream into JSON lines with a cap per line. Open
 * for tests and fuzzing.
 */
struct watch_lines;
typedef bool (*watch_line_fn)(void *arg, const char *line, size_t len);
struct watch_lines *watch_lines_new(size_t max_line);
void watch_lines_free(struct watch_lines *l);
/* false: a line was too long, or fn said so */
bool watch_lines_feed(struct watch_lines *l, const char *bytes, size_t len, watch_line_fn fn, void *arg);

#endif
