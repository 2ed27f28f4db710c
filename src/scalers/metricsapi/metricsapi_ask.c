/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a question: to one URL, or lists the EndpointSlices of a Service and asks its pods, a few
 * at a time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client.h"
#include "net/http/httpurl.h"
#include "net/loop.h"
#include "scalers/http/httppauses.h"
#include "scalers/metricsapi/metricsapi_parts.h"
#include "scalers/sources.h"

#define AT_ONCE 5 /* pods; as in KEDA */

struct metricsapi_ask;

/* One server. */
struct asked_server {
	struct metricsapi_ask *ask;
	char *url; /* owned */
	struct webauth auth;
	struct metricsapi_reader reader;
};

struct metricsapi_ask {
	struct scaler_ask base;
	struct kube_call *listing;    /* the EndpointSlices; NULL before and after */
	struct asked_server *targets; /* owned */
	size_t count, started, under_way, good;
	double sum, max, min;
	struct err err;          /* the first failure */
	struct loop_task unsent; /* reports err after the ask has begun */
};

static const struct metricsapi_question *question_of(const struct metricsapi_ask *ask)
{
	return ask->base.question->data;
}

static void free_targets(struct metricsapi_ask *ask)
{
	for (size_t i = 0; i < ask->count; i++) {
		webauth_done(&ask->targets[i].auth);
		metricsapi_reader_done(&ask->targets[i].reader);
		free(ask->targets[i].url);
	}
	free(ask->targets);
}

/* ---- The answer ---- */

static void fail(struct metricsapi_ask *ask)
{
	free_targets(ask);
	scaler_ask_end(ask, 0, &ask->err);
}

static double aggregate(const struct metricsapi_ask *ask)
{
	switch (question_of(ask)->aggregation) {
	case METRICSAPI_AVERAGE: return ask->sum / (double)ask->good;
	case METRICSAPI_SUM: return ask->sum;
	case METRICSAPI_MAX: return ask->max;
	case METRICSAPI_MIN: return ask->min;
	}
	return NAN;
}

static void finish(struct metricsapi_ask *ask)
{
	double value = aggregate(ask);

	if (!isfinite(value)) {
		err_set(&ask->err, ERR_INVALID, "%s: the values of the endpoints together are too large",
			ask->base.question->source);
		fail(ask);
		return;
	}
	free_targets(ask);
	scaler_ask_end(ask, value, NULL);
}

/* Whether failed servers may be ignored: only a minimum can then not be too low. */
static bool rest_is_enough(const struct metricsapi_ask *ask)
{
	return question_of(ask)->aggregates && question_of(ask)->aggregation == METRICSAPI_MIN;
}

/* ---- The servers ---- */

static void start_more(struct metricsapi_ask *ask);

/* Transport errors usually name the server, after redirects the last one. */
static void note_failure(struct asked_server *target, const struct err *failure)
{
	struct metricsapi_ask *ask = target->ask;
	char origin[256];

	if (ask->err.kind != ERR_NONE)
		return;
	ask->err = *failure;
	if (strncmp(failure->msg, "http", 4) != 0)
		err_wrap(&ask->err, "%s", httpurl_origin(target->url, origin, sizeof(origin)));
	if (question_of(ask)->aggregates)
		err_wrap(&ask->err, "%s: one of %zu endpoints", ask->base.question->source, ask->count);
	else
		err_wrap(&ask->err, "metrics-api");
}

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct asked_server *target = arg;

	(void)err;
	out->url = mem_dup(target->url);
	out->max_body = metricsapi_reads_pieces(question_of(target->ask)) ? METRICSAPI_STREAM_MAX : METRICSAPI_TREE_MAX;
	return EXCHANGE_SEND;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct asked_server *target = arg;
	struct metricsapi_ask *ask = target->ask;
	const struct metricsapi_question *q = question_of(ask);
	double value = 0;

	/* Not for the pods of a Service, which come and go. */
	if (response->status && !q->aggregates)
		httppauses_heed(ask->base.sources->pauses, target->url, q->login.access, response);
	if (!response->status && !target->reader.refused) {
		*err = *response->transport;
		return EXCHANGE_FAILED;
	}
	if (metricsapi_number(q, response->status ? response : NULL, &target->reader, &value, err))
		return EXCHANGE_FAILED;
	ask->max = ask->good == 0 || value > ask->max ? value : ask->max;
	ask->min = ask->good == 0 || value < ask->min ? value : ask->min;
	ask->sum += value;
	ask->good++;
	return EXCHANGE_DONE;
}

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *buffered, struct err *err)
{
	struct asked_server *target = arg;

	(void)err;
	return metricsapi_feed(&target->reader, bytes, len, buffered);
}

