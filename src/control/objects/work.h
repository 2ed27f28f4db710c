/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_WORK_H
#define CONTROL_OBJECTS_WORK_H

/*
 * The state of one ScaledObject or ScaledJob while we lead. Each module has its own part of it;
 * others may only read that. Private to control/. Created when the store first shows the object,
 * freed at the end of the turn in which it is deleted. What differs between the two kinds is a
 * table of functions (struct work_kind).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fairqueue.h"
#include "cache/cache.h"
#include "cache/survey.h"
#include "crd/scaled.h"
#include "decide/annotations.h"
#include "decide/readiness.h"
#include "kube/client.h"
#include "kube/events.h"
#include "net/loop.h"

struct job_parts;
struct readiness_told;
struct work;
struct write;

/* The functions of a kind, called with an object of that kind. */
struct work_kind {
	void (*note)(struct work *work); /* it was created, changed or deleted */
	/* true: the first reconcile must wait, because its target is being read. NULL: never */
	bool (*awaits)(struct work *work);
	/* starts the first write that is missing; the object is in the store, no write under way */
	void (*reconcile)(struct work *work);
	/*
	 * true: something must be read before the triggers are asked; polling_prepared() is called
	 * when it is there. NULL: never
	 */
	bool (*prepare)(struct work *work);
	void (*unprepare)(struct work *work); /* cancels that */
	/* acts on the answers of the triggers */
	void (*decide)(struct work *work, const struct survey_result *result);
	void (*stop)(struct work *work); /* cancels all that the kind has under way */
};

struct control {
	struct cache *cache;
	struct kube *kube;
	struct events *events;
	int64_t query_deadline_ms, wake_interval_ms; /* like version: see control_config */
	const char *version;
	bool leading;
	struct work *all;            /* linked by their prev and next */
	struct loop_task turn;       /* reconciles dirty objects at the end of the turn */
	struct loop_timer next_turn; /* for those beyond the limits of one turn */
	struct loop_timer settle;    /* after such a flood: gives memory back to the system */
	struct fairqueue dirty;      /* objects to reconcile: namespaces take turns */
	size_t dirty_count;
	bool times_pruned;                              /* the installed CRD drops the conditions' times */
	struct counters_family *errors[SCALED_JOB + 1]; /* by enum scaled_kind */
	struct counters_family *scalings, *loop_latency, *queued, *reconciles, *jobs_created, *job_failures;
	struct work *making;   /* jobmaker.c: objects with waiting creates, served in turn */
	size_t creates;        /* under way */
	size_t create_bytes;   /* of their bodies */
	struct work *sweeping; /* jobsweeper.c: the same for deletes */
	size_t deletes;
};

/* control/objects/write.c: the one write under way, and the next reconcile. */
struct write_part {
	struct kube_call *call;
	struct write *context;   /* of the call; owned */
	struct loop_timer again; /* leads to a reconcile */
	int64_t retry_at_ms;     /* loop clock: the end of the back-off */
	unsigned failures;       /* in a row */
	struct err *err;         /* of the last write, until one succeeds; owned; NULL */
};

/* control/objects/reconcile.c, control/jobs/jobreconcile.c: what the last reconcile saw. */
struct reconcile_part {
	int64_t seen_generation;
	struct annotations seen; /* of a ScaledJob: only `paused` */
};

/* control/objects/hpakeeper.c */
struct hpakeeper_part {
	struct hpa_part {
		uint64_t wanted;  /* fingerprint of what was written last */
		uint64_t keys;    /* of the labels and annotations wanted last; 0: none yet */
		bool stale;       /* it may have labels or annotations that are no longer wanted */
		uint64_t came;    /* of the API server's result (hpaspec_print); 0: nothing yet */
		bool over_others; /* the write under way replaces an existing HPA */
		unsigned writes;  /* such writes in a row */
		int64_t again_ms; /* loop clock: not written before */
	} hpa;
	json_t *desired; /* the HPA being written; owned */
	/* name and uid of the HPA that is, or was, being deleted, and that step's text; owned */
	char *removing, *removing_uid, *removing_step;
};

/* control/objects/finalise.c */
struct finalise_part {
	bool deleting; /* finalise_must_wait was called */
	bool restored; /* the original replicas are restored, or will not be */
	unsigned restore_failures;
};

/* control/objects/recorder.c: what was reported. Texts are owned; NULL: nothing. */
struct recorder_part {
	char *said_error;              /* the last Event ScaledObjectCheckFailed */
	char *said_rival;              /* the last Event about an HPA of others */
	char *said_push;               /* the last Event about push */
	int64_t push_settled_until_ms; /* loop clock: push is not checked before */
	bool said_gone;
};

