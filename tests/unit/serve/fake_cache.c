/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define KEY "shop/web"

static struct fake_cache *fake; /* the one that a test has made: the real modules' pointers are not looked at */

static const struct scaler_type type = { .name = "redis", .go_name = "redisScaler" };
static char metric_name[] = "s0-redis-jobs";
static char question_key[] = "question", question_source[] = "redis 192.0.2.1:6379";
static struct question question = { .refs = 1, .key = question_key, .source = question_source, .type = &type };
static const struct scaler_type cpu_type = { .name = "cpu", .go_name = "cPUMemoryScaler" };
static char cpu_name[] = "cpu";
static const struct scaler all[] = {
	{ .type = &type,
		.index = 0,
		.metric_name = metric_name,
		.question = &question,
		.target = { 5000, QUANTITY_DECIMAL_SI },
		.activation = 2.5 },
	{ .type = &cpu_type,
		.index = 1,
		.kind = METRIC_RESOURCE,
		.metric_name = cpu_name,
		.target_type = METRIC_UTILIZATION,
		.target = { 60000, QUANTITY_DECIMAL_SI } },
};
static char namespace_name[] = "shop", object_name[] = "web", trigger_type[] = "redis";
static struct trigger trigger = { .type = trigger_type };
static const struct scaledobject object = {
	.meta = { .namespace_ = namespace_name, .name = object_name },
	.spec = { .triggers = &trigger, .trigger_count = 1 },
};

struct fake_cache *fake_cache_new(struct loop *loop)
{
	assert(!fake);
	fake = mem_zalloc(sizeof(*fake));
	fake->cache.loop = loop;
	fake->cache.counters = counters_new();
	fake->synced = true;
	fake->cache.journal = (struct journal *)fake;
	return fake;
}

void fake_cache_free(struct fake_cache *f)
{
	counters_free(f->cache.counters);
	free(f);
	fake = NULL;
}

static const struct scaledobject *the_object(void)
{
	return fake->object ? fake->object : &object;
}

static const char *job_key(char out[STORE_KEY_MAX])
{
	return store_job_key(fake->job->meta.namespace_, fake->job->meta.name, out);
}

static bool is_job(const char *key)
{
	char text[STORE_KEY_MAX];

	return fake->job && !strcmp(key, job_key(text));
}

/* ---- Store ---- */

char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	snprintf(out, STORE_KEY_MAX, "%s/%s", namespace_, name);
	return out;
}

char *store_job_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	snprintf(out, STORE_KEY_MAX, "scaledjobs/%s/%s", namespace_, name);
	return out;
}

enum scaled_kind store_key_kind(const char *key)
{
	return strncmp(key, "scaledjobs/", 11) ? SCALED_OBJECT : SCALED_JOB;
}

const char *store_key_path(const char *key)
{
	return strncmp(key, "scaledjobs/", 11) ? key : key + 11;
}

bool store_synced(const struct store *s)
{
	(void)s;
	return fake->synced;
}

const char *store_trouble(const struct store *s)
{
	(void)s;
	return fake->trouble;
}

const struct scaledobject *store_scaledobject(const struct store *s, const char *key)
{
	(void)s;
	return !fake->object_gone && !strcmp(key, KEY) ? the_object() : NULL;
}

void store_each_scaledobject(const struct store *s,
	void (*fn)(void *arg, const char *key, const struct scaledobject *so), void *arg)
{
	(void)s;
	if (!fake->object_gone)
		fn(arg, KEY, the_object());
}

bool store_synced_scaledjobs(const struct store *s, const char **trouble)
{
	(void)s;
	*trouble = fake->scaledjobs_trouble;
	return !fake->jobs_unsynced;
}

const struct scaledjob *store_scaledjob(const struct store *s, const char *key)
{
	(void)s;
	return is_job(key) ? fake->job : NULL;
}

void store_each_scaledjob(const struct store *s, void (*fn)(void *arg, const char *key, const struct scaledjob *sj),
	void *arg)
{
	char key[STORE_KEY_MAX];

	(void)s;
	if (fake->job)
		fn(arg, job_key(key), fake->job);
}

void store_each_scaled(const struct store *s, void (*fn)(void *arg, const char *key, const struct scaled *of),
	void *arg)
{
	static char key[STORE_KEY_MAX]; /* good until the loop turns */
	struct scaled object_view = scaled_of_object(the_object()), job_view;

	(void)s;
	if (!fake->object_gone)
		fn(arg, KEY, &object_view);
	if (!fake->job)
		return;
	job_view = scaled_of_job(fake->job);
	fn(arg, job_key(key), &job_view);
}

