/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_WORK_H
#define CONTROL_OBJECTS_WORK_H

/*
 * The state of one ScaledObject or ScaledJob while we lead; each module of this room has its own
 * part of it. Private to control/. Created when the store first shows the object, freed at the end
 * of the turn in which it is deleted. What differs between the two kinds is a table of functions
 * (struct work_kind).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fairqueue.h"
#include "cache/cache.h"
#include "cache/objects/jobpods.h"
#include "cache/survey.h"
#include "crd/scaled.h"
#include "decide/annotations.h"
#include "decide/conditions.h"
#include "decide/jobs/jobconditions.h"
#include "decide/jobs/jobs.h"
#include "decide/readiness.h"
#include "decide/scale.h"
#include "kube/client.h"
#include "kube/events.h"
#include "net/loop.h"

struct work;

/* The functions of a kind. All are called with an object of that kind. */
struct work_kind {
	void (*note)(struct work *work); /* it was created, changed or deleted */
	/* true: the first reconcile is too early, as its target is being read. NULL: never */
	bool (*awaits)(struct work *work);
	/* starts the first write that is missing; the object is in the store, no write under way */
	void (*reconcile)(struct work *work);
	/*
	 * true: something is read before the triggers are asked, and polling_prepared() is called
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
	int64_t query_deadline_ms, wake_interval_ms; /* as the version: see control_config */
	const char *version;
	bool leading;
	struct work *all;            /* by their prev and next */
	struct loop_task turn;       /* reconciles the dirty ones at the end of the turn */
	struct loop_timer next_turn; /* for those that were too many for one turn */
	struct loop_timer settle;    /* after such a flood: gives memory back to the system */
	struct fairqueue dirty;      /* objects to reconcile: namespaces take turns */
	size_t dirty_count;
	bool times_pruned;                              /* the installed CRD drops the conditions' times */
	struct counters_family *errors[SCALED_JOB + 1]; /* by enum scaled_kind */
	struct counters_family *scalings, *loop_latency, *queued, *reconciles, *jobs_created, *job_failures;
	struct work *making;   /* jobmaker.c: those with creates that wait, served in turn */
	size_t creates;        /* under way */
	size_t create_bytes;   /* of their bodies */
	struct work *sweeping; /* jobsweeper.c: the same for deletes */
	size_t deletes;
};

/* control/objects/reconcile.c: makes the cluster match the object, one write at a time. */
struct reconcile_part {
	struct fairqueue_entry dirty; /* in control.dirty */
	struct kube_call *call;       /* the one write under way */
	struct write *write;          /* its context, owned */
	struct loop_timer again;      /* back-off after a failure */
	int64_t retry_at_ms;          /* loop clock */
	unsigned failures;
	struct err *write_err; /* of the last write, until one succeeds; owned; NULL */
	struct hpa_part {
		uint64_t wanted;  /* fingerprint of what was written last */
		uint64_t keys;    /* of the labels and annotations that were wanted last; 0: none yet */
		bool stale;       /* it may have labels or annotations that were wanted before */
		uint64_t came;    /* of what the API server made of it (hpaspec_print); 0: nothing yet */
		bool over_others; /* the write under way changes what is there */
		unsigned writes;  /* such ones, in a row */
		int64_t again_ms; /* loop clock: it is not written before */
	} hpa;
	json_t *desired; /* the HPA being written; owned */
	/* name and uid of the HPA that is, or was, being deleted, and that step's text; owned */
	char *removing, *removing_uid, *removing_step;
	char *said_error; /* the text of the last Event ScaledObjectCheckFailed; NULL */
	char *said_rival; /* the text of the last Event about an HPA of others; NULL: there is none */
	bool deleting;    /* finalise_must_wait was called */
	unsigned restore_failures;
	bool restored;                  /* the original replicas are restored, or will not be */
	int64_t seen_generation;        /* at the last reconcile */
	struct annotations seen;        /* the same; of a ScaledJob: paused alone */
	struct annotations annotations; /* at the last reconcile that succeeded */
	uint64_t questions;             /* scalers_questions then */
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
	bool at_work; /* it has an HPA, which decides between two that are equally old */
	uint64_t target, hpa;
};

/* control/objects/status.c: the one writer of .status. */
struct status_part {
	bool known; /* wanted was copied from the stored one */
	struct scaledobject_status wanted;
	struct kube_call *call;
	struct loop_timer again; /* back-off after a failure, or waits for the first tick */
	unsigned failures;
	bool said_failure; /* by an Event, since the last successful write */
	uint64_t futile;   /* fingerprint of a patch that the server accepted and did not store; not sent again */
	uint64_t sent;     /* of the patch under way */
};

