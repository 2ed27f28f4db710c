/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_WORK_H
#define CONTROL_OBJECTS_WORK_H

/*
 * What is under way for one ScaledObject or ScaledJob while we lead: what the modules of this room
 * keep about it, each its own part. Private to control/. Begun when the store first shows the
 * object, ended at the end of the turn in which it is gone. What differs between the two is one
 * table of functions (struct work_kind).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/objects/jobpods.h"
#include "cache/survey.h"
#include "crd/scaled.h"
#include "decide/annotations.h"
#include "decide/conditions.h"
#include "decide/jobs/jobconditions.h"
#include "decide/jobs/jobs.h"
#include "decide/scale.h"
#include "kube/client.h"
#include "kube/events.h"
#include "net/loop.h"

struct work;

/*
 * What differs between a ScaledObject and a ScaledJob. All are called with an object of their kind.
 */
struct work_kind {
	void (*note)(struct work *work); /* it came, changed or is gone */
	/* a first look is too early: what it needs is being read. NULL: never */
	bool (*awaits)(struct work *work);
	/*
	 * looks, and starts the first write that is missing; the object is in the store, and no
	 * write under way
	 */
	void (*reconcile)(struct work *work);
	/*
	 * true: something is read before the triggers are asked; polling_prepared() when it is
	 * there. NULL: nothing ever is
	 */
	bool (*prepare)(struct work *work);
	void (*unprepare)(struct work *work); /* that is given up */
	/* what a look at the triggers leads to */
	void (*decide)(struct work *work, const struct survey_result *result);
	void (*stop)(struct work *work); /* nothing of its own is under way any more */
};

struct control {
	struct cache *cache;
	struct kube *kube;
	struct events *events;
	int64_t query_deadline_ms, wake_interval_ms; /* control_config says what they and the version are */
	const char *version;
	bool leading;
	struct work *all;            /* by their prev and next */
	struct loop_task turn;       /* reconciles what is dirty at the end of the turn */
	struct loop_timer next_turn; /* the rest of it, when it was too much for one turn */
	struct loop_timer settle;    /* after such a flood: what its writes took goes back to the system */
	struct work *dirty;          /* objects to reconcile, first come first served */
	size_t dirty_count;
	bool times_pruned;                              /* the installed CRD does not keep the conditions' times */
	struct counters_family *errors[SCALED_JOB + 1]; /* by enum scaled_kind */
	struct counters_family *scalings, *loop_latency, *queued, *reconciles, *jobs_created, *job_failures;
	struct work *making;   /* jobmaker.c: those with a create that waits for its turn, in turn */
	size_t creates;        /* under way */
	struct work *sweeping; /* jobsweeper.c: the same of deletes */
	size_t deletes;
};

/* control/objects/reconcile.c: brings the cluster to what the object says, one write at a time. */
struct reconcile_part {
	bool dirty; /* waits in control.dirty */
	struct work *dirty_next, *dirty_prev;
	struct kube_call *call;  /* the one write under way */
	struct write *write;     /* its context, owned */
	struct loop_timer again; /* back-off after a failure */
	int64_t retry_at_ms;     /* loop clock */
	unsigned failures;
	struct err *write_err; /* of the last write, until one succeeds; owned; NULL */
	/* fingerprint of an HPA that was written and came back different; not written again */
	uint64_t futile_hpa;
	uint64_t wanted_hpa; /* of the one being written */
	json_t *desired;     /* the HPA being written; owned */
	char *removing;      /* name of the HPA that is deleted, or was; owned */
	char *said_error;    /* the text of the last Event ScaledObjectCheckFailed; NULL */
	char *said_rival;    /* the text of the last Event about an HPA of others; NULL: there is none */
	unsigned restore_failures;
	bool restored;                  /* replicas are as they were before us */
	bool paused;                    /* at the last look */
	int64_t seen_generation;        /* at the last look */
	struct annotations seen;        /* what the annotations said then */
	struct annotations annotations; /* what they said when all was as it should be */
	uint64_t questions;             /* and what was asked */
};

/* control/objects/pause.c: while the object is paused. */
struct pause_part {
	int64_t write_at_ms; /* loop clock: not before that is the target set back again */
	unsigned writes;     /* in this quarrel */
	int32_t from, to;    /* of the write under way */
	char *why;           /* scale_explain's sentence about it; owned */
};

/* control/objects/rivals.c: what the object lays claim to. */
struct rivals_part {
	bool noted;
	bool at_work; /* it has its HPA: one of two that are equally old */
	uint64_t target, hpa;
};

