/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/cloudwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/identity/awsxml.h"
#include "scalers/aws/awsquery.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"
#include "scalers/types.h"
#include "scalers/values/metricvalue.h"

#define FORM_MAX   ((size_t)1 << 16)
#define ANSWER_MAX ((size_t)4 << 20)
/* A century: CloudWatch refuses times beyond. */
#define SPAN_MAX_S 3155760000
/* Seconds from year 1, the origin of Go's time and so of KEDA's periods. */
#define YEAR_1_S 62135596800

struct cloudwatch {
	struct httplogin login;
	char *namespace_, *metric, *dimension_names, *dimension_values, *expression, *stat, *unit, *account;
	int64_t period_s, length_s, offset_s;
	double least; /* the value without a point */
	bool empty_is_least;
	char *form; /* of the request, without times */
};

#define AT(field) offsetof(struct cloudwatch, field)
static const struct param_row rows[] = {
	{ "namespace", PARAM_TEXT, "m", AT(namespace_), .help = "namespace of the metric" },
	{ "metricName", PARAM_TEXT, "m", AT(metric), .help = "name of the metric" },
	{ "dimensionName", PARAM_TEXT, "m", AT(dimension_names), .help = "names of the dimensions, separated by ;" },
	{ "dimensionValue", PARAM_TEXT, "m", AT(dimension_values),
		.help = "values of the dimensions, in the same order" },
	{ "expression", PARAM_TEXT, "m", AT(expression), .help = "metric math expression, instead of a single metric" },
	{ "targetMetricValue", PARAM_TARGET, "m", .required = true, .help = "target: value per replica" },
	{ "activationTargetMetricValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
	{ "minMetricValue", PARAM_DOUBLE, "m", AT(least), .required = true,
		.help = "value when there is no data point" },
	{ "ignoreNullValues", PARAM_BOOL, "m", AT(empty_is_least), .otherwise = "true",
		.help = "false: no data point is an error" },
	{ "metricCollectionTime", PARAM_INT64, "m", AT(length_s), .otherwise = "300", .least = INT64_MIN,
		.most = SPAN_MAX_S, .help = "length of the time window in seconds, a multiple of metricStatPeriod" },
	{ "metricStat", PARAM_TEXT, "m", AT(stat), .otherwise = "Average",
		.help = "statistic, such as Average or p99" },
	{ "metricStatPeriod", PARAM_INT64, "m", AT(period_s), .otherwise = "300",
		.help = "period of a data point in seconds" },
	{ "metricUnit", PARAM_TEXT, "m", AT(unit), .help = "CloudWatch unit of the metric" },
	{ "metricEndTimeOffset", PARAM_INT64, "m", AT(offset_s), .otherwise = "0", .least = -SPAN_MAX_S,
		.most = SPAN_MAX_S,
		.help = "seconds before now at which the window ends, for metrics that arrive late" },
	{ "awsAccountId", PARAM_TEXT, "m", AT(account), .help = "account of the metric, if another one" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	free(((struct cloudwatch *)data)->form);
}

/* ---- Checks across rows ---- */

#define UNITS                                                                                                          \
	"Seconds Microseconds Milliseconds Bytes Kilobytes Megabytes Gigabytes Terabytes Bits Kilobits Megabits "      \
	"Gigabits Terabits Percent Count Bytes/Second Kilobytes/Second Megabytes/Second Gigabytes/Second "             \
	"Terabytes/Second Bits/Second Kilobits/Second Megabits/Second Gigabits/Second Terabits/Second Count/Second "   \
	"None"

static bool is_unit(const char *unit)
{
	size_t len = strlen(unit);

	for (const char *at = UNITS; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] != '\0'))
		if (strcspn(at, " ") == len && memcmp(at, unit, len) == 0)
			return true;
	return false;
}

static size_t count_pieces(const char *list)
{
	size_t count = 1;

	for (; *list; list++)
		count += *list == ';';
	return count;
}

