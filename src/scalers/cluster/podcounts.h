/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_PODCOUNTS_H
#define SCALERS_CLUSTER_PODCOUNTS_H

/*
 * How many pods of one namespace a label selector finds that are neither Succeeded nor Failed, and
 * on how many nodes they are: one watch per (namespace, selector), with which the API server sends
 * those pods and no others. Of a pod its name and its node are kept, nothing else. A watch begins
 * with the first question, and ends when for some minutes nobody asked and nobody watches.
 *
 * A count is answered when the list of pods is whole and its watch works. Before the first list an
 * asker waits. A watch that is forbidden is an error at once; one that fails for other reasons is
 * one after half a minute, until which the last count holds (an API server that restarts). While
 * pods are listed anew the count before holds, so that nobody sees old and new ones together. Never
 * is a failure 0.
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
void podcounts_free(struct podcounts *p); /* askers and watchers are gone by then */

struct podcounts_of {
	char *namespace_;
	char *selector; /* as setselector_normal writes it */
	bool nodes;     /* the nodes are counted, not the pods */
};

/* The count, or err. */
typedef void (*podcounts_fn)(void *arg, size_t count, const struct err *err);
struct podcounts_wait *podcounts_ask(struct podcounts *p, const struct podcounts_of *of,
	int64_t deadline_ms /* loop clock */, podcounts_fn fn, void *arg);
void podcounts_cancel(struct podcounts_wait *w);

/*
 * look: the count has changed, or may be had again; at the end of a turn, once however many pods
 * changed.
 */
struct podcounts_watch *podcounts_watch(struct podcounts *p, const struct podcounts_of *of, question_look_fn look,
	void *arg);
void podcounts_unwatch(void *watch);
struct watch_report podcounts_watch_report(const void *watch);

size_t podcounts_watched(const struct podcounts *p); /* how many watches of the API server there are */

#endif
