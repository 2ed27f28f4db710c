/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KEPTANSWER_H
#define SCALERS_CLUSTER_KEPTANSWER_H

/*
 * An answer that a watch of the API server keeps up to date in memory, with the requests that wait
 * for it and the watchers that are notified of changes.
 *
 * Requests wait for the watch's first result. If the watch is forbidden, they fail at once; if it
 * fails for another reason (an API server restarts), the last answer is valid for another 30 s. The
 * answer may be an error itself (there is no such object). A failure is never 0.
 *
 * A member of its owner, which owns the watch, sets the answer, and frees both when the answer has
 * been unused for some minutes.
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
	const char *late;                /* borrowed: the error of a request that waits too long */
	loop_fn on_idle;                 /* unused for some minutes; may end it */
	void *arg;
	bool known; /* the watch has had its first result */
	double value;
	struct err *wrong;   /* the answer is this error; NULL: it is value */
	int64_t troubled_ms; /* the watch has failed since then (loop clock); 0: it works */
	struct keptanswer_wait *waits;
	struct keptanswer_watch *watchers;
	bool tell;               /* it has changed, or is available again */
	struct loop_task settle; /* at the end of the turn: notifies watchers, answers requests */
	struct loop_timer idle;  /* runs while there are no requests and watchers */
};

void keptanswer_init(struct keptanswer *k, struct loop *loop, const struct informer *informer, const char *late,
	loop_fn on_idle, void *arg);
void keptanswer_done(struct keptanswer *k); /* after all requests and watches */

/* Sets the answer: a value, or an error, which is copied. */
void keptanswer_set(struct keptanswer *k, double value, const struct err *wrong);
/* From the informer's on_trouble. */
void keptanswer_trouble(struct keptanswer *k, const struct err *err);
bool keptanswer_is_used(const struct keptanswer *k); /* now or within the last minutes */

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
