/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_JOBPODS_H
#define CACHE_OBJECTS_JOBPODS_H

/*
 * Finds which of some Jobs are pending by reading their Pods once, by the label job-name, in lists
 * of at most JOBPODS_NAMES_PER_LIST names and in pages. Nothing is stored: strategies that need it
 * ask at each poll. Other Pods are never read.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct jobpods;

#define JOBPODS_NAMES_PER_LIST 100

struct jobpods_request { /* borrowed for the call */
	const char *namespace_;
	const char *const *jobs;
	size_t job_count;
	const char *const *conditions;
	size_t condition_count; /* pendingPodConditions */
	int64_t deadline_ms;    /* relative, for all lists together; 0: 10,000 */
};

/*
 * err NULL: pending[0..count) are the names of the pending Jobs, borrowed for the call. Otherwise
 * nothing is known.
 */
typedef void (*jobpods_fn)(void *arg, const char *const *pending, size_t count, const struct err *err);

/*
 * fn is called exactly once, never before this returns, not after jobpods_cancel. Without Jobs it
 * is called at the end of the turn.
 */
struct jobpods *jobpods_ask(struct kube *kube, const struct jobpods_request *request, jobpods_fn fn, void *arg);
void jobpods_cancel(struct jobpods *p); /* NULL is fine */

#endif
