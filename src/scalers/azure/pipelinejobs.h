/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_PIPELINEJOBS_H
#define SCALERS_AZURE_PIPELINEJOBS_H

/*
 * What the agent pools' API of Azure DevOps answers: which pool has a name, and how many of its
 * jobs wait for an agent such as ours, or run on one. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pipelinejobs_rule {
	PIPELINEJOBS_ALL_OF_JOB, /* our demands include the job's */
	PIPELINEJOBS_SAME,       /* requireAllDemands: they are the same */
	PIPELINEJOBS_ALL_OF_OURS /* requireAllDemandsAndIgnoreOthers: the job's include ours */
};

/*
 * Each demand of a job is compared with each of ours, for every job of an answer. A job with more
 * is none for our agents.
 */
#define PIPELINEJOBS_DEMANDS_MAX 100

/* Borrowed. Without parent and demands each job counts. */
struct pipelinejobs_filter {
	const char *parent; /* name of an agent that could run the job; NULL: any. It makes demands count no more */
	const char *const *demands; /* NULL: any */
	size_t count;
	enum pipelinejobs_rule rule;
	bool any_case;  /* of demands */
	bool in_flight; /* scaleOnInFlight: jobs that an agent has received count, too */
};

/*
 * Jobs without a result that pass the filter. ERR_INVALID when the answer is no list of jobs.
 * KEDA 2.20 never counted what an agent has received, and 2.21 asks scaleOnInFlight
 * (kedacore/keda#7747, #7878).
 */
int pipelinejobs_count(const json_t *answer, const struct pipelinejobs_filter *filter, size_t *out, struct err *err);

/*
 * Whether a list of as many jobs as were asked for may lack some that have no result: it ends amid
 * such. most 0: all were asked for.
 */
bool pipelinejobs_is_cut(const json_t *answer, int64_t most);

/* The number of the pool of that name. ERR_MISSING: none; ERR_INVALID: several, or no list. */
int pipelinejobs_pool(const json_t *answer, const char *name, int64_t *out, struct err *err);

#endif
