/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/kinesis.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "scalers/aws/awsquery.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"

/* The data of a question. */
struct kinesis_question {
	struct awsquery query;
	char *stream;
	char *body; /* of each request */
};

/* The parameters as written. Owns its texts. */
struct kinesis_fields {
	char *stream;
	int64_t target, activation;
};

#define AT(field) offsetof(struct kinesis_fields, field)
static const struct param_row rows[] = {
	{ "streamName", PARAM_TEXT, "m", AT(stream), .required = true, .help = "the stream" },
	{ "shardCount", PARAM_INT64, "m", AT(target), .otherwise = "2",
		.help = "target: as many open shards per replica" },
	{ "activationShardCount", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct kinesis_question *q = data;

	awsquery_done(&q->query);
	free(q->stream);
	free(q->body);
	free(q);
}

/* What is asked, which the caller owns; NULL with ERR_INVALID. */
static char *make_body(const char *stream, struct err *err)
{
	json_t *body = json_pack("{ss}", "StreamName", stream);
	char *text = body ? json_text(body) : NULL;

	if (!body) /* jansson takes UTF-8 only */
		err_set(err, ERR_INVALID, "parameter \"streamName\": is not UTF-8");
	json_decref(body);
	return text;
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct kinesis_question *q = mem_zalloc(sizeof(*q));
	struct kinesis_fields f = { 0 };
	int rc = params_read(&table, params, &f, err), query = -1;

	if (rc >= 0 && params_check_target(params, "shardCount", &f.target, err))
		rc = -1;
	if (rc >= 0)
		query = awsquery_read(params, "kinesis", &q->query, err);
	rc = rc < 0 || query < 0 ? -1 : rc | query;
	out->target = quantity_from_int(f.target);
	out->activation = (double)f.activation;
	if (rc >= 0 && f.stream)
		*metric_name = params_normalise(mem_printf("aws-kinesis-%s", f.stream));
	if (rc == 0) {
		q->body = make_body(f.stream, err);
		rc = q->body ? 0 : -1;
	}
	if (rc == 0) {
		q->stream = f.stream;
		f.stream = NULL;
		out->question = awsquery_question(&kinesis_scaler_type, &q->query,
			mem_printf("aws-kinesis-stream %s %s %s", q->query.url, webaccess_key(q->query.login.access),
				q->stream),
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
	const struct kinesis_question *q = ask->base.question->data;

	(void)err;
	awsquery_post_json(&q->query, "Kinesis_20131202.DescribeStreamSummary", "1.1", q->body, out);
	return 0;
}

int kinesis_read(const char *body, size_t len, double *out, struct err *err)
{
	json_t *answer = json_parse_foreign(body, len, NULL);
	const json_t *count = json_object_get(json_object_get(answer, "StreamDescriptionSummary"), "OpenShardCount");
	int rc = json_is_integer(count) && json_integer_value(count) >= 0
		? 0
		: err_set(err, ERR_INVALID, "the answer has no StreamDescriptionSummary with OpenShardCount");

	*out = rc == 0 ? (double)json_integer_value(count) : 0;
	json_decref(answer);
	return rc;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct kinesis_question *q = ask->base.question->data;

	if (awsquery_expect(answer, "kinesis:DescribeStreamSummary", err) ||
		kinesis_read(answer->body, answer->len, &out->value, err)) {
		err_wrap(err, "stream %.200s", q->stream);
		return HTTPSOURCE_FAILED;
	}
	return HTTPSOURCE_ANSWERED;
}

static const struct httpsource_type http = { .request = request, .read = judge };

const struct scaler_type kinesis_scaler_type = {
	.name = "aws-kinesis-stream",
	.go_name = "awsKinesisStreamScaler",
	.tables = { &table, &awsquery_table, &awslogin_table },
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
