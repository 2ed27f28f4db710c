/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/externalmetrics.h"

#include <stdio.h>
#include <string.h>

#include "base/selector.h"
#include "base/strmap.h"
#include "base/timestamp.h"
#include "serve/apistatus.h"
#include "serve/kedametrics.h"
#include "serve/request.h"

#define LABEL "scaledobject.keda.sh/name"

/* --- which object ------------------------------------------------------------------------------------------------------------------------------- */

/* Puts the object's key into the request. Other labels in the selector are not looked at, as KEDA does not. */
static int find_key(struct request *r, struct err *err)
{
	const char *text = httpd_query(r->http, "labelSelector");
	struct strmap labels = { 0 };
	int result = 0;
	const char *name;

	if (selector_parse(text ? text : "", &labels, err))
		return err_wrap(err, "labelSelector");
	name = strmap_get(&labels, LABEL);
	if (name && *name)
		store_key(r->namespace_, name, r->key);
	else
		result = err_set(err, ERR_INVALID, "scaledObject name is not specified: say whose metric is meant with ?labelSelector=" LABEL "%%3D<name of the ScaledObject>");
	strmap_done(&labels);
	return result;
}

/* --- answers ------------------------------------------------------------------------------------------------------------------------------------ */

static void reply_value(struct request *r, const struct scaler *scaler, const struct answer *answer)
{
	struct serve *s = r->serve;
	struct reading reading = scaler_judge(scaler, answer->value);
	int64_t age_ms = loop_now_ms(s->loop) - answer->answered_at_ms;
	char quantity[QUANTITY_TEXT_MAX], time[TIMESTAMP_TEXT_MAX];
	struct buf *out = &s->reply;

	quantity_format(quantity_from_double(reading.value), quantity);
	timestamp_format(timestamp_now_ms() - age_ms, time);
	buf_reset(out);
	buf_puts(out, "{\"kind\":\"ExternalMetricValueList\",\"apiVersion\":\"external.metrics.k8s.io/v1beta1\",\"metadata\":{},\"items\":[{\"metricName\":");
	buf_put_json(out, scaler->metric_name);
	buf_puts(out, ",\"metricLabels\":null,\"timestamp\":\"");
	buf_puts(out, time);
	buf_puts(out, "\",\"value\":\"");
	buf_puts(out, quantity);
	buf_puts(out, "\"}]}\n");
	request_reply(r, 200, "application/json", out->data, out->len);
}

/* KEDA's names (keda-core.md 7.6). scaler NULL: the object's scalers cannot be built. */
static void count_failure(struct request *r, const struct scaler *scaler)
{
	const char *object = r->key + strlen(r->namespace_) + 1;
	char index[12];

	counters_add(r->serve->object_errors, (const char *const[]){ r->namespace_, object }, 1);
	if (!scaler)
		return;
	snprintf(index, sizeof(index), "%d", scaler->index);
	counters_add(r->serve->metric_errors, (const char *const[]){ r->namespace_, scaler->metric_name, object, kedametrics_scaler_label(scaler), index, "scaledobject" }, 1);
}

static void reply_failure(struct request *r, const struct scaler *scaler, const struct err *err)
{
	count_failure(r, scaler);
	apistatus_reply(r, APISTATUS_UNAVAILABLE, "metric %s: %s", scaler->metric_name, err->msg);
}

static bool in_namespace(const char *key, const char *namespace_)
{
	size_t len = strlen(namespace_);

	return !strncmp(key, namespace_, len) && key[len] == '/';
}

struct search {
	const char *namespace_;
	bool found;
};

static void on_object(void *arg, const char *key, const struct scaledobject *so)
{
	struct search *search = arg;

	(void)so;
	search->found |= in_namespace(key, search->namespace_);
}

/* What is unknown, from the outside in: namespace, object, metric. Before the objects were read nothing can be said to be unknown. */
static void reply_missing(struct request *r, const struct err *err)
{
	struct search search = { r->namespace_, false };
	const struct store *store = r->serve->cache->store;

	store_each_scaledobject(store, on_object, &search);
	if (!store_synced(store))
		apistatus_reply(r, APISTATUS_UNAVAILABLE, "the ScaledObjects were not read yet%s%s", store_trouble(store) ? ": " : "", store_trouble(store) ? store_trouble(store) : "");
	else if (!search.found)
		apistatus_reply(r, APISTATUS_NOT_FOUND, "no ScaledObject is known in namespace \"%s\"", r->namespace_);
	else
		apistatus_reply(r, APISTATUS_NOT_FOUND, "%s", err->msg);
}

/* --- asking ------------------------------------------------------------------------------------------------------------------------------------- */

/* NULL when the request was ended. */
static const struct scaler *find_scaler(struct request *r)
{
	const struct scaler *scaler;
	struct err err;

	if (!scalers_find(r->serve->cache->scalers, r->key, r->metric, &scaler, &err))
		return scaler;
	if (err.kind == ERR_MISSING) {
		reply_missing(r, &err);
		return NULL;
	}
	count_failure(r, NULL);
	apistatus_reply(r, APISTATUS_UNAVAILABLE, "metric %s: %s", r->metric, err.msg);
	return NULL;
}

/* The object may have changed or gone while its source was asked: it is looked up again. */
static void on_reading(void *arg, const struct answer *answer, const struct err *err)
{
	struct request *r = arg;
	const struct scaler *scaler;

	r->reading = NULL;
	scaler = find_scaler(r);
	if (!scaler)
		return;
	if (err)
		reply_failure(r, scaler, err);
	else
		reply_value(r, scaler, answer);
}

void externalmetrics_handle(struct request *r)
{
	struct serve *s = r->serve;
	const struct scaler *scaler;
	struct answer answer;
	struct err err;

	if (find_key(r, &err)) {
		apistatus_reply(r, APISTATUS_BAD_REQUEST, "%s", err.msg);
		return;
	}
	scaler = find_scaler(r);
	if (!scaler)
		return;
	switch (readings_peek(s->cache->readings, scaler->question, s->metrics_max_age_ms, &answer, &err)) {
	case READINGS_ANSWER:
		reply_value(r, scaler, &answer);
		return;
	case READINGS_FAILURE:
		reply_failure(r, scaler, &err);
		return;
	case READINGS_NONE:
		request_wait(r);
		r->reading = readings_ask(s->cache->readings, scaler->question, s->metrics_max_age_ms, loop_now_ms(s->loop) + s->metrics_deadline_ms, on_reading, r);
	}
}