/* control/objects/status.c: the one writer of .status. */
struct status_part {
	bool known; /* wanted was taken over from the stored one */
	struct scaledobject_status wanted;
	struct kube_call *call;
	struct loop_timer again; /* back-off after a failure, or the wait for the first tick */
	unsigned failures;
	bool said_failure; /* by an Event, since the last write that succeeded */
	uint64_t futile;   /* fingerprint of a patch that the server took and dropped; not sent again */
	uint64_t sent;     /* of the patch under way */
};

/*
 * control/objects/polling.c: when its triggers are asked; control/objects/scaleloop.c,
 * control/jobs/jobloop.c: what follows.
 */
struct loop_part {
	bool running;
	struct survey *survey; /* the poll under way */
	bool preparing;        /* the same, before its survey: what the kind wants to be read first */
	bool owed;             /* a poll is due: by its time, or because the object changed; the next look is it */
	bool timed;            /* the look under way is it: its failures count, and useCachedMetrics serves it */
	int32_t interval_s;    /* the timer's, from the spec when the loop started */
	int64_t due_ms;        /* loop clock: the next poll */
	struct loop_timer timer;
	int64_t last_active_unix_ms;
	bool was_failing;
	uint64_t cause;                /* which trigger failed first and how, as Ready was told last; 0: none */
	bool again;                    /* somebody asked for a look while one was under way */
	bool woken;                    /* a source asked for a look that did not begin yet */
	uint64_t woken_after;          /* readings_mark of the last time it did */
	int64_t looked_at_ms;          /* loop clock: when the last look began */
	struct loop_timer wake;        /* a look that a source asked for, put off to the end of the interval */
	int64_t push_settled_until_ms; /* loop clock: before that nobody looks whether push is on */
	int64_t late_ms;               /* of the last poll, as /metrics says it */
	bool late_known;
	char *said_push; /* the text of the last Event about push; owned; NULL */
};

/* control/objects/act.c: writes /scale. */
struct act_part {
	struct kube_call *call;
	char *path;         /* of the /scale it writes; owned */
	unsigned conflicts; /* in a row */
	bool missed;        /* another was decided while this one was under way */
	int32_t from, to;
	bool activation;
	char *cause; /* what the Event of an activation says */
	char *why;   /* scale_explain's sentence */
};

/* control/jobs/jobloop.c: what is known of its Jobs' Pods. */
struct jobloop_part {
	struct jobpods *pods; /* the look at them under way */
	struct jobloop_name *names;
	size_t name_count;    /* of the Jobs that were looked at last, sorted; owned */
	struct err *pods_err; /* why that failed; owned; NULL */
	uint64_t cause;       /* what fails first, as Ready was told last */
	size_t finished;      /* Jobs that were, when the history was looked at last */
};

/* control/jobs/jobmaker.c: creates Jobs. */
struct maker_part {
	int32_t planned;       /* decided, and not sent yet */
	struct making *making; /* those that were sent and are not settled */
	bool queued;           /* in control.making */
	struct work *next, *prev;
	int32_t from, made;    /* of this burst: Jobs that ran before it; that were created */
	char *why;             /* jobs_explain's sentence; owned */
	unsigned refusals;     /* so far */
	enum err_kind refusal; /* the last cause in this burst that an Event told */
	char *trouble;         /* why the last one was refused; owned; NULL: it was not, or none was tried */
};

/* control/jobs/jobsweeper.c: deletes Jobs. */
struct sweep_part {
	struct sweep *list; /* what this round deletes; owned */
	size_t count, sent, answered;
	size_t rollouts, rollouts_answered; /* of them, those of an earlier version */
	bool failed;                        /* a history delete of this round */
	bool waits;                         /* for the end of the look under way */
	bool queued;                        /* in control.sweeping */
	struct work *next, *prev;
	unsigned failures;    /* rounds in a row */
	int64_t retry_at_ms;  /* loop clock */
	struct err *err;      /* of the last rollout; owned; NULL */
	const char *err_name; /* the Job it is about; in the list */
};

/* What only a ScaledJob has. */
struct job_parts {
	struct jobloop_part jobloop;
	struct maker_part maker;
	struct sweep_part sweep;
};

struct work {
	struct control *control;
	struct object *object; /* counted */
	const struct work_kind *kind;
	char *subject;      /* "scaledobject default/web", for the log; owned */
	bool looked;        /* once, at least */
	int64_t generation; /* last reconciled with success */
	bool said_gone;
	struct reconcile_part reconcile;
	struct pause_part pause;
	struct rivals_part rivals;
	struct status_part status;
	struct loop_part loop;
	struct act_part act;
	struct job_parts *job; /* owned; NULL of a ScaledObject */
	struct work *prev, *next;
};

