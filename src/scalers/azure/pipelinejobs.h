/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_PIPELINEJOBS_H
#define SCALERS_AZURE_PIPELINEJOBS_H

/*
 * Reads responses of Azure DevOps' agent pools API: the pool with a name, and the number of its
 * jobs that wait for an agent such as ours, or run on one. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pipelinejobs_rule {
	PIPELINEJOBS_ALL_OF_JOB, /* our demands include all of the job's */
	PIPELINEJOBS_SAME,       /* requireAllDemands: equal */
	PIPELINEJOBS_ALL_OF_OURS /* requireAllDemandsAndIgnoreOthers: the job's include all of ours */
};

/* Each demand of each job is compared with each of ours. Jobs with more demands do not count. */
#define PIPELINEJOBS_DEMANDS_MAX 100

/* Borrowed. Without parent and demands every job counts. */
struct pipelinejobs_filter {
	const char *parent;         /* name of an agent that could run the job, then demands are ignored; NULL: any */
	const char *const *demands; /* NULL: any */
	size_t count;
	enum pipelinejobs_rule rule;
	bool any_case;  /* compare demands case-insensitively */
	bool in_flight; /* scaleOnInFlight: jobs that an agent has received count */
};

/*
 * Counts the jobs without a result that pass the filter. ERR_INVALID: not a list of jobs. KEDA 2.20
 * never counted jobs that an agent has received, and 2.21 added scaleOnInFlight
 * (kedacore/keda#7747, #7878).
 */
int pipelinejobs_count(const json_t *answer, const struct pipelinejobs_filter *filter, size_t *out, struct err *err);

/*
 * Whether a list of `most` jobs may lack some without a result: its last one has none. most 0: no
 * limit was set.
 */
bool pipelinejobs_is_cut(const json_t *answer, int64_t most);

/* The number of the pool with this name. ERR_MISSING: none; ERR_INVALID: several, or not a list. */
int pipelinejobs_pool(const json_t *answer, const char *name, int64_t *out, struct err *err);

#endif