void store_each_triggerauth(const struct store *s, void (*fn)(void *arg, const char *key, const struct triggerauth *t),
	void *arg)
{
	static char none[] = "", redis[] = "redis";
	static const struct triggerauth namespaced = { .meta = { .namespace_ = namespace_name, .name = redis } },
					cluster = { .meta = { .namespace_ = none, .name = redis } };

	(void)s;
	fn(arg, "shop/redis", &namespaced);
	fn(arg, "/redis", &cluster);
}

void store_listen(struct store *s, store_listener fn, void *arg)
{
	(void)s;
	fake->listener = fn;
	fake->listener_arg = arg;
}

const struct hpa *store_hpa(const struct store *s, const char *key)
{
	(void)s;
	return !strcmp(key, "shop/keda-hpa-web") ? fake->hpa : NULL;
}

void fake_cache_remove_object(struct fake_cache *f)
{
	f->object_gone = true;
	if (f->listener)
		f->listener(f->listener_arg, STORE_GONE, KEY);
}

void fake_cache_remove_job(struct fake_cache *f)
{
	char key[STORE_KEY_MAX];

	job_key(key);
	f->job = NULL;
	if (f->listener)
		f->listener(f->listener_arg, STORE_GONE, key);
}

/* ---- Scalers ---- */

int scalers_get(struct scalers *s, const char *key, struct built *out, struct err *err)
{
	(void)s;
	if ((fake->object_gone || strcmp(key, KEY)) && !is_job(key))
		return err_set(err, ERR_MISSING, "ScaledObject %s does not exist", key);
	if (fake->build_error != ERR_NONE)
		return err_set(err, fake->build_error, "trigger 0 (redis): listName is missing");
	*out = (struct built){ .list = all, .count = fake->resource_trigger ? 2 : 1 };
	return 0;
}

/* Whether there is no such metric, and why. */
static bool lacks(const char *key, const char *metric, struct err *err)
{
	struct built built;

	if (scalers_get(NULL, key, &built, err))
		return true;
	return strcasecmp(metric, all[0].metric_name) &&
		err_set(err, ERR_MISSING, "ScaledObject %s has no metric %s", key, metric);
}

struct reading scaler_judge(const struct scaler *s, const struct answer *answer)
{
	(void)s;
	return (struct reading){ answer->value, answer->value > 0 };
}

/* ---- Readings ---- */

enum readings_found readings_peek(struct readings *r, const struct question *q, int64_t max_age_ms,
	struct answer *answer, struct err *err)
{
	(void)r;
	assert(q == &question);
	if (fake->memory == FAKE_FAILURE) {
		err_set(err, ERR_TEMPORARY, "redis 192.0.2.1:6379: connection refused");
		return READINGS_FAILURE;
	}
	if (fake->memory == FAKE_NOTHING || fake->age_ms >= max_age_ms)
		return READINGS_NONE;
	answer->value = fake->value;
	answer->answered_at_ms = loop_now_ms(fake->cache.loop) - fake->age_ms;
	answer->asked_at_ms = answer->answered_at_ms - 2000;
	return READINGS_ANSWER;
}

/* ---- Jobs ---- */

bool jobs_known(const struct jobs *j, const char *namespace_, const char **trouble)
{
	(void)j;
	assert(!strcmp(namespace_, "shop"));
	fake->jobs_looked_at++;
	*trouble = fake->jobs_trouble;
	return !fake->jobs_unknown;
}

struct jobs_tally jobs_tally(const struct jobs *j, const char *owner)
{
	(void)j;
	assert(is_job(owner) && !fake->jobs_unknown);
	fake->jobs_looked_at++;
	return fake->tally;
}

/* ---- Targets, journal, health ---- */

enum target_state targets_get(const struct targets *t, const char *owner_key, const struct workload **out)
{
	(void)t;
	assert(!strcmp(owner_key, KEY));
	*out = fake->workload;
	return fake->workload ? TARGET_PRESENT : TARGET_UNREAD;
}

const char *targets_trouble(const struct targets *t, const char *owner_key)
{
	(void)t;
	(void)owner_key;
	return fake->target_trouble;
}