static int check_metric(const struct cloudwatch *f, struct err *err)
{
	if (!f->namespace_)
		return err_set_about(err, "namespace", "namespace not given");
	if (!f->metric)
		return err_set_about(err, "metricName", "metric name not given");
	if (!f->dimension_names)
		return err_set_about(err, "dimensionName", "dimension name not given");
	if (!f->dimension_values)
		return err_set_about(err, "dimensionValue", "dimension value not given");
	if (count_pieces(f->dimension_names) != count_pieces(f->dimension_values))
		return err_set_about(err, "dimensionValue",
			"dimensionName and dimensionValue are not matching in size");
	if (f->unit && !is_unit(f->unit))
		return err_set_about(err, "metricUnit", "metricUnit '%.80s' is not one of [" UNITS "]", f->unit);
	return 0;
}

static int check_times(const struct cloudwatch *f, struct err *err)
{
	static const int64_t short_ones[] = { 1, 5, 10, 30 };
	long long period = (long long)f->period_s;
	bool known = f->period_s % 60 == 0;

	for (size_t i = 0; i < MEM_COUNT(short_ones); i++)
		known = known || f->period_s == short_ones[i];
	if (period < 1)
		return err_set_about(err, "metricStatPeriod",
			"metricStatPeriod can not be smaller than 1, however, %lld is provided", period);
	if (period < 60 && !known)
		return err_set_about(err, "metricStatPeriod",
			"metricStatPeriod < 60 has to be one of [1, 5, 10, 30], however, %lld is provided", period);
	if (!known)
		return err_set_about(err, "metricStatPeriod",
			"metricStatPeriod >= 60 has to be a multiple of 60, however, %lld is provided", period);
	if (period > INT32_MAX)
		return err_set_about(err, "metricStatPeriod", "metricStatPeriod %lld is more than CloudWatch accepts",
			period);
	if (f->length_s < 0 || f->length_s % f->period_s != 0)
		return err_set_about(err, "metricCollectionTime",
			"metricCollectionTime must be greater than 0 and a multiple of metricStatPeriod(%lld), %lld is "
			"given",
			period, (long long)f->length_s);
	return 0;
}

/* ---- Building ---- */

static void put(struct buf *form, const char *name, const char *value)
{
	buf_printf(form, "&MetricDataQueries.member.1.%s=", name);
	buf_put_percent(form, value, "");
}

/* Puts the list's next piece, trimmed. */
static void put_piece(struct buf *form, size_t number, const char *what, const char **list)
{
	size_t len = strcspn(*list, ";");
	MEM_AUTO char *piece = mem_dupn(*list, len);
	MEM_AUTO char *name = mem_printf("MetricStat.Metric.Dimensions.member.%zu.%s", number, what);

	put(form, name, text_trim(piece, " \t\r\n\v\f"));
	*list += len + ((*list)[len] == ';');
}

static void put_metric(struct buf *form, const struct cloudwatch *f, const char *period)
{
	const char *names = f->dimension_names, *values = f->dimension_values;
	size_t count = count_pieces(names);

	put(form, "Id", "c1");
	put(form, "MetricStat.Metric.Namespace", f->namespace_);
	put(form, "MetricStat.Metric.MetricName", f->metric);
	for (size_t i = 1; i <= count; i++) {
		put_piece(form, i, "Name", &names);
		put_piece(form, i, "Value", &values);
	}
	put(form, "MetricStat.Period", period);
	put(form, "MetricStat.Stat", f->stat);
	if (f->unit)
		put(form, "MetricStat.Unit", f->unit);
	put(form, "ReturnData", "true");
}

static int make_form(const struct cloudwatch *f, char **out, struct err *err)
{
	MEM_AUTO char *period = mem_printf("%lld", (long long)f->period_s);
	struct buf form = BUF_INIT(FORM_MAX);
	bool too_long;

	buf_puts(&form, "Action=GetMetricData&Version=2010-08-01&ScanBy=TimestampDescending");
	if (f->expression) {
		put(&form, "Id", "q1");
		put(&form, "Expression", f->expression);
		put(&form, "Period", period);
	} else {
		put_metric(&form, f, period);
	}
	if (f->account)
		put(&form, "AccountId", f->account);
	too_long = buf_failed(&form);
	*out = buf_take(&form);
	return too_long ? err_set(err, ERR_INVALID, "the request is longer than %zu bytes", FORM_MAX) : 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct cloudwatch *q = b->data;

	b->metric_name = mem_dup("aws-cloudwatch");
	return (!q->expression && check_metric(q, err)) || check_times(q, err) ||
			awsquery_login(b, "monitoring", &q->login, err) || make_form(q, &q->form, err)
		? -1
		: 0;
}

