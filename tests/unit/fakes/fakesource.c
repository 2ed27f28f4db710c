/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakesource.h"

#include "base/hash.h"
#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/resource.h"

#define ANSWER_MS 1

struct source {
	char *name;
	bool hangs;
	char *failure; /* NULL: it answers */
	double value;
	unsigned asked;
	UT_hash_handle hh;
};

static struct {
	struct source *sources;
	unsigned asked, under_way;
} fake;

static const struct scaler_type scripted;

void fakesource_start(void)
{
	memset(&fake, 0, sizeof(fake));
}

void fakesource_end(void)
{
	struct source *s, *next;

	assert_int_equal(fake.under_way, 0);
	HASH_ITER(hh, fake.sources, s, next) {
		HASH_DEL(fake.sources, s);
		free(s->failure);
		free(s->name);
		free(s);
	}
}

static struct source *source_get(const char *name)
{
	struct source *s;

	HASH_FIND_STR(fake.sources, name, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->name = mem_dup(name);
	HASH_ADD_KEYPTR(hh, fake.sources, s->name, strlen(s->name), s);
	return s;
}

static void source_set(const char *name, bool hangs, const char *failure, double value)
{
	struct source *s = source_get(name);

	free(s->failure);
	s->failure = mem_dup(failure);
	s->hangs = hangs;
	s->value = value;
}

void fakesource_answer(const char *source, double value)
{
	source_set(source, false, NULL, value);
}

void fakesource_fail(const char *source, const char *message)
{
	source_set(source, false, message, 0);
}

void fakesource_hang(const char *source)
{
	source_set(source, true, "timed out", 0);
}

unsigned fakesource_asked(const char *source)
{
	return source ? source_get(source)->asked : fake.asked;
}

/* --- the type ----------------------------------------------------------------------------------------------------------------- */

struct ask {
	struct loop_timer timer;
	struct source *source;
	question_fn fn;
	void *arg;
};

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	static const struct param p_source = { { "source" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, true };
	static const struct param p_threshold = { { "threshold" }, { PARAM_METADATA }, false };
	static const struct param p_activation = { { "activation" }, { PARAM_METADATA }, false };
	int64_t threshold = 5, activation = 0;
	char *name;

	if (param_int64(params, &p_threshold, &threshold, err) || param_int64(params, &p_activation, &activation, err) || param_metric_type(params, &out->target_type, err) ||
	    param_text(params, &p_source, &name, err))
		return -1;
	out->target = quantity_from_int(threshold);
	out->activation = (double)activation;
	out->question = question_new(&scripted, mem_printf("scripted %s", name), mem_printf("source %s", name), name);
	*metric_name = mem_printf("scripted-%s", name);
	return 0;
}

static void ask_free(struct ask *a)
{
	fake.under_way--;
	loop_timer_done(&a->timer);
	free(a);
}

static void on_answer(void *arg)
{
	struct ask a = *(struct ask *)arg;
	struct err err = { 0 };

	ask_free(arg);
	if (a.source->failure)
		err_set(&err, ERR_TEMPORARY, "source %s: %s", a.source->name, a.source->failure);
	a.fn(a.arg, a.source->failure ? NULL : &(struct answer){ .value = a.source->value }, a.source->failure ? &err : NULL);
}

static void *ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn, void *arg)
{
	struct ask *a = mem_zalloc(sizeof(*a));

	a->source = source_get(question->data);
	a->source->asked++;
	fake.asked++;
	fake.under_way++;
	a->fn = fn;
	a->arg = arg;
	loop_timer_init(&a->timer, sources->loop, on_answer, a);
	loop_timer_set(&a->timer, a->source->hangs ? deadline_ms - loop_now_ms(sources->loop) : ANSWER_MS);
	return a;
}

static void cancel(void *handle)
{
	ask_free(handle);
}

static const struct scaler_type scripted = { .name = "scripted", .go_name = "scriptedScaler", .build = build, .ask = ask, .cancel = cancel, .free_data = free };

const struct scaler_type *scaler_type_find(const char *name)
{
	if (strcmp(name, resource_cpu_scaler_type.name) == 0)
		return &resource_cpu_scaler_type;
	return strcmp(name, scripted.name) == 0 ? &scripted : NULL;
}

const char *scaler_type_names(void)
{
	return scripted.name;
}
