/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/sqs.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "scalers/aws/awsquery.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"
#include "scalers/types.h"

#define DIGITS_MAX 15 /* so that sums are exact */

static const struct {
	const char *name;
	unsigned when; /* 0: always */
} attributes[] = {
	{ "ApproximateNumberOfMessages", 0 },
	{ "ApproximateNumberOfMessagesNotVisible", SQS_IN_FLIGHT },
	{ "ApproximateNumberOfMessagesDelayed", SQS_DELAYED },
};

struct sqs {
	struct httplogin login;
	char *queue_url;
	bool in_flight, delayed;
	char *body; /* of each request */
	char *name; /* of the queue */
	unsigned also;
};

#define AT(field) offsetof(struct sqs, field)
static const struct param_row rows[] = {
	{ "queueURL", PARAM_TEXT, "me", AT(queue_url), .required = true, .help = "URL or name of the queue" },
	{ "queueLength", PARAM_WHOLE_TARGET, "m", .otherwise = "5", .help = "target: messages per replica" },
	{ "activationQueueLength", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of messages" },
	{ "scaleOnInFlight", PARAM_BOOL, "m", AT(in_flight), .otherwise = "true",
		.help = "true: messages in flight count, too" },
	{ "scaleOnDelayed", PARAM_BOOL, "m", AT(delayed), .help = "true: delayed messages count, too" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	struct sqs *q = data;

	free(q->body);
	free(q->name);
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
	params_wrong(err, "queueURL", ": cannot get queueName from queueURL");
	return NULL;
}

/* The request body, which the caller owns; NULL with ERR_INVALID. */
static char *make_body(const char *queue_url, unsigned also, struct err *err)
{
	json_t *names = json_array(), *body = json_pack("{so ss}", "AttributeNames", names, "QueueUrl", queue_url);
	char *text;

	if (!body) { /* not UTF-8 */
		params_wrong(err, "queueURL", ": is not UTF-8");
		return NULL;
	}
	for (size_t i = 0; i < MEM_COUNT(attributes); i++)
		if (!attributes[i].when || also & attributes[i].when)
			json_array_append_new(names, json_string(attributes[i].name));
	text = json_text(body);
	json_decref(body);
	return text;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct sqs *q = b->data;

	q->also = (q->in_flight ? SQS_IN_FLIGHT : 0) | (q->delayed ? SQS_DELAYED : 0);
	if (q->queue_url) {
		q->name = sqs_queue_name(q->queue_url, err);
		if (!q->name)
			return -1;
		b->metric_name = mem_printf("aws-sqs-%s", q->name);
	}
	if (awsquery_login(b, "sqs", &q->login, err))
		return -1;
	q->body = b->open ? NULL : make_body(q->queue_url, q->also, err);
	return b->open || q->body ? 0 : -1;
}

/* ---- Asking ---- */

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct sqs *q = ask->data;

	(void)err;
	awsquery_post_json(&q->login, "AmazonSQS.GetQueueAttributes", "1.0", q->body, out);
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
			rc = err_set(err, ERR_INVALID, "attribute %s is not a number", attributes[i].name);
		else
			sum += strtod(text, NULL);
	}
	json_decref(answer);
	*out = sum;
	return rc;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct sqs *q = ask->data;

	return awsquery_expect(answer, "sqs:GetQueueAttributes", err) ||
			sqs_read(answer->body, answer->len, q->also, &out->value, err)
		? EXCHANGE_FAILED
		: EXCHANGE_DONE;
}

static const struct httpsource_type http = { .subject = "queue",
	.subject_at = AT(name),
	.request = request,
	.read = judge };

const struct scaler_type sqs_scaler_type = {
	.name = "aws-sqs-queue",
	.go_name = "awsSqsQueueScaler",
	.tables = { &table, &awsquery_table, &awslogin_table },
	.data_size = sizeof(struct sqs),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