/* ---- Asking ---- */

struct cloudwatch_window cloudwatch_window(int64_t now_s, int64_t period_s, int64_t offset_s, int64_t length_s)
{
	int64_t end_s = now_s - offset_s;

	end_s -= (end_s + YEAR_1_S) % period_s;
	return (struct cloudwatch_window){ end_s - length_s, end_s };
}

static void put_time(struct buf *form, const char *name, int64_t unix_s)
{
	char text[TIMESTAMP_TEXT_MAX];

	buf_printf(form, "&%s=", name);
	buf_put_percent(form, timestamp_format(unix_s * 1000, text), "");
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct cloudwatch *q = ask->data;
	struct cloudwatch_window w = cloudwatch_window(timestamp_now_ms() / 1000, q->period_s, q->offset_s,
		q->length_s);
	struct buf form = BUF_INIT(2 * FORM_MAX);

	(void)err;
	buf_puts(&form, q->form);
	put_time(&form, "StartTime", w.start_s);
	put_time(&form, "EndTime", w.end_s);
	out->url = mem_dup(q->login.url);
	out->body = buf_take(&form);
	out->content_type = "application/x-www-form-urlencoded; charset=utf-8";
	out->max_body = ANSWER_MAX;
	return 0;
}

/*
 * Any other status or message means an incomplete answer. PartialData is fine with a point: older
 * ones follow on the next page.
 */
static int check_whole(const char *status, const char *message, bool has_point, struct err *err)
{
	if (message)
		return err_set(err, ERR_INVALID, "the answer is incomplete: %.200s", message);
	if (!status || strcmp(status, "Complete") == 0 || (has_point && strcmp(status, "PartialData") == 0))
		return 0;
	return err_set(err, ERR_TEMPORARY, "the answer has %s point, and the status %.80s", has_point ? "a" : "no",
		status);
}

enum cloudwatch_found cloudwatch_read(const char *body, size_t len, double *out, struct err *err)
{
#define RESULTS "GetMetricDataResponse/GetMetricDataResult/MetricDataResults"
	static const char *const paths[] = { RESULTS, RESULTS "/member/Values/member", RESULTS "/member/StatusCode",
		"GetMetricDataResponse/GetMetricDataResult/Messages/member/Code" };
	enum cloudwatch_found found = CLOUDWATCH_FAILED;
	char *texts[MEM_COUNT(paths)] = { NULL };

	if (awsxml_read(body, len, paths, MEM_COUNT(paths), texts, err))
		return CLOUDWATCH_FAILED;
	if (!texts[0])
		err_set(err, ERR_INVALID, "the answer is not a GetMetricDataResponse");
	else if (check_whole(texts[2], texts[3], texts[1] != NULL, err))
		found = CLOUDWATCH_FAILED;
	else if (!texts[1])
		found = CLOUDWATCH_NOTHING;
	else if (!metricvalue_of_text(texts[1], strlen(texts[1]), out) || !isfinite(*out))
		err_set(err, ERR_INVALID, "the newest point is not a number");
	else
		found = CLOUDWATCH_VALUE;
	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		free(texts[i]);
	return found;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct cloudwatch *q = ask->data;
	enum cloudwatch_found found;

	if (awsquery_expect(answer, "cloudwatch:GetMetricData", err))
		return EXCHANGE_FAILED;
	found = cloudwatch_read(answer->body, answer->len, &out->value, err);
	if (found == CLOUDWATCH_NOTHING && !q->empty_is_least)
		return err_set(err, ERR_INVALID,
			"empty metric data received, ignoreNullValues is false, returning error");
	if (found == CLOUDWATCH_NOTHING)
		out->value = q->least;
	return found == CLOUDWATCH_FAILED ? EXCHANGE_FAILED : EXCHANGE_DONE;
}

static const struct httpsource_type http = { .request = request, .read = judge };

const struct scaler_type cloudwatch_scaler_type = {
	.name = "aws-cloudwatch",
	.go_name = "awsCloudwatchScaler",
	.tables = { &table, &awsquery_table, &awslogin_table },
	.data_size = sizeof(struct cloudwatch),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
	.metered = true,
};
