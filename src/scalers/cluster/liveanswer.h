/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_LIVEANSWER_H
#define SCALERS_CLUSTER_LIVEANSWER_H

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

struct liveanswer_wait;
struct liveanswer_watch;

struct liveanswer {
	struct loop *loop;
	const struct informer *informer; /* borrowed: its trouble */
	const char *late;                /* borrowed: the error of a request that waits too long */
	loop_fn on_idle;                 /* unused for some minutes; may end it */
	void *arg;
	bool known; /* the watch has had its first result */
	double value;
	struct err *wrong;   /* the answer is this error; NULL: it is value */
	int64_t troubled_ms; /* the watch has failed since then (loop clock); 0: it works */
	struct liveanswer_wait *waits;
	struct liveanswer_watch *watchers;
	bool tell;               /* it has changed, or is available again */
	struct loop_task settle; /* at the end of the turn: notifies watchers, answers requests */
	struct loop_timer idle;  /* runs while there are no requests and watchers */
};

void liveanswer_init(struct liveanswer *k, struct loop *loop, const struct informer *informer, const char *late,
	loop_fn on_idle, void *arg);
void liveanswer_done(struct liveanswer *k); /* after all requests and watches */

/* Sets the answer: a value, or an error, which is copied. */
void liveanswer_set(struct liveanswer *k, double value, const struct err *wrong);
/* From the informer's on_trouble. */
void liveanswer_trouble(struct liveanswer *k, const struct err *err);
bool liveanswer_is_used(const struct liveanswer *k); /* now or within the last minutes */

/* Receives the value, or err: exactly once, at the end of a turn, unless it was cancelled. */
typedef void (*liveanswer_fn)(void *arg, double value, const struct err *err);
struct liveanswer_wait *liveanswer_ask(struct liveanswer *k, int64_t deadline_ms /* loop clock */, liveanswer_fn fn,
	void *arg);
/* cancel of a struct scaler_asker, for an ask whose call is that. */
void liveanswer_cancel(void *ask);

/*
 * look is called at the end of a turn when the answer has changed or is available again, once per
 * turn. liveanswer_unwatch and liveanswer_watch_report as in struct scaler_type.
 */
struct liveanswer_watch *liveanswer_watch(struct liveanswer *k, question_look_fn look, void *arg);
void liveanswer_unwatch(void *watch);
struct watch_report liveanswer_watch_report(const void *watch);

#endif
