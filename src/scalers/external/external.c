/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types external and external-push (doc/keda.md 8.14): the user's own gRPC server reports
 * which metrics a trigger has, their values, and whether the trigger is active. external-push also
 * keeps a stream on which the server reports activity.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "scalers/external/externalmessages.h"
#include "scalers/external/externalpush.h"
#include "scalers/external/externalquestion.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define SERVICE "/externalscaler.ExternalScaler/"

/* Starts a call about a question. arg begins with a struct scaler_ask. */
static struct grpc_call *call(void *arg, const char *method, void (*put)(void *arg, struct buf *message), grpc_fn fn)
{
	const struct scaler_ask *ask = arg;
	const struct externalquestion *q = ask->question->data;
	struct grpc_request request = { .method = method,
		.namespace_ = q->source->namespace_,
		.put = put,
		.deadline_ms = ask->deadline_ms,
		.fn = fn,
		.arg = arg };

	return grpc_unary(ask->sources->grpc, q->source->endpoint, &request);
}

static void put_reference(void *arg, struct buf *message)
{
	const struct externalquestion *q = ((const struct scaler_ask *)arg)->question->data;
	const struct buf *reference = &q->source->reference;

	buf_reserve(message, reference->len);
	buf_append(message, buf_text(reference), reference->len);
}

static void put_request(void *arg, struct buf *message)
{
	const struct externalquestion *q = ((const struct scaler_ask *)arg)->question->data;

	externalmessages_put(message, q->source->namespace_, q->source->object, &q->source->metadata, q->metric);
}

/* ---- Describing ---- */

struct describe {
	struct scaler_ask base; /* fn is unused */
	struct grpc_call *call;
	describe_fn fn;
};

static void on_specs(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct describe *d = arg;
	struct description description = { 0 };
	struct err err = failure ? *failure : (struct err){ 0 };

	if (!failure && externalmessages_get_description(bytes, len, &description, &err))
		err_wrap(&err, "GetMetricSpec");
	if (err.kind != ERR_NONE) {
		externalquestion_name_error(d->base.question, &err);
		d->fn(d->base.arg, NULL, &err);
	} else {
		d->fn(d->base.arg, &description, NULL);
	}
	description_done(&description);
	scaler_ask_free(d);
}

static void *external_describe(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
	describe_fn fn, void *arg)
{
	struct describe *d = scaler_ask_new(sizeof(*d),
		&(struct scaler_ask){ .question = question,
			.sources = sources,
			.deadline_ms = deadline_ms,
			.arg = arg });

	d->fn = fn;
	d->call = call(d, SERVICE "GetMetricSpec", put_reference, on_specs);
	return d;
}

static void external_describe_cancel(void *handle)
{
	struct describe *d = handle;

	grpc_cancel(d->call);
	scaler_ask_free(d);
}

/* ---- Asking ---- */

struct ask {
	struct scaler_ask base;
	struct grpc_call *value, *active; /* sent together over one connection; NULL once answered */
	void *describe;                   /* used instead while no metric is known */
	struct answer answer;
};

static void cancel_ask(void *handle)
{
	struct ask *a = handle;

	grpc_cancel(a->value);
	grpc_cancel(a->active);
	if (a->describe)
		external_describe_cancel(a->describe);
}

/* Continues after one of the two calls: fails, succeeds, or waits for the other. */
static void go_on(struct ask *a, struct err *err)
{
	bool failed = err->kind != ERR_NONE;

	if (!failed && (a->value || a->active))
		return;
	if (failed)
		externalquestion_name_error(a->base.question, err);
	cancel_ask(a);
	scaler_ask_answer(a, &a->answer, failed ? err : NULL);
}

static void on_value(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };

	a->value = NULL;
	if (!failure && externalmessages_get_value(bytes, len, &a->answer.value, &err))
		err_wrap(&err, "GetMetrics");
	go_on(a, &err);
}

static void on_active(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };
	bool active = false;

	a->active = NULL;
	if (!failure && externalmessages_get_active(bytes, len, &active, &err))
		err_wrap(&err, "IsActive");
	a->answer.activity = active ? ACTIVITY_ACTIVE : ACTIVITY_INACTIVE;
	go_on(a, &err);
}

/*
 * Without a metric there is no answer. The description leads to new questions at once
 * (cache/readings/descriptions).
 */
static void on_described(void *arg, const struct description *description, const struct err *failure)
{
	struct ask *a = arg;
	struct err err;

	(void)description;
	a->describe = NULL;
	err_set(&err, ERR_TEMPORARY, "%s: its metrics have just become known and are queried next",
		a->base.question->source);
	scaler_ask_end(a, 0, failure ? failure : &err);
}

static void start_ask(void *handle)
{
	struct ask *a = handle;
	const struct externalquestion *q = a->base.question->data;

	if (!q->metric) {
		a->describe = external_describe(a->base.sources, a->base.question, a->base.deadline_ms, on_described,
			a);
		return;
	}
	a->value = call(a, SERVICE "GetMetrics", put_request, on_value);
	a->active = call(a, SERVICE "IsActive", put_reference, on_active);
}

static const struct scaler_asker asker = { sizeof(struct ask), .ask = start_ask, .cancel = cancel_ask };

/* ---- Push ---- */

/* One stream per trigger: the first metric's question watches. */
static void *external_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct externalquestion *q = question->data;

	return q->metric && q->position == 0 ? externalpush_watch(sources, question, look, arg) : NULL;
}

#define EXTERNAL_TYPE(word, go_word, ...)                                                                              \
	{                                                                                                              \
		.name = (word), .go_name = (go_word), .tables = { &externalquestion_table },                           \
		.data_size = sizeof(struct externalquestion), .build = externalquestion_build,                         \
		.data_done = externalquestion_done, .asker = &asker, .describe = external_describe,                    \
		.describe_cancel = external_describe_cancel, .narrow = externalquestion_narrow, __VA_ARGS__            \
	}

const struct scaler_type external_scaler_type = EXTERNAL_TYPE("external", "externalScaler", .watch = NULL);
const struct scaler_type external_push_scaler_type = EXTERNAL_TYPE("external-push", "externalPushScaler",
	.watch = external_watch, .unwatch = externalpush_unwatch, .watch_report = externalpush_report);
