/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `gcp-pubsub` (doc/keda.md 8.28): a metric of a subscription or a topic of Google's
 * Pub/Sub, from Cloud Monitoring. Over scalers/http/httpsource; scalers/login/googlelogin logs in,
 * pubsubquery makes the query, timeseriesreply reads the response.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/identity/googlekey.h"
#include "scalers/google/pubsubquery.h"
#include "scalers/google/timeseriesreply.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/googlelogin.h"
#include "scalers/params.h"
#include "scalers/types.h"

#define MONITORING_URL "https://monitoring.googleapis.com"
#define ANSWER_MAX     ((size_t)1 << 20)
/* Six weeks: Cloud Monitoring keeps nothing older. */
#define HORIZON_MAX_MS (INT64_C(42) * 86400000)

struct gcppubsub {
	struct httplogin login;
	char *subscription, *topic; /* ids; one is NULL */
	char *mode, *aggregation;
	int64_t horizon_ms;
	double if_null; /* NAN: an error */
	char *project;  /* NULL: that of kscaled's own identity, which comes with its token */
};

static const struct gcppubsub absent = { .if_null = NAN };

#define AT(field) offsetof(struct gcppubsub, field)
static const struct param_row rows[] = {
	{ "subscriptionName", PARAM_TEXT, "me", AT(subscription), .help = "name of the subscription" },
	{ "topicName", PARAM_TEXT, "me", AT(topic), .help = "name of the topic, instead of subscriptionName" },
	{ "subscriptionSize", PARAM_REFUSED, "m",
		.why = "The 'subscriptionSize' setting is DEPRECATED and is removed in v2.20 - Use 'mode' and 'value' "
		       "instead",
		.help = "removed" },
	{ "mode", PARAM_TEXT, "m", AT(mode), .otherwise = "SubscriptionSize",
		.help = "SubscriptionSize, or a metric such as OldestUnackedMessageAge" },
	{ "value", PARAM_TARGET, "m", .otherwise = "10", .help = "target: value per replica" },
	{ "activationValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
	{ "aggregation", PARAM_TEXT, "m", AT(aggregation),
		.help = "mean, median, variance, stddev, sum, count or a percentile such as percentile99" },
	{ "timeHorizon", PARAM_DURATION, "m", AT(horizon_ms), .most = HORIZON_MAX_MS,
		.help = "length of the time window" },
	{ "valueIfNull", PARAM_DOUBLE, "m", AT(if_null), .help = "value when there is no data point" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	free(((struct gcppubsub *)data)->project);
}

static struct pubsubquery query_of(const struct gcppubsub *q)
{
	return (struct pubsubquery){ .topic = q->topic != NULL,
		.mode = q->mode,
		.id = q->topic ? q->topic : q->subscription,
		.aggregation = q->aggregation,
		.horizon_ms = q->horizon_ms };
}

/* ---- Building ---- */

/* Checks across rows; some values may be unknown. */
static int check(const struct scaler_params *params, const struct gcppubsub *f, struct err *err)
{
	bool open = params_is_unknown(&table, params, AT(subscription)) || params_is_unknown(&table, params, AT(topic));

	if ((f->subscription && f->topic) || (!f->subscription && !f->topic && !open))
		return err_set_about(err, f->topic ? "topicName" : "subscriptionName",
			"exactly one of subscription or topic name must be given");
	return 0;
}

/* Replaces the mode by its metric, and sets defaults. */
static void settle(struct gcppubsub *q)
{
	const struct pubsubquery query = query_of(q);
	char *metric = mem_dup(pubsubquery_metric(q->mode));

	free(q->mode);
	q->mode = metric;
	q->horizon_ms = pubsubquery_horizon_ms(&query);
}

/* "projects/P/topics/T" means T of project P. */
static int take_name(struct gcppubsub *q, struct err *err)
{
	char **name = q->topic ? &q->topic : &q->subscription, *id = NULL;
	struct pubsubquery query;

	if (pubsubquery_name(*name, &q->project, &id, err))
		return err_about(err, q->subscription ? "subscriptionName" : "topicName");
	free(*name);
	*name = id;
	query = query_of(q);
	if (pubsubquery_check(&query, err))
		return -1;
	settle(q);
	return 0;
}

static int log_in(struct scaler_build *b, struct gcppubsub *q, struct err *err)
{
	struct googlelogin login;
	int rc = googlelogin_read(b->params, GOOGLEKEY_MONITORING_READ, &login, err);

	b->open |= rc == 1;
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (!login.identity)
		return err_set_about(err, "GoogleApplicationCredentials", GOOGLELOGIN_NOT_FOUND);
	if (q->project)
		free(login.project);
	else
		q->project = login.project;
	if (httplogin_log_in(&q->login, &(struct webaccess_config){ .identity = login.identity }, err))
		return -1;
	if (!b->open && !q->project && !login.own)
		return err_set(err, ERR_INVALID,
			"the key has no project_id: write the name as projects/PROJECT/subscriptions/NAME");
	q->login.url = mem_dup(MONITORING_URL);
	b->source = mem_printf("gcp-pubsub %s", MONITORING_URL);
	params_add_key(b, q->project);
	return 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct gcppubsub *q = b->data;
	const char *name = q->subscription ? q->subscription : q->topic;

	if (name)
		b->metric_name = mem_printf("gcp-ps-%s", name);
	return check(b->params, q, err) || (!b->open && take_name(q, err)) || log_in(b, q, err) ? -1 : 0;
}

/* ---- Asking ---- */

/* The state of an ask. */
struct gcppubsub_state {
	char *page; /* owned; NULL: the first */
};

static void state_done(void *state)
{
	free(((struct gcppubsub_state *)state)->page);
}

static bool needs_project(const struct question *question)
{
	const struct gcppubsub *q = question->data;

	return !q->project;
}

static const char *project_of(const struct httpsource *ask)
{
	const struct gcppubsub *q = ask->data;

	return q->project ? q->project : ask->project;
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct gcppubsub *q = ask->data;
	const struct gcppubsub_state *state = ask->state;
	const char *project = project_of(ask);
	const struct pubsubquery asked = query_of(q);
	MEM_AUTO char *query = NULL;
	json_t *body;

	if (!project)
		return err_set(err, ERR_INVALID,
			"kscaled's own Google identity has no project: write the name as "
			"projects/PROJECT/subscriptions/NAME, or set CLOUDSDK_CORE_PROJECT in its environment");
	query = pubsubquery_text(&asked, project);
	body = json_pack("{ss si}", "query", query, "pageSize", 1);
	if (state->page)
		json_object_set_new(body, "pageToken", json_string(state->page));
	out->url = mem_printf("%s/v3/projects/%s/timeSeries:query", q->login.url, project);
	out->body = json_text(body);
	out->content_type = "application/json";
	json_decref(body);
	return 0;
}

static enum exchange_verdict judge_nothing(const struct httpsource *ask, struct answer *out, struct err *err)
{
	const struct gcppubsub *q = ask->data;
	const struct pubsubquery asked = query_of(q);
	MEM_AUTO char *query = NULL;

	out->value = q->if_null;
	if (!isnan(q->if_null))
		return EXCHANGE_DONE;
	query = pubsubquery_text(&asked, project_of(ask));
	return err_set(err, ERR_INVALID, "could not find stackdriver metric with query %s", query);
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct gcppubsub_state *state = ask->state;

	mem_free_ptr(&state->page);
	if (answer->status != 200) {
		timeseriesreply_refusal(answer->status, answer->body, answer->len, err);
		return EXCHANGE_FAILED;
	}
	switch (timeseriesreply_read(answer->body, answer->len, &out->value, &state->page, err)) {
	case TIMESERIESREPLY_VALUE: return EXCHANGE_DONE;
	case TIMESERIESREPLY_NOTHING: return judge_nothing(ask, out, err);
	case TIMESERIESREPLY_MORE: return EXCHANGE_NEXT;
	case TIMESERIESREPLY_FAILED: break;
	}
	return EXCHANGE_FAILED;
}

static const struct httpsource_type http = { .max_body = ANSWER_MAX,
	.state_size = sizeof(struct gcppubsub_state),
	.state_done = state_done,
	.needs_project = needs_project,
	.request = request,
	.read = judge };

const struct scaler_type gcppubsub_scaler_type = {
	.name = "gcp-pubsub",
	.go_name = "pubsubScaler",
	.announced = "This scaler is deprecated. More info -> 'https://keda.sh/blog/2025-09-15-gcp-deprecations'",
	.tables = { &table, &googlelogin_table },
	.metered = true,
	.data_size = sizeof(struct gcppubsub),
	.absent = &absent,
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