/* control/objects/pause.c: while the object is paused. */
struct pause_part {
	int64_t write_at_ms; /* loop clock: the target is not set back before */
	unsigned writes;     /* in a row; 0 after a quiet time */
	int32_t from, to;    /* of the write under way */
	char *why;           /* scale_explain's text about it; owned */
};

/* control/objects/rivals.c: the target and the HPA that the object claims. */
struct rivals_part {
	bool noted;
	bool at_work; /* it has an HPA, which decides between two of equal age */
	uint64_t target, hpa;
};

/* control/objects/status.c: the one writer of .status. */
struct status_part {
	bool known; /* wanted was copied from the stored one */
	struct scaledobject_status wanted;
	struct kube_call *call;
	struct loop_timer again; /* back-off after a failure, or the wait for the first tick */
	unsigned failures;
	bool said_failure; /* by an Event, since the last successful write */
	uint64_t futile;   /* fingerprint of a patch that the server accepted but did not store; not sent again */
	uint64_t sent;     /* of the patch under way */
};

/*
 * control/objects/polling.c: when the triggers are asked; control/objects/scaleloop.c,
 * control/jobs/jobloop.c: the reactions.
 */
struct loop_part {
	bool running;
	struct survey *survey; /* the look under way */
	bool unwatched;        /* no trigger can be built: it runs for what needs none (polling_keep) */
	bool preparing;        /* its kind's prepare() is under way; the survey follows */
	bool owed;             /* a poll is due, by time or because the object changed; the next look is that poll */
	bool timed;            /* the look under way is a poll: its failures count, and useCachedMetrics applies */
	int32_t interval_s;    /* the timer's, from the spec when the loop started */
	int64_t due_ms;        /* loop clock: the next poll */
	struct loop_timer timer;
	int64_t last_active_unix_ms;
	struct readiness readiness; /* what Ready says about failures */
	struct readiness_told
		*told; /* what was logged about them, by trigger, the formula last; owned; NULL: nothing yet */
	size_t told_count;
	bool was_failing;       /* in the log */
	bool again;             /* the timer fired during a look: another one follows */
	bool woken;             /* a source asked for a look, which has not begun */
	uint64_t woken_after;   /* readings_mark of its last request */
	int64_t looked_at_ms;   /* loop clock: start of the last look */
	struct loop_timer wake; /* for a look at the end of the wake interval */
	int64_t late_ms;        /* delay of the last poll, for /metrics */
	bool late_known;
	struct annotations annotations; /* at the last successful reconcile */
	uint64_t questions;             /* scalers_questions at that time */
};

/* control/objects/act.c: writes /scale. */
struct act_part {
	struct kube_call *call;
	char *path;         /* of the /scale it writes; owned */
	unsigned conflicts; /* in a row */
	bool missed;        /* another write was decided while this one was under way */
	int32_t from, to;
	bool activation;
	char *cause; /* for the Event of an activation */
	char *why;   /* scale_explain's text */
};

struct work {
	struct control *control;
	struct object *object; /* counted */
	const struct work_kind *kind;
	char *subject; /* "scaledobject default/web", for the log; owned */
	bool looked;   /* reconciled at least once */
	/*
	 * creation time, no later than when we first saw it by our clock, which may have been set
	 * back
	 */
	int64_t created_unix_ms;
	int64_t generation;           /* of the last successful reconcile */
	struct fairqueue_entry dirty; /* in control.dirty */
	struct write_part write;
	struct reconcile_part reconcile;
	struct hpakeeper_part hpakeeper;
	struct finalise_part finalise;
	struct recorder_part recorder;
	struct pause_part pause;
	struct rivals_part rivals;
	struct status_part status;
	struct loop_part loop;
	struct act_part act;
	struct job_parts *job; /* control/jobs/jobparts.h; owned; NULL of a ScaledObject */
	struct work *prev, *next;
};

/* For a pause that begins at its creation: the API server's clock may be hours ahead of ours. */
int64_t work_created_unix_ms(struct work *work, int64_t now_unix_ms);
/* Its namespace, which the caller owns, and its name; also of one that is gone. */
char *work_namespace(const struct work *work);
const char *work_name(const struct work *work);
/* Whether an error lasts until an object is changed; others may pass by themselves. */
bool work_error_lasts(const struct err *err);
bool work_says(const struct work *work, const char *type); /* whether the condition is True in the wanted status */

#endif
