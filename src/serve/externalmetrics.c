/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/externalmetrics.h"

#include <stdio.h>
#include <string.h>

#include "base/selector.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cache/survey.h"
#include "serve/page/kedascalers.h"
#include "serve/request.h"

#define LABEL "scaledobject.keda.sh/name"

/* ---- The object ---- */

/*
 * The name in a selector of this one label, as the HPA controller sends it; NULL: the selector must
 * be parsed.
 */
static const char *sole_name(const char *selector)
{
	const char *name = selector + strlen(LABEL "=");

	if (!text_begins(selector, LABEL "="))
		return NULL;
	return *name && selector_is_value(name, strlen(name)) ? name : NULL;
}

/* Puts the object's key into the request. Other labels of the selector are ignored, as by KEDA. */
static int find_key(struct request *r, struct err *err)
{
	const char *text = httpd_query(r->http, "labelSelector");
	const char *sole = text ? sole_name(text) : NULL;
	struct strmap labels = { 0 };
	int result = 0;
	const char *name;

	/* With an escaped slash, the key could be that of another kind. */
	if (strchr(r->namespace_, '/'))
		return err_set(err, ERR_INVALID, "\"%s\" cannot be the name of a namespace", r->namespace_);
	if (sole) {
		store_key(r->namespace_, sole, r->key);
		return 0;
	}
	if (selector_parse(text ? text : "", &labels, err))
		return err_wrap(err, "labelSelector");
	name = strmap_get(&labels, LABEL);
	if (name && *name)
		store_key(r->namespace_, name, r->key);
	else
		result = err_set(err, ERR_INVALID,
			"scaledObject name is not specified: say whose metric is meant with ?labelSelector=" LABEL
			"%%3D<name of the ScaledObject>");
	strmap_done(&labels);
	return result;
}

/* ---- Answers ---- */

static void reply_value(struct request *r, const char *metric, double value, int64_t answered_at_ms)
{
	struct serve *s = r->serve;
	int64_t age_ms = answered_at_ms ? loop_now_ms(s->loop) - answered_at_ms : 0;
	char quantity[QUANTITY_TEXT_MAX], time[TIMESTAMP_TEXT_MAX];
	struct buf *out = &s->reply;

	quantity_format(quantity_from_double(value), quantity);
	timestamp_format(timestamp_now_ms() - age_ms, time);
	buf_reset(out);
	buf_puts(out,
		"{\"kind\":\"ExternalMetricValueList\",\"apiVersion\":\"external.metrics.k8s.io/"
		"v1beta1\",\"metadata\":{},\"items\":[{\"metricName\":");
	buf_put_json(out, metric);
	buf_puts(out, ",\"metricLabels\":null,\"timestamp\":\"");
	buf_puts(out, time);
	buf_puts(out, "\",\"value\":\"");
	buf_puts(out, quantity);
	buf_puts(out, "\"}]}\n");
	request_reply(r, 200, "application/json", out->data, out->len);
}

static const char *object_name(const struct request *r)
{
	return r->key + strlen(r->namespace_) + 1;
}

static struct object *find_object(const struct request *r, enum scaled_kind kind)
{
	return store_find(r->serve->cache->store, kind, r->namespace_, object_name(r));
}

/* KEDA's names (doc/keda.md 7.1). */
static void count_object(struct request *r)
{
	counters_add(r->serve->object_errors, (const char *const[]){ r->namespace_, object_name(r) }, 1);
}

static void count_scaler(struct request *r, const struct scaler *scaler)
{
	char index[12];

	snprintf(index, sizeof(index), "%d", scaler->index);
	counters_add(r->serve->metric_errors,
		(const char *const[]){ r->namespace_, scaler->metric_name, object_name(r), kedascalers_name(scaler),
			index, "scaledobject" },
		1);
}

/* A source's error is counted even if fallback replaces its value. */
static void count_failures(struct request *r, const struct survey_result *result)
{
	bool any = result->composite && result->composite->failing;

	for (size_t i = 0; i < result->count; i++) {
		if (!result->triggers[i].source_err)
			continue;
		any = true;
		count_scaler(r, result->scalers[i]);
	}
	if (any)
		count_object(r);
}