/* queue.c: who waits to be reconciled. */
void queue_mark(struct work *work); /* look at it at the end of this turn */
void queue_remove(struct work *work);

/*
 * write.c: one write for reconcile at a time. When it is answered the object is looked at again,
 * after a back-off if it failed; the message of a failure starts with `doing`.
 */
typedef void (*write_answer_fn)(struct work *work, const json_t *object);
typedef bool (*write_failure_fn)(struct work *work, const struct err *err); /* true: dealt with, no back-off */
void write_start(struct work *work, const struct kube_request *request, const char *doing, write_answer_fn on_success,
	write_failure_fn on_failure);
bool write_must_wait(struct work *work);     /* true while a failed write backs off; looks again when that is over */
bool write_is_news(const struct work *work); /* of one that failed: not a conflict that passes */
void write_forgive(struct work *work);       /* what failed says nothing about what is tried now */
void write_stop(struct work *work);

/* reconcile.c */
void reconcile_run(struct work *work);  /* looks, and starts the first write that is missing */
void reconcile_stop(struct work *work); /* nothing under way any more */

/*
 * pause.c: brings a paused object there: no HPA, the target at its paused replicas, if there are
 * such, whatever others do to it, but at most one write per second. `target_err`: why the target
 * cannot be written, or NULL.
 */
enum pause_state {
	PAUSE_BUSY, /* a write was started, or something is not read yet; its answer leads back */
	PAUSE_DONE,
	PAUSE_FAILED, /* *err */
};
enum pause_state pause_run(struct work *work, const struct scaledobject *so, const struct annotations *annotations,
	const struct err *target_err, struct err *err);
void pause_forget(struct work *work); /* it is another pause, or none */

/*
 * rivals.c: objects that lay claim to one target or one HPA name. One that changes its claims or
 * goes leads to a new look at those who share them.
 */
void rivals_note(struct work *work);
/*
 * another was there first, as cache/admit has it; err may be NULL. Cheap while nobody lays the same
 * claim
 */
bool rivals_refuse(const struct work *work, const struct scaledobject *so, struct err *err);

/*
 * hpakeeper.c: the HPA of the object. False when all is as it should be or nothing can be done now
 * (write_err says why); true when a write was started.
 */
bool hpakeeper_run(struct work *work, const struct scaledobject *so, json_t *desired);
/*
 * Deletes the HPA of the object, whatever its name is or was; true when that was started. Its
 * answer leads to the next look, which asks again.
 */
bool hpakeeper_remove(struct work *work, const struct scaledobject *so, const char *doing);

/* finalise.c: a deleted object. */
void finalise_run(struct work *work, const struct scaledobject *so);
/*
 * Adds or removes finalizers so that there is one of ours exactly while there is something to
 * restore. True when a write was started.
 */
bool finalise_keep(struct work *work, const struct scaledobject *so);

/* Takes KEDA's finalizer off an object of either kind; true when that was started. */
bool finalise_release(struct work *work, const char *doing);

/* work.c */
bool work_says(const struct work *work, const char *type); /* this condition is True in what is wanted */

/* status.c */
/*
 * to be changed by decide/conditions, decide/jobs/jobconditions; taken over from the stored one at
 * first
 */
struct scaledobject_status *status_wanted(struct work *work, const struct scaledobject_status *stored);
void status_write(struct work *work); /* patches what differs from the stored one */
/*
 * The same within delay_ms, so that a tick that is about to finish can say its part in one write.
 */
void status_write_within(struct work *work, int64_t delay_ms);
void status_stop(struct work *work);

/* polling.c */
/* starts it, or follows a changed spec; the first look comes at once */
void polling_start(struct work *work);
/*
 * After a reconcile that found all as it should be: starts it, says so after a pause or when the
 * object became ready, looks at once at what is new (of the spec, the annotations or a credential),
 * and writes the status.
 */
void polling_follow(struct work *work, const struct annotations *says, bool became_ready, bool was_paused);
/* an extra poll, now; one under way is given up for it */
void polling_look(struct work *work);
void polling_wake(struct work *work);     /* a source says "look now": at once, or at the end of the wake interval, with
					    readings that are asked for from now on */
void polling_prepared(struct work *work); /* what the kind's prepare() began is there */
/* a look in so many ms, if no poll is due before that */
void polling_arm_sooner(struct work *work, int64_t wait_ms);
bool polling_busy(const struct work *work); /* a look is under way */
void polling_stop(struct work *work);
void polling_end(struct work *work); /* the same, and it is said */
/* Events and counts of what failed in it */
void polling_say_failures(struct work *work, const struct survey_result *r);
/* one line when readings start to fail and one when they are good again, not one per poll */
void polling_log_failing(struct work *work, const struct survey_result *r, bool failing);

