/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKECLUSTER_H
#define TESTS_UNIT_FAKES_FAKECLUSTER_H

/*
 * A small API server at link level, in place of kube/client, kube/watch and kube/events: objects
 * with uids, resourceVersions, generations, finalizers, /status and /scale, tokens of service
 * accounts; lists and watches by label; conflicts; and the faults that a test asks for. A fake,
 * because what is tested is what happens when: answers that are lost, watches that lag, two writers
 * that meet. The real client is tried in tests/unit/kube and tests/live. Runs on
 * tests/unit/fakes/fakeloop. JSON in texts is written with ' for ".
 *
 *   fakecluster.c  the objects, and what users and controllers do to them
 *   fakelist.c     lists, by selector and in pages
 *   fakewatch.c    watches, with the lists that they begin with
 *   fakeapi.c      calls, their faults, and the Events that were sent
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"
#include "kube/events.h"

struct kube *fakecluster_start(struct loop *loop);
void fakecluster_end(void); /* fails when a call or a watch is left over */

/* ---- fakecluster.c: as others do it, behind our back; paths are those of objects ---- */

/* creates it; or replaces all but its status and what the server keeps */
void fakecluster_apply(const char *path, const char *text);
void fakecluster_change(const char *path, const char *text); /* a merge patch of any part, status too */
void fakecluster_delete(const char *path);                   /* with finalizers it only gets its deletionTimestamp */
void fakecluster_collect_garbage(void);                      /* removes what is controlled by an object that is gone */

void fakecluster_restored(uint64_t version); /* as an etcd from a backup: versions count on from here */

const json_t *fakecluster_get(const char *path);                   /* borrowed; NULL: none */
const json_t *fakecluster_at(const char *path, const char *field); /* "metadata.finalizers.0"; NULL when absent */
const char *fakecluster_text(const char *path, const char *field); /* "" when absent */
int64_t fakecluster_number(const char *path, const char *field);   /* -1 when absent */
unsigned fakecluster_count(const char *part);                      /* objects whose path contains it */

/* What the server says to a GET of this path, as it stands: discovery. NULL: nothing any more. */
void fakecluster_serve(const char *path, const char *text);
/* Where objects whose path contains `part` keep their replicas: spec.<field>. */
void fakecluster_replicas_in(const char *part, const char *field);

/*
 * Lists of an earlier resourceVersion show this object as it is now, changed so: as another CRD
 * serves it. Without this call they show nothing.
 */
void fakecluster_earlier(const char *path, const char *change);

/* What an admission plugin does to everything that is created or updated. */
void fakecluster_on_admission(void (*fn)(const char *path, json_t *object));
void fakecluster_on_status(void (*fn)(json_t *status)); /* what a CRD's schema does to a status that is written */

/* ---- fakewatch.c ---- */

/* A watch is named by its path and the name that its field selector asks for, or an asterisk. */

void fakecluster_watch_lag(int64_t ms);         /* from a change to its event; 2 at first: an answer comes 1 after it */
void fakecluster_hold_watches(bool hold);       /* no events while held; afterwards in order */
void fakecluster_page(int objects, int64_t ms); /* size of a list's pages and the time between two; 50, 1 at first */
void fakecluster_relist(const char *part);      /* 410 Gone to each watch whose name contains it */
/* its lists fail from now on, and its streams are cut; NULL message: heals, and lists anew */
void fakecluster_trouble(const char *part, enum err_kind kind, const char *message);
unsigned fakecluster_watches(const char *part); /* under way */

/* ---- fakeapi.c ---- */

#define FAKECLUSTER_ANY (-1)
enum fakecluster_fault {
	FAKECLUSTER_REFUSE, /* nothing done */
	FAKECLUSTER_HANG,   /* nothing done, no answer until the call's deadline */
	FAKECLUSTER_LOSE,   /* done, but no answer until the call's deadline */
	FAKECLUSTER_EMPTY,  /* done, and the answer has no body */
};
/*
 * The next `times` (or ANY) calls of this verb (or ANY) whose path (of lists with its query)
 * contains `part` fail so.
 */
void fakecluster_fail(enum fakecluster_fault fault, int verb, const char *part, int times, int http_status);
void fakecluster_heal(void);
/* Once, just before the next such call is carried out: another writer, who is faster. */
void fakecluster_just_before(int verb, const char *part, void (*fn)(void));
void fakecluster_answer_lag(int64_t ms); /* from carrying out to the answer; 1 at first */

/* The calls made so far. */
unsigned fakecluster_calls(int verb, const char *part);
unsigned fakecluster_writes(void); /* all but GET */
unsigned fakecluster_under_way(void);
const char *fakecluster_last_path(int verb, const char *part); /* with its query; "" when there was none */
const char *fakecluster_last_body(int verb, const char *part); /* "" when there was none */
enum kube_priority fakecluster_last_priority(void);            /* KUBE_PRIORITIES: there was none */
unsigned fakecluster_most_calls_per_turn(void);
void fakecluster_forget_calls(void);

/*
 * The Events sent so far: those with this reason (NULL: any) whose note contains `part`. A repeat
 * of the same is no new Event, but counted apart.
 */
struct events *fakecluster_events(void);
unsigned fakecluster_events_sent(const char *reason, const char *part);
unsigned fakecluster_events_repeated(const char *reason);

#endif
