/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KEPTANSWER_H
#define SCALERS_CLUSTER_KEPTANSWER_H

/*
 * The answer to a question that a watch of the API server keeps in memory: who waits for it, who is
 * told when it changes, and how long it holds while the watch fails.
 *
 * Requests wait until the watch has said it for the first time. A forbidden watch is an error at
 * once; a watch that fails for another reason (an API server restarts) becomes one after 30 s, and
 * what was said last holds until then. What the watch shows may be an error itself (there is no
 * such object). A failure is never 0.
 *
 * A member of its owner, who owns the watch, says what it shows, and ends both when nobody has used
 * the answer for some minutes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/informer.h"
#include "net/loop.h"
#include "scalers/scaler.h"

struct keptanswer_wait;
struct keptanswer_watch;

struct keptanswer {
	struct loop *loop;
	const struct informer *informer; /* borrowed: its trouble */
	const char *late;                /* borrowed: what to say when a request waits too long */
	loop_fn on_idle;                 /* nobody has used it for some minutes; may end it */
	void *arg;
	bool known;          /* the watch has said it */
	double value;        /* what it said: */
	struct err *wrong;   /* or why there is no value; NULL: there is one */
	int64_t troubled_ms; /* since when the watch fails (loop clock); 0: it works */
	struct keptanswer_wait *waits;
	struct keptanswer_watch *watchers;
	bool tell;               /* it is another than before, or available again */
	struct loop_task settle; /* at the end of the turn: tells watchers, answers waits */
	struct loop_timer idle;  /* runs while nobody waits or watches */
};

void keptanswer_init(struct keptanswer *k, struct loop *loop, const struct informer *informer, const char *late,
	loop_fn on_idle, void *arg);
void keptanswer_done(struct keptanswer *k); /* after all requests and watches */

/* What the watch shows: a value, or (copied) why there is none. */
void keptanswer_set(struct keptanswer *k, double value, const struct err *wrong);
/* From the informer's on_trouble. */
void keptanswer_trouble(struct keptanswer *k, const struct err *err);
bool keptanswer_is_used(const struct keptanswer *k); /* or was, some minutes ago */

/* Receives the value, or err: exactly once, at the end of a turn, not after keptanswer_cancel. */
typedef void (*keptanswer_fn)(void *arg, double value, const struct err *err);
struct keptanswer_wait *keptanswer_ask(struct keptanswer *k, int64_t deadline_ms /* loop clock */, keptanswer_fn fn,
	void *arg);
void keptanswer_cancel(struct keptanswer_wait *w);

/*
 * look is called at the end of a turn when the answer has changed or is available again, once per
 * turn. keptanswer_unwatch and keptanswer_watch_report as in struct scaler_type.
 */
struct keptanswer_watch *keptanswer_watch(struct keptanswer *k, question_look_fn look, void *arg);
void keptanswer_unwatch(void *watch);
struct watch_report keptanswer_watch_report(const void *watch);

#endif