const struct journal_object *journal_get(const struct journal *j, const char *key)
{
	(void)j;
	return is_job(key) ? fake->job_journal : fake->journal;
}

int32_t health_failures(const struct health *h, const char *key, const char *metric)
{
	(void)h;
	assert((!strcmp(key, KEY) || is_job(key)) && !strcmp(metric, metric_name));
	return fake->failures;
}

/* ---- Surveys ---- */

/* value or err as the source has it. */
static void tell(const char *key, survey_fn fn, void *arg, double value, int64_t answered_at_ms, const struct err *err)
{
	const struct scaler *list[] = { &all[0] };
	struct scale_trigger said = { .metric_name = metric_name,
		.source_err = err,
		.err = fake->falls_back ? NULL : err,
		.falling_back = err && fake->falls_back,
		.reading = { value, value > 0 } };
	struct survey_result result = { .of = is_job(key) ? scaled_of_job(fake->job) : scaled_of_object(the_object()),
		.scalers = list,
		.triggers = &said,
		.count = 1,
		.answered_at_ms = err ? 0 : answered_at_ms };

	said.fallback_replicas = fake->fallback_replicas;
	said.fallback_trouble = err ? fake->no_fallback : NULL;
	result.composite = is_job(key) ? NULL : fake->composite;
	fn(arg, &result);
}

static bool tell_unknown(const char *key, const char *metric, survey_fn fn, void *arg)
{
	struct err err = { 0 };
	struct survey_result result = { .err = &err };

	if (!metric || (fake->composite && !strcasecmp(metric, VERDICT_COMPOSITE_NAME)))
		metric = metric_name;
	if (!lacks(key, metric, &err))
		return false;
	fn(arg, &result);
	return true;
}

bool survey_peek(struct cache *cache, const char *key, const struct survey_terms *terms, survey_fn fn, void *arg)
{
	struct answer answer = { 0 };
	struct err err = { 0 };

	(void)cache;
	fake->cached = terms->cached;
	if (tell_unknown(key, terms->metric, fn, arg))
		return true;
	switch (readings_peek(NULL, &question, terms->max_age_ms, &answer, &err)) {
	case READINGS_NONE: return false;
	case READINGS_FAILURE: tell(key, fn, arg, fake->value, 0, &err); return true;
	case READINGS_ANSWER: tell(key, fn, arg, answer.value, answer.answered_at_ms, NULL);
	}
	return true;
}

struct survey *survey_start(struct cache *cache, const char *key, const struct survey_terms *terms, survey_fn fn,
	void *arg)
{
	(void)cache;
	(void)key;
	assert(!fake->fn);
	fake->asked++;
	fake->fn = fn;
	fake->arg = arg;
	fake->max_age_ms = terms->max_age_ms;
	fake->deadline_ms = terms->deadline_ms;
	return (struct survey *)fake;
}

void survey_cancel(struct survey *s)
{
	if (!s)
		return;
	fake->cancelled++;
	fake->fn = NULL;
}

static survey_fn take_wait(struct fake_cache *f)
{
	survey_fn fn = f->fn;

	f->fn = NULL;
	return fn;
}

/* The object may have gone meanwhile. */
static void end_wait(struct fake_cache *f, double value, const struct err *err)
{
	survey_fn fn = take_wait(f);

	if (!tell_unknown(KEY, metric_name, fn, f->arg))
		tell(KEY, fn, f->arg, value, loop_now_ms(f->cache.loop), err);
}

void fake_cache_answer(struct fake_cache *f, double value)
{
	end_wait(f, value, NULL);
}

void fake_cache_fail(struct fake_cache *f, const char *message)
{
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s", message);
	end_wait(f, 0, &err);
}

/* Whatever has a question is watched. */
enum pushes_state pushes_report(const struct pushes *p, const struct question *q, struct watch_report *report)
{
	(void)p;
	if (!q)
		return PUSHES_NONE;
	*report = (struct watch_report){ .state = WATCH_OFF, .why = "turn it on" };
	return PUSHES_REPORTED;
}

struct pushes_stats pushes_stats(const struct pushes *p)
{
	(void)p;
	return (struct pushes_stats){ .watches = { [WATCH_ON] = 3, [WATCH_OFF] = 1 } };
}

struct readings_stats readings_stats(const struct readings *r)
{
	(void)r;
	return (struct readings_stats){ .entries = 1, .questions = (uint64_t)fake->asked };
}
