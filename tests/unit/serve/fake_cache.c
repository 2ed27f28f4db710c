/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define KEY "shop/web"

static struct fake_cache *fake; /* the one that a test has made: the real modules' pointers are not looked at */

static const struct scaler_type type = { .name = "redis", .go_name = "redisScaler" };
static char metric_name[] = "s0-redis-jobs";
static char question_key[] = "question", question_source[] = "redis 192.0.2.1:6379";
static struct question question = { .refs = 1, .key = question_key, .source = question_source, .type = &type };
static const struct scaler scaler = { .type = &type, .index = 0, .metric_name = metric_name, .question = &question };
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

/* --- store -------------------------------------------------------------------------------------------------------------------------------------- */

char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	snprintf(out, STORE_KEY_MAX, "%s/%s", namespace_, name);
	return out;
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
	return !fake->object_gone && !strcmp(key, KEY) ? &object : NULL;
}

void store_each_scaledobject(const struct store *s, void (*fn)(void *arg, const char *key, const struct scaledobject *so), void *arg)
{
	(void)s;
	if (!fake->object_gone)
		fn(arg, KEY, &object);
}

void store_listen(struct store *s, store_listener fn, void *arg)
{
	(void)s;
	fake->listener = fn;
	fake->listener_arg = arg;
}

void fake_cache_remove_object(struct fake_cache *f)
{
	f->object_gone = true;
	if (f->listener)
		f->listener(f->listener_arg, STORE_SCALEDOBJECT, KEY);
}

/* --- scalers ------------------------------------------------------------------------------------------------------------------------------------ */

int scalers_get(struct scalers *s, const char *key, struct built *out, struct err *err)
{
	(void)s;
	if (fake->object_gone || strcmp(key, KEY))
		return err_set(err, ERR_MISSING, "ScaledObject %s does not exist", key);
	if (fake->build_error != ERR_NONE)
		return err_set(err, fake->build_error, "trigger 0 (redis): listName is missing");
	*out = (struct built){ &scaler, 1 };
	return 0;
}

int scalers_find(struct scalers *s, const char *key, const char *metric, const struct scaler **out, struct err *err)
{
	struct built built;

	if (scalers_get(s, key, &built, err))
		return -1;
	if (strcasecmp(metric, scaler.metric_name))
		return err_set(err, ERR_MISSING, "ScaledObject %s has no metric %s", key, metric);
	*out = &scaler;
	return 0;
}

struct reading scaler_judge(const struct scaler *s, double value)
{
	(void)s;
	return (struct reading){ value, value > 0 };
}

/* --- readings ----------------------------------------------------------------------------------------------------------------------------------- */

enum readings_found readings_peek(struct readings *r, const struct question *q, int64_t max_age_ms, struct answer *answer, struct err *err)
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

struct readings_wait *readings_ask(struct readings *r, struct question *q, int64_t max_age_ms, int64_t deadline_ms, readings_fn fn, void *arg)
{
	(void)r;
	assert(q == &question && !fake->fn);
	fake->asked++;
	fake->fn = fn;
	fake->arg = arg;
	fake->max_age_ms = max_age_ms;
	fake->deadline_ms = deadline_ms;
	return (struct readings_wait *)fake;
}

void readings_cancel(struct readings_wait *w)
{
	if (!w)
		return;
	fake->cancelled++;
	fake->fn = NULL;
}

static readings_fn take_wait(struct fake_cache *f)
{
	readings_fn fn = f->fn;

	f->fn = NULL;
	return fn;
}

void fake_cache_answer(struct fake_cache *f, double value)
{
	struct answer answer = { value, loop_now_ms(f->cache.loop), loop_now_ms(f->cache.loop) };

	take_wait(f)(f->arg, &answer, NULL);
}

void fake_cache_fail(struct fake_cache *f, const char *message)
{
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s", message);
	take_wait(f)(f->arg, NULL, &err);
}

struct readings_stats readings_stats(const struct readings *r)
{
	(void)r;
	return (struct readings_stats){ .entries = 1, .questions = (uint64_t)fake->asked };
}
