/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_INFORMER_H
#define KUBE_INFORMER_H

/*
 * Common logic of all users of watches: tracks whether a list is being read and whether one was
 * complete, filters objects that were not requested, reports a named object that is missing from a
 * complete list, and keeps the watch's error as one text and one log line.
 *
 * It stores no objects. Its user stores what it needs of each (decoded, some fields, a count) and
 * marks it with the number `list` on arrival; objects without that number at on_synced no longer
 * exist. Objects are JSON, borrowed for the call.
 *
 * It is embedded in its user's struct and zeroed before the first start. The user may read its
 * fields but not write them. It owns the watch and the error, and borrows all texts until it is
 * stopped.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "kube/client.h"
#include "kube/watch.h"

struct informer_config {
	const char *path;           /* of the collection */
	const char *label_selector; /* NULL: all */
	const char *field_selector; /* NULL: all; not together with a name */
	const char *name;           /* only this object; NULL: all */
	int page;                   /* objects per chunk; 0: the watch's own */
	const char *subject;        /* "jobs", "configmap kube-system/x": for the log */
	const char *failing;        /* prefix of its error; NULL: "watching <subject>"; "": none */
	const char *grant;          /* named in its error if access is denied: "grant list and watch on jobs" */
	bool quiet;                 /* its user logs errors, or calls informer_log */
	bool managed_fields;        /* whole objects, with their managedFields (kube/objecttext.h) */
};

struct informer_events {            /* all but on_object and on_deleted are optional; each may stop the informer */
	void (*on_list)(void *arg); /* a list begins; `list` has changed */
	void (*on_object)(void *arg, const json_t *object);  /* listed, added or changed */
	void (*on_deleted)(void *arg, const json_t *object); /* NULL: a complete list lacks the named object */
	void (*on_synced)(void *arg);                        /* a list is complete; not when name is set */
	/* `trouble` has changed; err: the watch's own error */
	void (*on_trouble)(void *arg, const struct err *err);
	bool (*on_text)(void *arg, const struct objecttext *text); /* kube/watch's; must not stop the informer */
};

struct informer {
	struct watch *watch; /* NULL: stopped */
	unsigned list;       /* number of the current or last list; unique among all informers */
	bool listing;        /* a list is being read; it overrides what was known */
	bool synced;         /* a list was complete since the start */
	bool seen;           /* the named object is in this list */
	bool quiet;
	struct err *trouble; /* why the watch fails; NULL: it works, or not known yet */
	const char *name, *subject, *failing, *grant;
	const struct informer_events *events;
	void *arg;
};

void informer_start(struct informer *i, struct kube *kube, const struct informer_config *config,
	const struct informer_events *events /* outlives */, void *arg);
void informer_stop(struct informer *i); /* no more events; may be called from inside one, and twice */

/*
 * Whether an event's object is older than the known version (NULL: none), because the answer to a
 * write came first.
 */
bool informer_is_old(const struct informer *i, const json_t *object, const char *known);

/*
 * Its position: the resourceVersion of the list, then of the last event; "" while a list is read.
 * Borrowed until the next event.
 */
const char *informer_version(const struct informer *i);

/* The text of the error; NULL: none. */
const char *informer_trouble(const struct informer *i);

/* Whether a permission is missing. False for expired credentials, which recover by themselves. */
bool informer_is_denied(const struct err *err);

/* Logs that the watch fails (err as in on_trouble), or works again (NULL). */
void informer_log(const struct informer *i, const struct err *err);

#endif
