/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/kinesis.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "scalers/aws/awsquery.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"
#include "scalers/types.h"

struct kinesis {
	struct httplogin login;
	char *stream;
	char *body; /* of each request */
};

#define AT(field) offsetof(struct kinesis, field)
static const struct param_row rows[] = {
	{ "streamName", PARAM_TEXT, "m", AT(stream), .required = true, .help = "name of the stream" },
	{ "shardCount", PARAM_WHOLE_TARGET, "m", .otherwise = "2", .help = "target: open shards per replica" },
	{ "activationShardCount", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of shards" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	free(((struct kinesis *)data)->body);
}

/* The request body, which the caller owns; NULL with ERR_INVALID. */
static char *make_body(const char *stream, struct err *err)
{
	json_t *body = json_pack("{ss}", "StreamName", stream);
	char *text = body ? json_text(body) : NULL;

	if (!body) /* not UTF-8 */
		params_wrong(err, "streamName", ": is not UTF-8");
	json_decref(body);
	return text;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct kinesis *q = b->data;

	b->metric_name = mem_printf("aws-kinesis-%s", q->stream);
	if (awsquery_login(b, "kinesis", &q->login, err))
		return -1;
	q->body = make_body(q->stream, err);
	return q->body ? 0 : -1;
}

/* ---- Asking ---- */

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct kinesis *q = ask->data;

	(void)err;
	awsquery_post_json(&q->login, "Kinesis_20131202.DescribeStreamSummary", "1.1", q->body, out);
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

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	(void)ask;
	return awsquery_expect(answer, "kinesis:DescribeStreamSummary", err) ||
			kinesis_read(answer->body, answer->len, &out->value, err)
		? EXCHANGE_FAILED
		: EXCHANGE_DONE;
}

static const struct httpsource_type http = { .subject = "stream",
	.subject_at = AT(stream),
	.request = request,
	.read = judge };

const struct scaler_type kinesis_scaler_type = {
	.name = "aws-kinesis-stream",
	.go_name = "awsKinesisStreamScaler",
	.tables = { &table, &awsquery_table, &awslogin_table },
	.data_size = sizeof(struct kinesis),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
