/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/google/pubsubquery.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS   "0123456789"
#define TEXT_MAX ((size_t)8192)
#define MODE_MAX 200

#define ID_LEAST 3
#define ID_MOST  255

#define HORIZON_MS            120000
#define AGGREGATED_HORIZON_MS 300000
#define PERIOD_MS             180000 /* of an aggregation */

/* ---- Names ---- */

/* KEDA's texts, without the name: it may come from the environment and be a secret by mistake. */
static int check_id(const char *id, struct err *err)
{
	size_t len = strlen(id);

	if (text_behind_nocase(id, "goog"))
		return err_set(err, ERR_INVALID, "invalid Pub/Sub resource name: names cannot start with \"goog\"");
	if (len < ID_LEAST || len > ID_MOST || !strchr(LETTERS, *id) || strspn(id, LETTERS DIGITS "-_.~+%") != len)
		return err_set(err, ERR_INVALID,
			"invalid Pub/Sub resource name: it is a letter and 2 to 254 letters, digits or -_.~+%%, or all "
			"of projects/PROJECT/subscriptions/NAME");
	return 0;
}

/* "[a-z][a-zA-Z0-9-]*[a-zA-Z0-9]"; 0: no match here. */
static size_t project_length(const char *text)
{
	size_t len = strspn(text, LETTERS DIGITS "-");

	return len > 1 && islower((unsigned char)*text) && text[len - 1] != '-' ? len : 0;
}

int pubsubquery_name(const char *name, char **project, char **id, struct err *err)
{
	const char *whose = text_behind(name, "projects/"), *rest = name;
	size_t len = whose ? project_length(whose) : 0;

	*project = *id = NULL;
	if (len > 0) {
		rest = text_behind(whose + len, "/subscriptions/");
		rest = rest ? rest : text_behind(whose + len, "/topics/");
		len = rest ? len : 0;
	}
	if (check_id(len > 0 ? rest : name, err))
		return -1;
	*project = len > 0 ? mem_dupn(whose, len) : NULL;
	*id = mem_dup(len > 0 ? rest : name);
	return 0;
}

/* ---- Modes ---- */

/* The second part of "(.)([A-Z][a-z]+)" begins here. */
static bool begins_word(const char *text)
{
	return isupper((unsigned char)text[0]) && islower((unsigned char)text[1]);
}

/*
 * KEDA's conversion of CamelCase: first an underscore before each capital that is followed by small
 * letters, then between a small letter or digit and a capital. As in its regular expression, the
 * letter before a word cannot end another match.
 */
static void put_snake(struct buf *out, const char *camel)
{
	struct buf first = BUF_INIT(TEXT_MAX);
	const char *at = camel;

	while (*at) {
		buf_putc(&first, *at);
		if (!begins_word(++at))
			continue;
		buf_putc(&first, '_');
		buf_putc(&first, *at++);
		while (islower((unsigned char)*at))
			buf_putc(&first, *at++);
	}
	for (at = buf_text(&first); *at; at++) {
		buf_putc(out, (char)tolower((unsigned char)*at));
		if ((islower((unsigned char)at[0]) || isdigit((unsigned char)at[0])) && isupper((unsigned char)at[1]))
			buf_putc(out, '_');
	}
	buf_done(&first);
}

const char *pubsubquery_metric(const char *mode)
{
	return strcmp(mode, "SubscriptionSize") == 0 ? "NumUndeliveredMessages" : mode;
}

/* ---- Aggregations ---- */

/* Like Go's Atoi, with sign and leading zeros. -1: not a number from 0 to 100. */
static int percentile_of(const char *text)
{
	const char *digits = text + (*text == '+' || *text == '-');
	size_t len = strspn(digits, DIGITS);
	long value;

	if (len == 0 || digits[len])
		return -1;
	digits += strspn(digits, "0");
	value = strlen(digits) <= 3 ? strtol(*digits ? digits : "0", NULL, 10) : 101;
	return value > 100 || (*text == '-' && value > 0) ? -1 : (int)value;
}

static int check_aggregation(const char *aggregation, struct err *err)
{
	static const char *const known[] = { "mean", "median", "variance", "stddev", "sum", "count", NULL };
	const char *percentile = text_behind(aggregation, "percentile");

	if (percentile && percentile_of(percentile) < 0)
		return err_set_about(err, "aggregation", "invalid percentile value: %.80s", percentile);
	if (!percentile && !text_is_one_of(aggregation, known))
		return err_set_about(err, "aggregation", "unsupported aggregation function: %.80s", aggregation);
	return 0;
}

int pubsubquery_check(const struct pubsubquery *q, struct err *err)
{
	size_t len = strlen(q->mode);

	if (len > MODE_MAX || strspn(q->mode, LETTERS DIGITS "_/") != len)
		return err_set_about(err, "mode",
			"mode \"%.80s\" is not a metric: only letters, digits, _ and / are allowed", q->mode);
	return q->aggregation ? check_aggregation(q->aggregation, err) : 0;
}

/* ---- The query ---- */

/* In Go's format of durations, with zeros: "2m0s", "1h0m0s", "1.5s", "250ms". */
static void put_duration(struct buf *out, int64_t ms)
{
	long long hours = (long long)(ms / 3600000), minutes = (long long)(ms / 60000);
	unsigned seconds = (unsigned)(ms / 1000 % 60), rest = (unsigned)(ms % 1000);

	if (ms < 1000) {
		buf_printf(out, "%ums", rest);
		return;
	}
	if (hours > 0)
		buf_printf(out, "%lldh%lldm", hours, minutes % 60);
	else if (minutes > 0)
		buf_printf(out, "%lldm", minutes);
	if (rest == 0)
		buf_printf(out, "%us", seconds);
	else if (rest % 100 == 0)
		buf_printf(out, "%u.%us", seconds, rest / 100);
	else if (rest % 10 == 0)
		buf_printf(out, "%u.%02us", seconds, rest / 10);
	else
		buf_printf(out, "%u.%03us", seconds, rest);
}

int64_t pubsubquery_horizon_ms(const struct pubsubquery *q)
{
	return q->horizon_ms > 0 ? q->horizon_ms : q->aggregation ? AGGREGATED_HORIZON_MS : HORIZON_MS;
}

static void put_aggregation(struct buf *out, const char *aggregation)
{
	const char *percentile = text_behind(aggregation, "percentile");

	buf_puts(out, " | align delta(");
	put_duration(out, PERIOD_MS);
	buf_puts(out, ") | every ");
	put_duration(out, PERIOD_MS);
	if (percentile)
		buf_printf(out, " | group_by [], percentile(value, %d)", percentile_of(percentile));
	else
		buf_printf(out, " | group_by [], %s(value)", aggregation);
}

char *pubsubquery_text(const struct pubsubquery *q, const char *project)
{
	const char *what = q->topic ? "topic" : "subscription";
	struct buf out = BUF_INIT(TEXT_MAX);

	buf_printf(&out, "fetch pubsub_%s | metric 'pubsub.googleapis.com/%s/", what, what);
	put_snake(&out, pubsubquery_metric(q->mode));
	buf_printf(&out, "' | filter (resource.project_id == '%s' && resource.%s_id == '%s') | within ", project, what,
		q->id);
	put_duration(&out, pubsubquery_horizon_ms(q));
	if (q->aggregation)
		put_aggregation(&out, q->aggregation);
	return buf_take(&out);
}