/* scaleloop.c */
void scaleloop_decide(struct work *work, const struct survey_result *result);
/* Into the journal: scale_mark's number, scale_explain's text. */
void scaleloop_note(struct work *work, const struct scale_facts *facts, const struct scale_decision *d, uint64_t mark,
	const char *text);

/* act.c */
/*
 * Writes the replicas that were decided, unless a write is under way. why: scale_explain's text.
 * After a conflict the newer replicas are read, and the triggers asked again.
 */
void act_scale(struct work *work, const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const char *why);
void act_stop(struct work *work);
/* of the target's /scale; NULL for a target that cannot be; the caller owns it */
char *act_scale_path(const struct work *work, const struct scaledobject *so);
/* the same, of anything */
char *act_scale_path_of(const char *group, const char *version, const char *resource, const char *namespace_,
	const char *name);
char *act_target_name(const struct scaledobject
		*so); /* "Deployment default/web", as KEDA's Events name a target; the caller owns it */

/* jobreconcile.c: brings a ScaledJob to what it says; what reconcile.c is for a ScaledObject. */
void jobreconcile_run(struct work *work);

/* jobloop.c: a tick of a ScaledJob. */
bool jobloop_prepare(struct work *work); /* the Pods of its Jobs, if the strategy needs them */
void jobloop_unprepare(struct work *work);
void jobloop_decide(struct work *work, const struct survey_result *result);
/* for the journal: nothing is decided while it is paused */
void jobloop_paused(struct work *work, const struct scaledjob *sj);
void jobloop_note(struct work *work); /* cache/objects/jobs: one of its Jobs came, changed or went */
void jobloop_stop(struct work *work);

/*
 * jobmaker.c: every Job is created once. It has its name before it is sent, counts as running from
 * then on until it is known that it was refused, and is sent again under the same name when the
 * answer was lost.
 */
/* so many now, instead of what was planned before and is not sent yet */
void jobmaker_create(struct work *work, int32_t count, int32_t running, const char *why);
/* Jobs that were sent, may be there, and are not in cache/objects/jobs yet */
size_t jobmaker_unseen(const struct work *work);
void jobmaker_look(struct work *work);    /* cache/objects/jobs knows more: that settles what was not sure */
void jobmaker_forgive(struct work *work); /* what was refused is not wanted any more */
/* what is planned and not sent yet: what it was decided from is not so any more */
void jobmaker_drop(struct work *work);
void jobmaker_hold(struct work *work); /* nothing new is sent; what is not sure is looked up */
void jobmaker_stop(struct work *work); /* all is dropped */

/* jobsweeper.c: deletes Jobs that are finished and too many, and those of an earlier version. */
enum sweep_state {
	SWEEP_DONE,   /* as far as the loop is concerned: the history may be under way */
	SWEEP_BUSY,   /* an earlier version is being deleted; its end leads to the next look */
	SWEEP_FAILED, /* that failed, *err; tried again after a back-off */
};
enum sweep_state jobsweeper_run(struct work *work, const struct scaledjob *sj, struct err *err);
void jobsweeper_stop(struct work *work);

/* recorder.c: Events about the object, which is stored, with KEDA's reasons and words. */
void recorder_event(struct work *work, const char *type, const char *reason, const char *note, ...)
	__attribute__((format(printf, 4, 5)));
/* the reason begins with the kind's name: "ScaledObject", then `what` */
void recorder_kind_event(struct work *work, const char *type, const char *what, const char *text);
void recorder_gone(struct work *work);
void recorder_started(struct work *work); /* it is polled from now on */
/*
 * And logged; once, as long as the text is the same. words: of another Event before it; NULL: none.
 */
void recorder_check_failed(struct work *work, const char *words, const char *text);
void recorder_check_passed(struct work *work); /* the next failure is told, whatever its text */
/* an HPA of others scales its target; once; NULL: none does */
void recorder_rival(struct work *work, const char *text);
/* keys of metadata that no parameter has, if there are any */
void recorder_unknown(struct work *work);
/* that a push which was asked for is off, once, and anew when why is another */
void recorder_push(struct work *work);
/* when its Fallback condition is no longer what it was */
void recorder_fallback(struct work *work, bool was);
/* The same of Paused and Ready; true when it became ready. */
bool recorder_turn(struct work *work, bool was_ready, bool was_paused);

#endif
