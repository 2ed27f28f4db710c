/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_FAKE_CACHE_H
#define TESTS_UNIT_SERVE_FAKE_CACHE_H

/*
 * Replaces src/cache and src/scalers at link time: one namespace "shop" with one ScaledObject "web"
 * and one trigger, whose source answers what the test wants, when it wants; and a ScaledJob with
 * the same trigger, if the test gives one. The real rooms need watches and a Redis; they have their
 * own tests.
 */

#include <stdbool.h>

#include "cache/cache.h"
#include "cache/survey.h"
#include "net/loop.h"

enum fake_memory { FAKE_NOTHING, FAKE_ANSWER, FAKE_FAILURE };

struct fake_cache {
	struct cache cache;
	bool synced;
	const char *trouble;       /* of the store; NULL */
	enum err_kind build_error; /* of the object's scalers; ERR_NONE: they are built */
	bool object_gone;
	/* found by survey_peek and readings_peek */
	enum fake_memory memory;
	double value;
	int64_t age_ms, rest_ms;
	bool falls_back;                   /* a failure is replaced by `value` */
	double fallback_replicas;          /* its value in the formula; -1: nil */
	const char *no_fallback;           /* why it is not; NULL */
	const struct composite *composite; /* NULL: the object has no scalingModifiers */
	/* for explain */
	const struct scaledobject *object; /* in place of the usual one; NULL */
	bool resource_trigger;             /* a cpu trigger follows the first */
	char *trigger_name;                /* of the ScaledObject's first trigger; NULL */
	const struct hpa *hpa;
	const struct workload *workload; /* NULL: unread */
	const char *target_trouble;
	const struct journal_object *journal;
	int32_t failures;
	/* the ScaledJob */
	const struct scaledjob *job;    /* NULL: none */
	bool jobs_unsynced;             /* ScaledJobs were not listed */
	const char *scaledjobs_trouble; /* NULL */
	bool jobs_unknown;              /* Jobs were not listed */
	const char *jobs_trouble;       /* NULL */
	struct jobs_tally tally;
	const struct journal_object *job_journal;
	int jobs_looked_at; /* how often Jobs were asked for */
	int walks;          /* how often all objects were gone through */
	/* requests that wait */
	int asked, cancelled;
	survey_fn fn;
	void *arg;
	int64_t deadline_ms, max_age_ms;
	bool cached, counted;
	bool surveyed_one;        /* survey_peek was asked for one metric, not for all of the object */
	struct object records[2]; /* of the ScaledObject, of the ScaledJob */
	struct store_events events;
	void *events_arg;
};

struct fake_cache *fake_cache_new(struct loop *loop);
void fake_cache_free(struct fake_cache *f);
void fake_cache_answer(struct fake_cache *f, double value); /* ends the wait */
void fake_cache_fail(struct fake_cache *f, const char *message);
void fake_cache_remove_object(struct fake_cache *f); /* with a notification */
void fake_cache_remove_job(struct fake_cache *f);

#endif
