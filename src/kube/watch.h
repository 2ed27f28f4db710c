/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_WATCH_H
#define KUBE_WATCH_H

/*
 * Lists, then watches a collection until stopped: lists in pages of `page` objects, uses bookmarks,
 * resumes from the last resourceVersion after a disconnect, lists again after 410 Gone, retries
 * with back-off and jitter, and reconnects when a link is silent too long. Stores no objects: each
 * is passed on as JSON.
 *
 * The receiver gets on_list (a full list starts), on_object for each object, on_synced (objects not
 * seen since on_list no longer exist), then on_object and on_deleted.
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
	 * Optional: the watch works again (err NULL) or fails. Called on each change and for each
	 * new reason, but not for each retry, nor for a disconnect if the next attempt succeeds,
	 * nor for a denial that may pass (kube/denial.h). ERR_MISSING: no such resource (CRD not
	 * installed).
	 */
	void (*on_trouble)(void *arg, const struct err *err);
	/*
	 * Optional: the text of an event before it is parsed; not with managed_fields. Returns true
	 * (only if it has a print) if the object is known already: then it is not passed on. The
	 * watch must not be stopped in it.
	 */
	bool (*on_text)(void *arg, const struct objecttext *text);
};

/* Stop it before its client is freed. */
struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg);
const char *watch_version(
	const struct watch *w);   /* how far it has come: the resourceVersion of the list, then of the last event;
				     borrowed until the next one; "" before the first list */
void watch_stop(struct watch *w); /* no more callbacks; safe from inside one; NULL is fine */

/*
 * The line splitter of the watch: splits a byte stream into JSON lines with a cap per line. Public
 * for tests and fuzzing.
 */
struct watch_lines;
typedef bool (*watch_line_fn)(void *arg, const char *line, size_t len);
struct watch_lines *watch_lines_new(size_t max_line);
void watch_lines_free(struct watch_lines *l);
/* false: a line was too long, or fn returned false */
bool watch_lines_feed(struct watch_lines *l, const char *bytes, size_t len, watch_line_fn fn, void *arg);

#endif
