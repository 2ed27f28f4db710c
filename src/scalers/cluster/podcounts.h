/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_PODCOUNTS_H
#define SCALERS_CLUSTER_PODCOUNTS_H

/*
 * Counts the pods of one namespace that match a label selector and are neither Succeeded nor
 * Failed, and the nodes they run on. One watch per (namespace, selector), filtered by the API
 * server; of each pod only name and node are kept. A watch starts with the first question and stops
 * some minutes after the last user has gone.
 *
 * A count is answered when the list is complete and the watch works. Requests wait for the first
 * list. A forbidden watch is an error at once; a watch that fails for another reason (an API server
 * restarts) becomes one after 30 s, and the last count holds until then. The previous count also
 * holds while pods are listed again, so that old and new pods are never mixed. A failure is never
 * counted as 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"
#include "scalers/scaler.h"

struct podcounts;
struct podcounts_wait;
struct podcounts_watch;

struct podcounts *podcounts_new(struct kube *kube);
void podcounts_free(struct podcounts *p); /* after all requests and watches */

struct podcounts_of {
	char *namespace_;
	char *selector; /* as setselector_normal writes it */
	bool nodes;     /* count nodes instead of pods */
};

/* Receives the count, or err: exactly once, not after podcounts_cancel. */
typedef void (*podcounts_fn)(void *arg, size_t count, const struct err *err);
struct podcounts_wait *podcounts_ask(struct podcounts *p, const struct podcounts_of *of,
	int64_t deadline_ms /* loop clock */, podcounts_fn fn, void *arg);
void podcounts_cancel(struct podcounts_wait *w);

/*
 * look is called at the end of a turn when the count has changed or is available again, once per
 * turn. podcounts_unwatch and podcounts_watch_report as in struct scaler_type.
 */
struct podcounts_watch *podcounts_watch(struct podcounts *p, const struct podcounts_of *of, question_look_fn look,
	void *arg);
void podcounts_unwatch(void *watch);
struct watch_report podcounts_watch_report(const void *watch);

size_t podcounts_watched(const struct podcounts *p); /* number of watches at the API server */

#endif
