/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/sqs.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "scalers/aws/awsquery.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"

#define DIGITS_MAX 15 /* so that a sum is exact */

static const struct {
	const char *name;
	unsigned when; /* 0: always */
} attributes[] = {
	{ "ApproximateNumberOfMessages", 0 },
	{ "ApproximateNumberOfMessagesNotVisible", SQS_IN_FLIGHT },
	{ "ApproximateNumberOfMessagesDelayed", SQS_DELAYED },
};

/* The data of a question. */
struct sqs_question {
	struct awsquery query;
	char *body; /* of each request */
	char *name;
	unsigned also;
};

/* The parameters as written. Owns its texts. */
struct sqs_fields {
	char *queue_url;
	int64_t target, activation;
	bool in_flight, delayed;
};

#define AT(field) offsetof(struct sqs_fields, field)
static const struct param_row rows[] = {
	{ "queueURL", PARAM_TEXT, "me", AT(queue_url), .required = true, .help = "the queue: its URL, or its name" },
	{ "queueLength", PARAM_INT64, "m", AT(target), .otherwise = "5", .help = "target: as many per replica" },
	{ "activationQueueLength", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
	{ "scaleOnInFlight", PARAM_BOOL, "m", AT(in_flight), .otherwise = "true",
		.help = "whether messages that are being worked on count" },
	{ "scaleOnDelayed", PARAM_BOOL, "m", AT(delayed), .help = "whether messages that are not due yet count" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct sqs_question *q = data;

	awsquery_done(&q->query);
	free(q->body);
	free(q->name);
	free(q);
}

/* ---- Building ---- */

char *sqs_queue_name(const char *url, struct err *err)
{
	const char *path = strstr(url, "://"), *name;
	size_t len;

	if (!path && *url != '/' && !strchr(url, ':'))
		return mem_dup(url);
	path = path ? strchr(path + 3, '/') : url;
	/* "/ACCOUNT/NAME" */
	name = path && *path == '/' ? strchr(path + 1, '/') : NULL;
	len = name ? strcspn(name + 1, "/?#") : 0;
	if (len > 0 && name[1 + len] != '/')
		return mem_dupn(name + 1, len);
	err_set(err, ERR_INVALID, "parameter \"queueURL\": cannot get queueName from queueURL");
	return NULL;
}

/* What is asked, which the caller owns; NULL with ERR_INVALID. */
static char *make_body(const char *queue_url, unsigned also, struct err *err)
{
	json_t *names = json_array(), *body = json_pack("{so ss}", "AttributeNames", names, "QueueUrl", queue_url);
	char *text;

	if (!body) { /* jansson takes UTF-8 only */
		err_set(err, ERR_INVALID, "parameter \"queueURL\": is not UTF-8");
		return NULL;
	}
	for (size_t i = 0; i < MEM_COUNT(attributes); i++)
		if (!attributes[i].when || also & attributes[i].when)
			json_array_append_new(names, json_string(attributes[i].name));
	text = json_text(body);
	json_decref(body);
	return text;
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct sqs_question *q = mem_zalloc(sizeof(*q));
	struct sqs_fields f = { 0 };
	int rc = params_read(&table, params, &f, err), query = -1;

	if (rc >= 0 && params_check_target(params, "queueLength", &f.target, err))
		rc = -1;
	if (rc >= 0 && f.queue_url) {
		q->name = sqs_queue_name(f.queue_url, err);
		rc = q->name ? rc : -1;
	}
	if (rc >= 0)
		query = awsquery_read(params, "sqs", &q->query, err);
	rc = rc < 0 || query < 0 ? -1 : rc | query;
	out->target = quantity_from_int(f.target);
	out->activation = (double)f.activation;
	if (rc >= 0 && q->name)
		*metric_name = params_normalise(mem_printf("aws-sqs-%s", q->name));
	q->also = (f.in_flight ? SQS_IN_FLIGHT : 0) | (f.delayed ? SQS_DELAYED : 0);
	if (rc == 0) {
		q->body = make_body(f.queue_url, q->also, err);
		rc = q->body ? 0 : -1;
	}
	if (rc == 0) {
		out->question = awsquery_question(&sqs_scaler_type, &q->query,
			mem_printf("aws-sqs-queue %s %s %s %u", q->query.url, webaccess_key(q->query.login.access),
				f.queue_url, q->also),
			q);
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct sqs_question *q = ask->base.question->data;

	(void)err;
	awsquery_post_json(&q->query, "AmazonSQS.GetQueueAttributes", "1.0", q->body, out);
	return 0;
}

int sqs_read(const char *body, size_t len, unsigned also, double *out, struct err *err)
{
	json_t *answer = json_parse_foreign(body, len, NULL);
	const json_t *found = json_object_get(answer, "Attributes");
	double sum = 0;
	int rc = answer ? 0 : err_set(err, ERR_INVALID, "the answer is not JSON");

	for (size_t i = 0; rc == 0 && i < MEM_COUNT(attributes); i++) {
		const char *text = json_str_or_empty(found, attributes[i].name);
		size_t digits = strspn(text, "0123456789");

		if (attributes[i].when && !(also & attributes[i].when))
			continue;
		if (!*text)
			rc = err_set(err, ERR_INVALID, "metric %s not found in SQS queue attributes",
				attributes[i].name);
		else if (text[digits] || digits > DIGITS_MAX)
			rc = err_set(err, ERR_INVALID, "attribute %s is no number", attributes[i].name);
		else
			sum += strtod(text, NULL);
	}
	json_decref(answer);
	*out = sum;
	return rc;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct sqs_question *q = ask->base.question->data;

	if (awsquery_expect(answer, "sqs:GetQueueAttributes", err) ||
		sqs_read(answer->body, answer->len, q->also, &out->value, err)) {
		err_wrap(err, "queue %.100s", q->name);
		return HTTPSOURCE_FAILED;
	}
	return HTTPSOURCE_ANSWERED;
}

static const struct httpsource_type http = { .request = request, .read = judge };

const struct scaler_type sqs_scaler_type = {
	.name = "aws-sqs-queue",
	.go_name = "awsSqsQueueScaler",
	.tables = { &table, &awsquery_table, &awslogin_table },
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