/*
 * control/objects/polling.c: when the triggers are asked; control/objects/scaleloop.c,
 * control/jobs/jobloop.c: what follows from the answers.
 */
struct loop_part {
	bool running;
	struct survey *survey; /* the poll under way */
	bool unwatched;        /* no trigger can be built: it runs for what needs none (polling_keep) */
	bool preparing;        /* its kind's prepare() is under way; the survey follows */
	bool owed;             /* a poll is due, by time or because the object changed; the next look is that poll */
	bool timed;            /* the look under way is a poll: its failures count, and useCachedMetrics applies */
	int32_t interval_s;    /* the timer's, from the spec when the loop started */
	int64_t due_ms;        /* loop clock: the next poll */
	struct loop_timer timer;
	int64_t last_active_unix_ms;
	struct readiness readiness; /* what Ready says of failures */
	struct readiness_told
		*told; /* what the log says of them, by trigger, the formula last; owned; NULL: nothing yet */
	size_t told_count;
	bool was_failing;              /* in the log */
	bool again;                    /* the timer fired during a look: another one follows */
	bool woken;                    /* a source asked for a look, which has not begun */
	uint64_t woken_after;          /* readings_mark when it asked last */
	int64_t looked_at_ms;          /* loop clock: start of the last look */
	struct loop_timer wake;        /* a look that a source asked for, at the end of the wake interval */
	int64_t push_settled_until_ms; /* loop clock: push is not checked before */
	int64_t late_ms;               /* delay of the last poll, for /metrics */
	bool late_known;
	char *said_push; /* the text of the last Event about push; owned; NULL */
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

/* control/jobs/jobloop.c: the Pods of its Jobs. */
struct jobloop_part {
	struct jobpods *pods; /* the list request under way */
	struct jobloop_name *names;
	size_t name_count;    /* of the Jobs in the last request, sorted; owned */
	struct err *pods_err; /* why it failed; owned; NULL */
	size_t finished;      /* finished Jobs when the history was checked last */
	int64_t answered_ms;  /* when the triggers were asked for whose answers Jobs were created last; 0: never */
};

/* control/jobs/jobmaker.c: creates Jobs. */
struct maker_part {
	int32_t planned;       /* decided, not sent yet */
	struct making *making; /* sent, not settled */
	bool queued;           /* in control.making */
	struct work *next, *prev;
	int32_t from, made;    /* of this burst: Jobs that ran before it; Jobs created */
	char *why;             /* jobs_explain's text; owned */
	unsigned refusals;     /* so far */
	enum err_kind refusal; /* the last kind in this burst that an Event told */
	char *trouble;         /* why the last Job was refused; owned; NULL: it was not */
};

/* control/jobs/jobsweeper.c: deletes Jobs. */
struct sweep_part {
	struct sweep *list; /* the Jobs of this round; owned */
	size_t count, sent, answered;
	size_t rollouts, rollouts_answered; /* of them, those of an earlier version */
	bool failed;                        /* a history delete of this round failed */
	bool waits;                         /* until the look under way ends */
	bool queued;                        /* in control.sweeping */
	struct work *next, *prev;
	unsigned failures;    /* rounds in a row */
	int64_t retry_at_ms;  /* loop clock */
	struct err *err;      /* of the last rollout; owned; NULL */
	const char *err_name; /* the Job it is about; in the list */
};

/* control/jobs/jobhistory.c: whether its jobTargetRef is another one than before. */
struct history_part {
	struct kube_call *call;
	int64_t generation; /* that is asked about */
	uint64_t version;   /* of the object that was asked for */
	unsigned steps, failures;
	int64_t retry_at_ms; /* loop clock */
};

/* What only a ScaledJob has. */
struct job_parts {
	struct jobloop_part jobloop;
	struct maker_part maker;
	struct sweep_part sweep;
	struct history_part history;
};

struct work {
	struct control *control;
	struct object *object; /* counted */
	const struct work_kind *kind;
	char *subject; /* "scaledobject default/web", for the log; owned */
	bool looked;   /* once, at least */
	/*
	 * when it was created, not later than we have known it by a clock that may have been set
	 * back
	 */
	int64_t created_unix_ms;
	int64_t generation; /* of the last successful reconcile */
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

/* queue.c: the objects that wait to be reconciled. */
void queue_mark(struct work *work);         /* reconcile it at the end of this turn */
struct work *queue_take(struct control *c); /* the next, which waits no longer; NULL: none */
void queue_remove(struct work *work);

/*
 * write.c: reconcile's writes, one at a time. The answer leads to the next reconcile, after a
 * back-off if it failed; the message of a failure starts with `doing`.
 */
typedef void (*write_answer_fn)(struct work *work, const json_t *object);
typedef bool (*write_failure_fn)(struct work *work, const struct err *err); /* true: handled, no back-off */
void write_start(struct work *work, const struct kube_request *request, const char *doing, write_answer_fn on_success,
	write_failure_fn on_failure);
bool write_must_wait(struct work *work);     /* true while a failed write backs off; its end leads to a reconcile */
bool write_is_news(const struct work *work); /* whether the failure is to be told: no conflict that passes */
void write_forgive(struct work *work);       /* ends the back-off: the failure was of something else */
void write_stop(struct work *work);

/* reconcile.c */
void reconcile_run(struct work *work);  /* starts the first write that is missing */
void reconcile_stop(struct work *work); /* frees its state; write_stop cancels the write */

/*
 * pause.c: keeps a paused object so: no HPA, and the target at the paused replicas, if there are
 * such, against others who scale it, with at most one write per second. `target_err`: why the
 * target cannot be written, or NULL.
 */
enum pause_state {
	PAUSE_BUSY, /* a write was started, or something is not read yet; that leads to another reconcile */
	PAUSE_DONE,
	PAUSE_FAILED, /* *err */
};
enum pause_state pause_run(struct work *work, const struct scaledobject *so, const struct annotations *annotations,
	const struct err *target_err, struct err *err);
void pause_forget(struct work *work); /* the pause ended or another one began */

/*
 * rivals.c: objects that claim the same target or HPA name. When one changes its claims or is
 * deleted, the others are reconciled.
 */
void rivals_note(struct work *work);
/*
 * Whether another one was first (cache/admit); err may be NULL. Cheap while no other has the claim.
 */
bool rivals_refuse(const struct work *work, const struct scaledobject *so, struct err *err);

/*
 * hpakeeper.c: the HPA of the object. True when a write was started; false when the HPA is as
 * wanted or nothing can be done now (write_err says why).
 */
bool hpakeeper_run(struct work *work, const struct scaledobject *so, json_t *desired);
/*
 * Deletes the object's HPA, of whatever name; true when that was started. The answer leads to the
 * next reconcile, which calls this again for another one.
 */
bool hpakeeper_remove(struct work *work, const struct scaledobject *so, const char *doing);
void hpakeeper_stop(struct work *work); /* frees its state */

/* finalise.c: a deleted object. */
void finalise_run(struct work *work, const struct scaledobject *so);
/*
 * As write_must_wait, of a deleted object of either kind: only its deletion's own failures count.
 */
bool finalise_must_wait(struct work *work);
/*
 * Adds or removes finalizers: ours is set while replicas are to be restored on deletion, KEDA's
 * never. True when a write was started.
 */
bool finalise_keep(struct work *work, const struct scaledobject *so);

/* Removes KEDA's finalizer from an object of either kind; true when that was started. */
bool finalise_release(struct work *work, const char *doing);

/* work.c */
/* For a pause that begins at its creation: the API server's clock may be hours ahead of ours. */
int64_t work_created_unix_ms(struct work *work, int64_t now_unix_ms);
/* Whether an error lasts until an object is changed; others may pass by themselves. */
bool work_error_lasts(const struct err *err);
bool work_says(const struct work *work, const char *type); /* the condition is True in the wanted status */

/* status.c */
/*
 * The wanted status, for decide/conditions and decide/jobs/jobconditions to change; copied from the
 * stored one at first
 */
struct scaledobject_status *status_wanted(struct work *work, const struct scaledobject_status *stored);
void status_write(struct work *work); /* patches what differs from the stored status */
/* The same within delay_ms, so that a tick that ends until then is in the same write. */
void status_write_within(struct work *work, int64_t delay_ms);
void status_stop(struct work *work);

/* polling.c */
/*
 * While no trigger can be built: polls all the same, for what needs none, with a look at once when
 * something changed. That the triggers are not watched, say the Events, unless it passes by itself.
 */
void polling_keep(struct work *work, const struct annotations *says, bool passes);
/*
 * After a successful reconcile: starts polling (with Events after a pause or when the object became
 * ready), looks at once when the spec, the annotations or a credential changed, and writes the
 * status.
 */
void polling_follow(struct work *work, const struct annotations *says, bool became_ready, bool was_paused);
/* a look at the triggers now; cancels one under way */
void polling_look(struct work *work);
void polling_wake(struct work *work);     /* a source says "look now": at once, or at the end of the wake interval, with
					    readings that are asked from now on */
void polling_prepared(struct work *work); /* the kind's prepare() has finished */
/* a look in so many ms, unless a poll is due before */
void polling_arm_sooner(struct work *work, int64_t wait_ms);
bool polling_busy(const struct work *work); /* a look is under way */
void polling_stop(struct work *work);
void polling_end(struct work *work); /* the same, with an Event */
/* Events and counters of the triggers that failed */
void polling_say_failures(struct work *work, const struct survey_result *r);
/*
 * A log line for each trigger that begins to fail, or fails for another cause, each once in 30 s at
 * most, and one when all can be read again.
 */
void polling_log_failing(struct work *work, const struct survey_result *r);
/*
 * What Ready says of this look: of `look` the caller sets what decide/scale and decide/jobs found.
 * The next look comes in time for it.
 */
struct readiness_says polling_judge(struct work *work, struct readiness_look *look);

/* scaleloop.c */
void scaleloop_decide(struct work *work, const struct survey_result *result);
/* Writes a decision to the journal: mark is scale_mark's, text scale_explain's. */
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
/* path of the target's /scale; NULL: it has none; the caller owns it */
char *act_scale_path(const struct work *work, const struct scaledobject *so);
/* the same for any resource; NULL when a part is no path segment */
char *act_scale_path_of(const char *group, const char *version, const char *resource, const char *namespace_,
	const char *name);
char *act_target_name(
	const struct scaledobject *so); /* "Deployment default/web", as in KEDA's Events; the caller owns it */

/* jobreconcile.c: reconciles a ScaledJob, as reconcile.c a ScaledObject. */
void jobreconcile_run(struct work *work);

/* jobloop.c: a tick of a ScaledJob. */
bool jobloop_prepare(struct work *work); /* reads the Pods of its Jobs, if the strategy needs them */
void jobloop_unprepare(struct work *work);
void jobloop_decide(struct work *work, const struct survey_result *result);
/* writes the pause to the journal */
void jobloop_paused(struct work *work, const struct scaledjob *sj);
void jobloop_note(struct work *work); /* one of its Jobs was created, changed or deleted (cache/objects/jobs) */
void jobloop_stop(struct work *work);

/*
 * jobmaker.c: creates every Job once. A Job has its name before it is sent, counts as running from
 * then until it is known to be refused, and is sent again under the same name when the answer was
 * lost.
 */
/* so many Jobs now, instead of those that were planned before and are not sent */
void jobmaker_create(struct work *work, int32_t count, int32_t running, const char *why);
/* Jobs that were sent, may exist, and are not in cache/objects/jobs yet */
size_t jobmaker_unseen(const struct work *work);
void jobmaker_look(struct work *work);    /* cache/objects/jobs has changed: settles those that it has */
void jobmaker_forgive(struct work *work); /* forgets the last refusal */
/* drops the Jobs that are planned and not sent */
void jobmaker_drop(struct work *work);
void jobmaker_hold(struct work *work); /* the same, and those in doubt are looked up instead of sent again */
void jobmaker_stop(struct work *work); /* drops all, also those that were sent */

/*
 * jobhistory.c: true while it is found out whether the object had another jobTargetRef before its
 * newest generation; the end leads to a reconcile. Asked before Jobs are deleted for that.
 */
bool jobhistory_ask(struct work *work, const struct scaledjob *sj);
void jobhistory_stop(struct work *work);

/* jobsweeper.c: deletes Jobs that are finished and too many, and those of an earlier version. */
enum sweep_state {
	SWEEP_DONE,   /* the loop may go on; history deletes may be under way */
	SWEEP_BUSY,   /* Jobs of an earlier version are being deleted; the end leads to a reconcile */
	SWEEP_FAILED, /* that failed, *err; tried again after a back-off */
};
enum sweep_state jobsweeper_run(struct work *work, const struct scaledjob *sj, struct err *err);
void jobsweeper_stop(struct work *work);

/* recorder.c: Events about a stored object, with KEDA's reasons and words. */
void recorder_event(struct work *work, const char *type, const char *reason, const char *note, ...)
	__attribute__((format(printf, 4, 5)));
/* the reason begins with the kind's name: "ScaledObject", then `what` */
void recorder_kind_event(struct work *work, const char *type, const char *what, const char *text);
void recorder_gone(struct work *work);
void recorder_started(struct work *work); /* polling starts */
/* Also logged; once while the text is the same. words: another Event before it; NULL: none. */
void recorder_check_failed(struct work *work, const char *words, const char *text);
void recorder_check_passed(struct work *work); /* the next failure is told again */
/* another HPA scales its target; told once; NULL: none does */
void recorder_rival(struct work *work, const char *text);
/* keys of metadata that are no parameters, if there are any */
void recorder_unknown(struct work *work);
/* push was asked for and is off: told once per reason */
void recorder_push(struct work *work);
/* when the condition Fallback has changed */
void recorder_fallback(struct work *work, bool was);
/* The same for Paused and Ready; true when it became ready. */
bool recorder_turn(struct work *work, bool was_ready, bool was_paused);

#endif
