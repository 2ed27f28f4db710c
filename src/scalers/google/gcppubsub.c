/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/google/gcppubsub.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/identity/googlekey.h"
#include "scalers/google/pubsubquery.h"
#include "scalers/google/timeseriesreply.h"
#include "scalers/googlelogin.h"
#include "scalers/httpsource.h"
#include "scalers/params.h"

#define PLACE      "https://monitoring.googleapis.com"
#define ANSWER_MAX ((size_t)1 << 20)
/* Six weeks: Cloud Monitoring keeps nothing that is older. */
#define HORIZON_MAX_MS (INT64_C(42) * 86400000)

/* The data of a question. Owns its texts. */
struct gcppubsub_question {
	struct httpsource_login login;
	struct pubsubquery query;
	bool own;       /* it is asked as kscaled itself */
	char *project;  /* NULL: that of our own identity, which is known when it has a token */
	double if_null; /* NAN: an error */
};

/* The parameters as written. Owns its texts. */
struct gcppubsub_fields {
	char *subscription, *topic, *mode, *aggregation;
	struct quantity target;
	double activation, if_null;
	int64_t horizon_ms;
};

#define AT(field) offsetof(struct gcppubsub_fields, field)
static const struct param_row rows[] = {
	{ "subscriptionName", PARAM_TEXT, "me", AT(subscription), .help = "name of the subscription" },
	{ "topicName", PARAM_TEXT, "me", AT(topic), .help = "name of the topic, instead" },
	{ "subscriptionSize", PARAM_REFUSED, "m",
		.why = "The 'subscriptionSize' setting is DEPRECATED and is removed in v2.20 - Use 'mode' and 'value' "
		       "instead",
		.help = "removed" },
	{ "mode", PARAM_TEXT, "m", AT(mode), .otherwise = "SubscriptionSize",
		.help = "SubscriptionSize, or a metric such as OldestUnackedMessageAge" },
	{ "value", PARAM_TARGET, "m", AT(target), .otherwise = "10", .help = "target: as much per replica" },
	{ "activationValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
	{ "aggregation", PARAM_TEXT, "m", AT(aggregation),
		.help = "mean, median, variance, stddev, sum, count, percentile99 and its like" },
	{ "timeHorizon", PARAM_DURATION, "m", AT(horizon_ms), .most = HORIZON_MAX_MS,
		.help = "how far is looked back" },
	{ "valueIfNull", PARAM_DOUBLE, "m", AT(if_null), .help = "the value when there is no point" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct gcppubsub_question *q = data;

	webaccess_unref(q->login.access);
	free((char *)(uintptr_t)q->query.mode);
	free((char *)(uintptr_t)q->query.id);
	free((char *)(uintptr_t)q->query.aggregation);
	free(q->project);
	free(q);
}

/* ---- Building ---- */

/* What one row cannot say; some values may be unknown. */
static int check(const struct scaler_params *params, const struct gcppubsub_fields *f, struct err *err)
{
	bool open = params_is_unknown(&table, params, AT(subscription)) || params_is_unknown(&table, params, AT(topic));

	if ((f->subscription && f->topic) || (!f->subscription && !f->topic && !open))
		return err_set_about(err, f->topic ? "topicName" : "subscriptionName",
			"exactly one of subscription or topic name must be given");
	return 0;
}

/* Takes the texts of f that the question keeps. */
static int take_query(struct gcppubsub_question *q, struct gcppubsub_fields *f, struct err *err)
{
	char *id = NULL;

	if (pubsubquery_name(f->subscription ? f->subscription : f->topic, &q->project, &id, err))
		return err_about(err, f->subscription ? "subscriptionName" : "topicName");
	q->query = (struct pubsubquery){ .topic = f->topic != NULL,
		.mode = f->mode,
		.id = id,
		.aggregation = f->aggregation,
		.horizon_ms = f->horizon_ms };
	f->mode = f->aggregation = NULL;
	q->if_null = f->if_null;
	return pubsubquery_check(&q->query, err);
}

/* 0, -1, or 1 when some values are unknown. */
static int log_in(const struct scaler_params *params, struct gcppubsub_question *q, struct err *err)
{
	struct webaccess_config config = { 0 };
	struct googlelogin login;
	int rc = googlelogin_read(params, GOOGLEKEY_MONITORING_READ, &login, err);

	if (rc != 0)
		return rc;
	if (!login.identity)
		return err_set_about(err, "GoogleApplicationCredentials", GOOGLELOGIN_NOT_FOUND);
	config.identity = login.identity;
	q->login.access = webaccess_new(&config, err);
	q->own = login.own;
	if (!q->project) {
		q->project = login.project;
		login.project = NULL;
	}
	googlelogin_done(&login);
	return q->login.access ? 0 : -1;
}

static char *make_key(const struct gcppubsub_question *q)
{
	MEM_AUTO char *query = pubsubquery_text(&q->query, q->project ? q->project : "");

	return mem_printf("gcp-pubsub %s %s %a %s", webaccess_key(q->login.access), q->project ? q->project : "-",
		isnan(q->if_null) ? HUGE_VAL : q->if_null, query);
}

static int read_question(const struct scaler_params *params, struct gcppubsub_fields *f, struct gcppubsub_question *q,
	struct err *err)
{
	int rc = params_read(&table, params, f, err), login;

	if (rc < 0 || check(params, f, err))
		return -1;
	if (rc == 0 && take_query(q, f, err))
		return -1;
	login = log_in(params, q, err);
	if (login < 0)
		return -1;
	if (rc == 0 && login == 0 && !q->project && !q->own)
		return err_set(err, ERR_INVALID,
			"the key has no project_id: write the name as projects/PROJECT/subscriptions/NAME");
	return rc | login;
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct gcppubsub_question *q = mem_zalloc(sizeof(*q));
	struct gcppubsub_fields f = { .if_null = NAN };
	int rc = read_question(params, &f, q, err);
	const char *name = f.subscription ? f.subscription : f.topic;

	if (rc >= 0 && name)
		*metric_name = params_normalise(mem_printf("gcp-ps-%s", name));
	out->target = f.target;
	out->activation = f.activation;
	if (rc == 0) {
		out->question = question_new(&gcppubsub_scaler_type, make_key(q), mem_dup("gcp-pubsub " PLACE), q);
		out->question->timeout_ms = QUESTION_TIMEOUT_HTTP;
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

/* Of one ask. */
struct gcppubsub_note {
	char *page; /* owned; NULL: the first one */
};

static void note_done(void *note)
{
	free(((struct gcppubsub_note *)note)->page);
}

static bool needs_project(const struct question *question)
{
	const struct gcppubsub_question *q = question->data;

	return !q->project;
}

static const char *project_of(const struct httpsource *ask)
{
	const struct gcppubsub_question *q = ask->base.question->data;

	return q->project ? q->project : ask->project;
}

static int request(const struct httpsource *ask, struct httpsource_request *out, struct err *err)
{
	const struct gcppubsub_question *q = ask->base.question->data;
	const struct gcppubsub_note *note = ask->note;
	const char *project = project_of(ask);
	MEM_AUTO char *query = NULL;
	json_t *body;

	if (!project)
		return err_set(err, ERR_INVALID,
			"kscaled's own Google identity has no project: write the name as "
			"projects/PROJECT/subscriptions/NAME, or set CLOUDSDK_CORE_PROJECT in its environment");
	query = pubsubquery_text(&q->query, project);
	body = json_pack("{ss si}", "query", query, "pageSize", 1);
	if (note->page)
		json_object_set_new(body, "pageToken", json_string(note->page));
	out->url = mem_printf(PLACE "/v3/projects/%s/timeSeries:query", project);
	out->body = json_text(body);
	out->content_type = "application/json";
	out->max_body = ANSWER_MAX;
	json_decref(body);
	return 0;
}

static enum httpsource_verdict judge_nothing(const struct httpsource *ask, struct answer *out, struct err *err)
{
	const struct gcppubsub_question *q = ask->base.question->data;
	MEM_AUTO char *query = NULL;

	out->value = q->if_null;
	if (!isnan(q->if_null))
		return HTTPSOURCE_ANSWERED;
	query = pubsubquery_text(&q->query, project_of(ask));
	err_set(err, ERR_INVALID, "could not find stackdriver metric with query %s", query);
	return HTTPSOURCE_FAILED;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webget_answer *answer, struct answer *out,
	struct err *err)
{
	struct gcppubsub_note *note = ask->note;

	mem_free_ptr(&note->page);
	if (answer->status != 200) {
		timeseriesreply_refusal(answer->status, answer->body, answer->len, err);
		return HTTPSOURCE_FAILED;
	}
	switch (timeseriesreply_read(answer->body, answer->len, &out->value, &note->page, err)) {
	case TIMESERIESREPLY_VALUE: return HTTPSOURCE_ANSWERED;
	case TIMESERIESREPLY_NOTHING: return judge_nothing(ask, out, err);
	case TIMESERIESREPLY_MORE: return HTTPSOURCE_NEXT;
	case TIMESERIESREPLY_FAILED: break;
	}
	return HTTPSOURCE_FAILED;
}

static const struct httpsource_type http = { .note_size = sizeof(struct gcppubsub_note),
	.note_done = note_done,
	.needs_project = needs_project,
	.request = request,
	.read = judge };

const struct scaler_type gcppubsub_scaler_type = {
	.name = "gcp-pubsub",
	.go_name = "pubsubScaler",
	.announced = "This scaler is deprecated. More info -> 'https://keda.sh/blog/2025-09-15-gcp-deprecations'",
	.tables = { &table, &googlelogin_table },
	.metered = true,
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