static void on_end(void *arg, const struct err *err)
{
	struct asked_server *target = arg;
	struct metricsapi_ask *ask = target->ask;
	bool all;

	ask->under_way--;
	if (err)
		note_failure(target, err);
	metricsapi_reader_done(&target->reader);
	all = ask->started == ask->count && ask->under_way == 0;
	if (ask->err.kind != ERR_NONE && (!rest_is_enough(ask) || (all && ask->good == 0)))
		fail(ask);
	else if (all)
		finish(ask);
	else
		start_more(ask);
}

static const struct exchange_kind asking = { .next = on_next, .read = on_read, .piece = on_piece, .end = on_end };

static void start_more(struct metricsapi_ask *ask)
{
	const struct metricsapi_question *q = question_of(ask);

	while (ask->started < ask->count && ask->under_way < AT_ONCE) {
		struct asked_server *target = &ask->targets[ask->started++];

		ask->under_way++;
		metricsapi_reader_init(&target->reader, q);
		target->auth.tokens = ask->base.sources->tokens;
		target->auth.exchange = (struct exchange){ .loop = ask->base.sources->loop,
			.client = ask->base.sources->web,
			.options = { .access = q->login.access,
				.timeout_ms = q->login.timeout_ms,
				.deadline_ms = ask->base.deadline_ms,
				.asker = ask->base.question->type->name,
				.namespace_ = ask->base.question->namespace_ },
			.steps_max = 1,
			.pieces = metricsapi_reads_pieces(q) };
		webauth_start(&target->auth, &asking, target);
	}
}

/* Takes ownership of the URLs and the array. */
static void start_targets(struct metricsapi_ask *ask, char **urls, size_t count)
{
	ask->targets = mem_array(count, sizeof(*ask->targets));
	ask->count = count;
	for (size_t i = 0; i < count; i++) {
		ask->targets[i].ask = ask;
		ask->targets[i].url = urls[i];
	}
	free(urls);
	start_more(ask);
}

/* ---- A Service ---- */

static void on_slices(void *arg, const json_t *list, const struct err *failure)
{
	struct metricsapi_ask *ask = arg;
	const struct metricsapi_question *q = question_of(ask);
	char **urls;
	size_t count;

	ask->listing = NULL;
	if (failure) {
		ask->err = *failure;
		err_wrap(&ask->err, "%s: reading the EndpointSlices of Service %s/%s", ask->base.question->source,
			q->service.namespace_, q->service.service);
		fail(ask);
	} else if (serviceurls_of(&q->service, list, &urls, &count, &ask->err)) {
		err_wrap(&ask->err, "%s", ask->base.question->source);
		fail(ask);
	} else {
		start_targets(ask, urls, count);
	}
}

/* ---- A URL ---- */

static void on_unsent(void *arg)
{
	fail(arg);
}

static void start_one(struct metricsapi_ask *ask)
{
	const struct metricsapi_question *q = question_of(ask);
	char **one;

	if (httppauses_check(ask->base.sources->pauses, q->login.url, q->login.access, &ask->err)) {
		err_wrap(&ask->err, "metrics-api");
		loop_task_queue(ask->base.sources->loop, &ask->unsent);
		return;
	}
	one = mem_array(1, sizeof(*one));
	one[0] = mem_dup(q->login.url);
	start_targets(ask, one, 1);
}

static void ask(void *handle)
{
	struct metricsapi_ask *a = handle;
	struct scaler_sources *sources = a->base.sources;

	loop_task_init(&a->unsent, on_unsent, a);
	if (question_of(a)->aggregates) {
		MEM_AUTO char *path = serviceurls_request(&question_of(a)->service);
		int64_t left_ms = a->base.deadline_ms - loop_now_ms(sources->loop);
		struct kube_request request = { .verb = KUBE_LIST,
			.path = path,
			.deadline_ms = left_ms > 0 ? left_ms : 1,
			.priority = KUBE_NORMAL };

		a->listing = kube_call(sources->kube, &request, on_slices, a);
	} else {
		start_one(a);
	}
}

static void cancel(void *handle)
{
	struct metricsapi_ask *ask = handle;

	kube_cancel(ask->listing);
	loop_task_cancel(ask->base.sources->loop, &ask->unsent);
	free_targets(ask);
}

const struct scaler_asker metricsapi_asker = { sizeof(struct metricsapi_ask), .ask = ask, .cancel = cancel };
