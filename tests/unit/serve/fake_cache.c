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
static struct scaler named[MEM_COUNT(all)];
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

/* The present record; NULL: none. */
static struct object *record_of(enum scaled_kind kind)
{
	static char object_key[] = KEY, job_key[STORE_KEY_MAX], uid[] = "uid";
	struct object *o = &fake->records[kind];

	if (kind == SCALED_JOB ? !fake->job : fake->object_gone)
		return NULL;
	if (kind == SCALED_JOB)
		store_job_key(fake->job->meta.namespace_, fake->job->meta.name, job_key);
	*o = (struct object){ .key = kind == SCALED_JOB ? job_key : object_key,
		.path = kind == SCALED_JOB ? strchr(job_key, '/') + 1 : object_key,
		.uid = uid,
		.kind = kind,
		.references = 1,
		.of = kind == SCALED_JOB ? scaled_of_job(fake->job) : scaled_of_object(the_object()) };
	return o;
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

struct object *store_find(const struct store *s, enum scaled_kind kind, const char *namespace_, const char *name)
{
	struct object *o = record_of(kind);

	(void)s;
	return o && !strcmp(namespace_, o->of.meta->namespace_) && !strcmp(name, o->of.meta->name) ? o : NULL;
}

void store_each_object(const struct store *s, void (*fn)(void *arg, struct object *o), void *arg)
{
	(void)s;
	fake->walks++;
	for (enum scaled_kind kind = SCALED_OBJECT; kind <= SCALED_JOB; kind++)
		if (record_of(kind))
			fn(arg, record_of(kind));
}

bool store_synced_scaledjobs(const struct store *s, const char **trouble)
{
	(void)s;
	*trouble = fake->scaledjobs_trouble;
	return !fake->jobs_unsynced;
}

void store_each_triggerauth(const struct store *s, void (*fn)(void *arg, const struct triggerauth *t), void *arg)
{
	static char none[] = "", redis[] = "redis";
	static const struct triggerauth namespaced = { .meta = { .namespace_ = namespace_name, .name = redis } },
					cluster = { .meta = { .namespace_ = none, .name = redis } };

	(void)s;
	fn(arg, &namespaced);
	fn(arg, &cluster);
}

void cache_listen(struct cache *c, const struct store_events *events, void *arg)
{
	assert(c == &fake->cache);
	fake->events = *events;
	fake->events_arg = arg;
}

const struct hpa *store_hpa_named(const struct store *s, const struct scaledobject *so)
{
	char name[254];

	(void)s;
	scaledobject_hpa_name(so, name, sizeof(name));
	return !strcmp(so->meta.namespace_, "shop") && !strcmp(name, "keda-hpa-web") ? fake->hpa : NULL;
}

static void tell_gone(struct fake_cache *f, struct object *o)
{
	o->gone = true;
	o->of = (struct scaled){ .kind = o->kind };
	if (f->events.on_object)
		f->events.on_object(f->events_arg, o, OBJECT_GONE);
}

void fake_cache_remove_object(struct fake_cache *f)
{
	struct object *o = record_of(SCALED_OBJECT);

	f->object_gone = true;
	tell_gone(f, o);
}

void fake_cache_remove_job(struct fake_cache *f)
{
	struct object *o = record_of(SCALED_JOB);

	f->job = NULL;
	tell_gone(f, o);
}

/* ---- Scalers ---- */

int scalers_get(struct scalers *s, struct object *o, struct built *out, struct err *err)
{
	(void)s;
	if (o->gone)
		return err_set(err, ERR_MISSING, "scaledobject %s not found", o->path);
	if (fake->build_error != ERR_NONE)
		return err_set(err, fake->build_error, "trigger 0 (redis): listName is missing");
	memcpy(named, all, sizeof(all));
	named[0].trigger_name = fake->trigger_name;
	*out = (struct built){ .list = o->kind == SCALED_OBJECT ? named : all,
		.count = fake->resource_trigger ? 2 : 1 };
	return 0;
}

const struct scaler_type *scaler_type_find(const char *name)
{
	return strcmp(name, "redis") == 0 || strcmp(name, "cron") == 0 ? &type : NULL;
}

/* Whether the metric is missing, and why. */
static bool lacks(struct object *o, const char *metric, struct err *err)
{
	struct built built;

	if (scalers_get(NULL, o, &built, err))
		return true;
	return strcasecmp(metric, all[0].metric_name) &&
		err_set(err, ERR_MISSING, "ScaledObject %s has no metric %s", o->path, metric);
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
	answer->rest_ms = fake->rest_ms;
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
	assert(fake->job && !strcmp(owner, record_of(SCALED_JOB)->key) && !fake->jobs_unknown);
	fake->jobs_looked_at++;
	return fake->tally;
}

/* ---- Targets, journal, health ---- */

enum target_state targets_get(const struct object *o, const struct workload **out)
{
	assert(o->kind == SCALED_OBJECT);
	*out = fake->workload;
	return fake->workload ? TARGET_PRESENT : TARGET_UNREAD;
}

const char *targets_trouble(const struct object *o)
{
	(void)o;
	return fake->target_trouble;
}

const struct journal_object *journal_get(const struct object *o)
{
	return o->kind == SCALED_JOB ? fake->job_journal : fake->journal;
}

int32_t health_failures(const struct health *h, const struct object *o, const char *metric)
{
	(void)h;
	(void)o;
	assert(!strcmp(metric, metric_name));
	return fake->failures;
}

/* ---- Surveys ---- */

/* value or err as the source has it. */
static void tell(const struct object *o, survey_fn fn, void *arg, double value, int64_t answered_at_ms,
	const struct err *err)
{
	const struct scaler *list[] = { &all[0] };
	struct verdict_trigger said = { .metric_name = metric_name,
		.source_err = err,
		.err = fake->falls_back ? NULL : err,
		.falling_back = err && fake->falls_back,
		.reading = { value, value > 0 } };
	struct survey_result result = { .of = o->of,
		.scalers = list,
		.triggers = &said,
		.count = 1,
		.answered_at_ms = err ? 0 : answered_at_ms };

	said.fallback_replicas = fake->fallback_replicas;
	said.fallback_trouble = err ? fake->no_fallback : NULL;
	result.composite = o->kind == SCALED_JOB ? NULL : fake->composite;
	fn(arg, &result);
}

static bool tell_unknown(struct object *o, const char *metric, survey_fn fn, void *arg)
{
	struct err err = { 0 };
	struct survey_result result = { .err = &err };

	if (!metric || (fake->composite && !strcasecmp(metric, VERDICT_COMPOSITE_NAME)))
		metric = metric_name;
	if (!lacks(o, metric, &err))
		return false;
	fn(arg, &result);
	return true;
}

bool survey_peek(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn, void *arg)
{
	struct answer answer = { 0 };
	struct err err = { 0 };

	(void)cache;
	fake->cached = terms->cached;
	fake->surveyed_one |= terms->metric != NULL;
	fake->counted = terms->counted;
	if (tell_unknown(o, terms->metric, fn, arg))
		return true;
	switch (readings_peek(NULL, &question, terms->max_age_ms, &answer, &err)) {
	case READINGS_NONE: return false;
	case READINGS_FAILURE: tell(o, fn, arg, fake->value, 0, &err); return true;
	case READINGS_ANSWER: tell(o, fn, arg, answer.value, answer.answered_at_ms, NULL);
	}
	return true;
}

struct survey *survey_start(struct cache *cache, struct object *o, const struct survey_terms *terms, survey_fn fn,
	void *arg)
{
	(void)cache;
	(void)o;
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
	struct object *o = f->object_gone ? &f->records[SCALED_OBJECT] : record_of(SCALED_OBJECT);

	if (!tell_unknown(o, metric_name, fn, f->arg))
		tell(o, fn, f->arg, value, loop_now_ms(f->cache.loop), err);
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
enum pushes_state pushes_report(const struct question *q, struct watch_report *report)
{
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