static void reply_failure(struct request *r, const char *metric, const struct err *err, const char *no_fallback)
{
	request_refuse(r, APISTATUS_UNAVAILABLE, "metric %s: %s%s%s%s", metric, err->msg,
		no_fallback ? " (fallback cannot be used: " : "", no_fallback ? no_fallback : "",
		no_fallback ? ")" : "");
}

static void reply_composite(struct request *r, const struct survey_result *result)
{
	const struct composite *c = result->composite;

	if (c->failing)
		reply_failure(r, VERDICT_COMPOSITE_NAME, &c->err, NULL);
	else
		reply_value(r, VERDICT_COMPOSITE_NAME, c->value, result->answered_at_ms);
}

static void reply_trigger(struct request *r, const struct survey_result *result)
{
	const struct verdict_trigger *t = &result->triggers[0];

	if (t->err)
		reply_failure(r, t->metric_name, t->err, t->fallback_trouble);
	else
		reply_value(r, t->metric_name, t->reading.value, result->answered_at_ms);
}

struct namespace_search {
	const char *namespace_;
	bool found;
};

static void on_object(void *arg, struct object *o)
{
	struct namespace_search *search = arg;

	search->found |= o->kind == SCALED_OBJECT && strcmp(o->of.meta->namespace_, search->namespace_) == 0;
}

/*
 * Says what is unknown: namespace, object (text NULL) or metric (text). Before the objects were
 * read, that is not known either.
 */
static void reply_missing(struct request *r, const char *text)
{
	const struct store *store = r->serve->cache->store;
	struct namespace_search search = { r->namespace_, find_object(r, SCALED_OBJECT) != NULL };

	/* Any HPA may ask for a metric that does not exist, every 15 s. */
	if (!search.found)
		store_each_object(store, on_object, &search);
	if (!store_synced(store))
		request_refuse(r, APISTATUS_UNAVAILABLE, "the ScaledObjects were not read yet%s%s",
			store_trouble(store) ? ": " : "", store_trouble(store) ? store_trouble(store) : "");
	else if (!find_object(r, SCALED_OBJECT) && find_object(r, SCALED_JOB))
		request_refuse(r, APISTATUS_NOT_FOUND,
			"%s is a ScaledJob: its metrics are not served, no HorizontalPodAutoscaler scales it", r->key);
	else if (!search.found)
		request_refuse(r, APISTATUS_NOT_FOUND, "no ScaledObject is known in namespace \"%s\"", r->namespace_);
	else if (!text)
		request_refuse(r, APISTATUS_NOT_FOUND, "%s %s not found", scaled_kind_word(SCALED_OBJECT), r->key);
	else
		request_refuse(r, APISTATUS_NOT_FOUND, "%s", text);
}

/* ---- Asking ---- */

static void reply_error(struct request *r, const struct err *err)
{
	if (err->kind == ERR_MISSING) {
		reply_missing(r, err->msg);
		return;
	}
	count_object(r);
	request_refuse(r, APISTATUS_UNAVAILABLE, "metric %s: %s", r->name, err->msg);
}

static void on_survey(void *arg, const struct survey_result *result)
{
	struct request *r = arg;

	r->give_up = NULL;
	if (result->err) {
		reply_error(r, result->err);
		return;
	}
	count_failures(r, result);
	if (result->composite)
		reply_composite(r, result);
	else
		reply_trigger(r, result);
}

static void cancel_survey(void *survey)
{
	survey_cancel(survey);
}

/* At 0 replicas the HPA controller asks for nothing, so this is another client. */
static bool rests(const struct object *o)
{
	const struct workload *w;

	return targets_get(o, &w) == TARGET_PRESENT && w->replicas == 0;
}

void externalmetrics_handle(struct request *r)
{
	struct serve *s = r->serve;
	struct survey_terms terms = { .metric = r->name, .max_age_ms = s->metrics_max_age_ms, .cached = true };
	struct object *o;
	struct err err;

	if (find_key(r, &err)) {
		request_refuse(r, APISTATUS_BAD_REQUEST, "%s", err.msg);
		return;
	}
	o = find_object(r, SCALED_OBJECT);
	if (!o) {
		reply_missing(r, NULL);
		return;
	}
	terms.counted = !rests(o);
	if (survey_peek(s->cache, o, &terms, on_survey, r))
		return;
	terms.deadline_ms = loop_now_ms(s->loop) + s->metrics_deadline_ms;
	request_wait(r, survey_start(s->cache, o, &terms, on_survey, r), cancel_survey);
}
