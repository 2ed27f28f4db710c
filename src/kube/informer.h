/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_INFORMER_H
#define KUBE_INFORMER_H

/*
 * What everybody who watches does with a watch, once: it knows which list is being read and whether
 * one was read to its end, ignores objects that were not asked for, tells of a named object that a
 * whole list did not bring, and keeps why the watch does not work, in one text and one log line.
 *
 * It keeps no objects. Its user keeps what it wants of each, be it decoded, a few fields or a
 * count, and marks that with `list` when it is brought; what does not carry the number when
 * on_synced comes is gone. Objects are JSON, borrowed for the call: an informer knows no kinds and
 * writes nothing.
 *
 * It is a part of its user's struct, zeroed before the first start. The user reads its fields and
 * writes none. It owns the watch and the trouble, and borrows all texts until it is stopped.
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
	const char *name;           /* the only object that is looked at; NULL: all */
	int page;                   /* objects per chunk; 0: the watch's own */
	const char *subject;        /* "jobs", "configmap kube-system/x": for the log */
	const char *failing;        /* what its trouble begins with; NULL: "watching <subject>"; "": nothing */
	const char *grant;          /* what its trouble names when we may not: "grant list and watch on jobs" */
	bool quiet;                 /* its user logs troubles, or calls informer_log */
	bool managed_fields;        /* whole objects, with their managedFields (kube/objecttext.h) */
};

struct informer_events {            /* all but on_object and on_deleted may be NULL; it may be stopped in each */
	void (*on_list)(void *arg); /* a list begins: `list` is another number */
	void (*on_object)(void *arg, const json_t *object);        /* listed, added or changed */
	void (*on_deleted)(void *arg, const json_t *object);       /* NULL: a whole list did not bring the named one */
	void (*on_synced)(void *arg);                              /* a list was read to its end; not for a name */
	void (*on_trouble)(void *arg, const struct err *err);      /* `trouble` is another; err: the watch's own */
	bool (*on_text)(void *arg, const struct objecttext *text); /* kube/watch's; it may not be stopped in it */
};

struct informer {
	struct watch *watch; /* NULL: stopped */
	unsigned list;       /* number of the list that is being read, or was last; no two informers share one */
	bool listing;        /* a list is being read: it is true whatever was known before */
	bool synced;         /* a list was read to its end since the start */
	bool seen;           /* the named object is in this list */
	bool quiet;
	struct err *trouble; /* why the watch fails; NULL: it works, or nobody knows yet */
	const char *name, *subject, *failing, *grant;
	const struct informer_events *events;
	void *arg;
};

void informer_start(struct informer *i, struct kube *kube, const struct informer_config *config,
	const struct informer_events *events /* outlives */, void *arg);
void informer_stop(struct informer *i); /* no event comes any more; also from inside one, and twice */

/*
 * An event that tells of an older state than the known one (NULL: none): an answered write was
 * ahead.
 */
bool informer_is_old(const struct informer *i, const json_t *object, const char *known);

/*
 * How far it has come: the resourceVersion of the list, then of the last event; "" while a list is
 * read. Borrowed until the next event.
 */
const char *informer_version(const struct informer *i);

/* The text of the trouble; NULL: none. */
const char *informer_trouble(const struct informer *i);

/*
 * Somebody must grant something. Not of credentials that ran out: those come again by themselves.
 */
bool informer_is_denied(const struct err *err);

/* One line: it fails (err as in on_trouble), or works again (NULL). */
void informer_log(const struct informer *i, const struct err *err);

#endif
