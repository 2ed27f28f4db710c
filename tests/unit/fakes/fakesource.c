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
#include "scalers/sources.h"
#include "scalers/types.h"

#define ANSWER_MS 1

struct source {
	char *name;
	bool hangs;
	char *failure; /* NULL: it answers */
	double value;
	int64_t rest_ms;
	unsigned asked, described;
	char *metrics; /* NULL: it cannot say which there are */
	struct scripted_watch *watches;
	struct watch_report report;
	UT_hash_handle hh;
};

static struct {
	struct source *sources;
	unsigned asked, under_way, watched, watches_begun;
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
	assert_int_equal(fake.watched, 0);
	HASH_ITER (hh, fake.sources, s, next) {
		HASH_DEL(fake.sources, s);
		free(s->failure);
		free(s->metrics);
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
	s->report = (struct watch_report){ .state = WATCH_ON, .why = "" };
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

void fakesource_rest(const char *source, int64_t ms)
{
	source_get(source)->rest_ms = ms;
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

/* ---- The type ---- */

struct ask {
	struct scaler_ask base;
	struct loop_timer timer;
	struct source *source;
};

struct scripted {
	char *source;
};

#define AT(field) offsetof(struct scripted, field)
static const struct param_row rows[] = {
	{ "threshold", PARAM_WHOLE_TARGET, "m", .otherwise = "5" },
	{ "activation", PARAM_WHOLE_ACTIVATION, "m", .otherwise = "0" },
	{ "source", PARAM_TEXT, "mae", AT(source), .required = true },
};
static const struct param_table table = PARAM_TABLE(rows);

static int build(struct scaler_build *b, struct err *err)
{
	const struct scripted *q = b->data;

	if (b->open)
		return 0;
	if (strcmp(q->source, "forbidden") == 0)
		return err_set(err, ERR_DENIED, "forbidden here");
	if (strcmp(q->source, "secret") == 0 && b->params->secrets_denied)
		return err_set(err, ERR_INVALID, "Secret s is not read: %s", b->params->secrets_denied);
	b->metric_name = mem_printf("scripted-%s", q->source);
	b->source = mem_printf("source %s", q->source);
	return 0;
}

static struct source *source_of(const struct question *question)
{
	return source_get(((const struct scripted *)question->data)->source);
}

static void cancel(void *handle)
{
	struct ask *a = handle;

	fake.under_way--;
	loop_timer_done(&a->timer);
}

static void on_answer(void *arg)
{
	struct ask *a = arg;
	const struct source *s = a->source;
	struct err err = { 0 };

	cancel(a);
	if (s->failure)
		err_set(&err, ERR_TEMPORARY, "source %s: %s", s->name, s->failure);
	scaler_ask_answer(a, &(struct answer){ .value = s->value, .rest_ms = s->rest_ms }, s->failure ? &err : NULL);
}

static void ask(void *handle)
{
	struct ask *a = handle;
	struct loop *loop = a->base.sources->loop;

	a->source = source_of(a->base.question);
	a->source->asked++;
	fake.asked++;
	fake.under_way++;
	loop_timer_init(&a->timer, loop, on_answer, a);
	loop_timer_set(&a->timer, a->source->hangs ? a->base.deadline_ms - loop_now_ms(loop) : ANSWER_MS);
}

static const struct scaler_asker asker = { sizeof(struct ask), ask, cancel };

/* ---- Push ---- */

struct scripted_watch {
	struct source *source;
	question_look_fn look;
	void *arg;
	struct scripted_watch *next;
};

static void *watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	struct scripted_watch *w = mem_zalloc(sizeof(*w));

	(void)sources;
	w->source = source_of(question);
	w->look = look;
	w->arg = arg;
	w->next = w->source->watches;
	w->source->watches = w;
	fake.watched++;
	fake.watches_begun++;
	return w;
}

static void unwatch(void *handle)
{
	struct scripted_watch *w = handle, **at = &w->source->watches;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	fake.watched--;
	free(w);
}

static struct watch_report watch_report(const void *handle)
{
	return ((const struct scripted_watch *)handle)->source->report;
}

unsigned fakesource_watched(const char *source)
{
	unsigned count = 0;

	for (const struct scripted_watch *w = source_get(source)->watches; w; w = w->next)
		count++;
	return count;
}

unsigned fakesource_watches_begun(void)
{
	return fake.watches_begun;
}

void fakesource_look(const char *source)
{
	for (const struct scripted_watch *w = source_get(source)->watches; w; w = w->next)
		w->look(w->arg);
}

void fakesource_report(const char *source, enum watch_state state, const char *why, bool tell)
{
	source_get(source)->report = (struct watch_report){ .state = state, .why = why, .tell = tell };
}

static const struct scaler_type scripted = {
	.name = "scripted",
	.tables = { &table },
	.go_name = "scriptedScaler",
	.data_size = sizeof(struct scripted),
	.build = build,
	.asker = &asker,
	.watch = watch,
	.unwatch = unwatch,
	.watch_report = watch_report,
};

static const struct scaler_type leaving = {
	.name = "leaving",
	.go_name = "leavingScaler",
	.announced = "This scaler is deprecated.",
	.tables = { &table },
	.data_size = sizeof(struct scripted),
	.build = build,
	.asker = &asker,
};

/* As kscaled itself, if it may. */
static int build_owning(struct scaler_build *b, struct err *err)
{
	if (!b->params->identity || !b->params->identity->may_be_kscaled)
		return err_set(err, ERR_INVALID, "asks for kscaled's own identity");
	return build(b, err);
}

static const struct scaler_type owning = {
	.name = "owning",
	.go_name = "owningScaler",
	.tables = { &table },
	.data_size = sizeof(struct scripted),
	.build = build_owning,
	.asker = &asker,
};

/* ---- One that names its metrics ---- */

static const struct scaler_type telling;

void fakesource_describe(const char *source, const char *metrics)
{
	struct source *s = source_get(source);

	free(s->metrics);
	s->metrics = mem_dup(metrics);
}

unsigned fakesource_described(const char *source)
{
	return source_get(source)->described;
}

struct describing {
	struct loop_timer timer;
	struct source *source;
	describe_fn fn;
	void *arg;
};

static void describing_free(struct describing *d)
{
	fake.under_way--;
	loop_timer_done(&d->timer);
	free(d);
}

static void on_described(void *arg)
{
	struct describing d = *(struct describing *)arg;
	struct description description = { 0 };
	struct err err = { 0 };
	char *copy = mem_dup(d.source->metrics), *rest = copy, *piece;

	describing_free(arg);
	while (rest && (piece = strsep(&rest, ",")) != NULL) {
		char *target = strchr(piece, ':');

		*target = '\0';
		description_add(&description, piece, quantity_from_int(atoi(target + 1)));
	}
	free(copy);
	if (!d.source->metrics)
		err_set(&err, ERR_TEMPORARY, "source %s: says nothing", d.source->name);
	d.fn(d.arg, d.source->metrics ? &description : NULL, d.source->metrics ? NULL : &err);
	description_done(&description);
}

static void *describe(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, describe_fn fn,
	void *arg)
{
	struct describing *d = mem_zalloc(sizeof(*d));

	(void)deadline_ms;
	d->source = source_of(question);
	d->source->described++;
	d->fn = fn;
	d->arg = arg;
	fake.under_way++;
	loop_timer_init(&d->timer, sources->loop, on_described, d);
	loop_timer_set(&d->timer, ANSWER_MS);
	return d;
}

static void describe_cancel(void *handle)
{
	describing_free(handle);
}

static struct question *narrow(const struct question *question, const char *metric, size_t position)
{
	struct scripted *q = mem_zalloc(sizeof(*q));

	(void)position;
	q->source = mem_dup(((const struct scripted *)question->data)->source);
	return question_new(&telling, mem_printf("%s %s", question->key, metric), mem_dup(question->source), q);
}

static const struct param_row telling_row = { "source", PARAM_TEXT, "m", AT(source), .required = true };
static const struct param_table telling_table = { &telling_row, 1, false };

static int build_telling(struct scaler_build *b, struct err *err)
{
	const struct scripted *q = b->data;

	(void)err;
	b->scaler->undescribed = true;
	b->scaler->target = quantity_from_int(1);
	b->source = mem_printf("source %s", q->source);
	b->metric_name = mem_dup("telling");
	return 0;
}

static const struct scaler_type telling = {
	.name = "telling",
	.go_name = "tellingScaler",
	.tables = { &telling_table },
	.data_size = sizeof(struct scripted),
	.build = build_telling,
	.asker = &asker,
	.describe = describe,
	.describe_cancel = describe_cancel,
	.narrow = narrow,
};

const struct scaler_type *scaler_type_find(const char *name)
{
	if (strcmp(name, resource_cpu_scaler_type.name) == 0)
		return &resource_cpu_scaler_type;
	if (strcmp(name, telling.name) == 0)
		return &telling;
	if (strcmp(name, leaving.name) == 0)
		return &leaving;
	if (strcmp(name, owning.name) == 0)
		return &owning;
	return strcmp(name, scripted.name) == 0 ? &scripted : NULL;
}

const char *scaler_type_names(void)
{
	return scripted.name;
}
