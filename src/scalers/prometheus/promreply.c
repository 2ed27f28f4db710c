/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/prometheus/promreply.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "net/http/httpstatus.h"

/* Bytes of a server's text that are quoted. */
#define WORDS_MAX 200

/* On one line, shortened. */
static void put_words(struct buf *out, const char *text)
{
	size_t len = strlen(text), cut = utf8_cut(text, len, WORDS_MAX);

	for (size_t i = 0; i < cut; i++)
		buf_putc(out, iscntrl((unsigned char)text[i]) ? ' ' : text[i]);
	buf_puts(out, cut < len ? "..." : "");
}

/* ---- A number ---- */

static enum promreply number(const char *text, double *value, struct err *err)
{
	char *end;

	*value = strtod(text, &end);
	if (!*text || isspace((unsigned char)*text) || *end)
		return err_set(err, ERR_INVALID, "the value is not a number");
	if (isfinite(*value))
		return PROMREPLY_VALUE;
	err_set(err, ERR_INVALID, "the value is %s", isnan(*value) ? "NaN" : *value > 0 ? "+Inf" : "-Inf");
	return PROMREPLY_EMPTY;
}

/* [time, value] */
static enum promreply sample(const json_t *pair, double *value, struct err *err)
{
	const json_t *v = json_array_get(pair, 1);

	if (json_array_size(pair) != 2)
		return err_set(err, ERR_INVALID, "the value is not a pair of time and number");
	if (json_is_string(v))
		return number(json_string_value(v), value, err);
	if (json_is_number(v)) {
		*value = json_number_value(v);
		return PROMREPLY_VALUE;
	}
	if (!json_is_null(v))
		return err_set(err, ERR_INVALID, "the value is not a number");
	err_set(err, ERR_INVALID, "the value is null");
	return PROMREPLY_EMPTY;
}

/* ---- The result ---- */

static enum promreply empty(struct err *err)
{
	err_set(err, ERR_INVALID, "the result is empty: no series matches, or its target is lost");
	return PROMREPLY_EMPTY;
}

static enum promreply element(const json_t *e, double *value, struct err *err)
{
	const json_t *pair = json_object_get(e, "value");

	if (json_is_array(pair))
		return sample(pair, value, err);
	if (json_is_array(json_object_get(e, "values")) || json_is_array(json_object_get(e, "histograms")))
		return err_set(err, ERR_INVALID,
			"the result is a range of values, not one: the query lacks a function around its [range]");
	if (json_is_array(json_object_get(e, "histogram")))
		return err_set(err, ERR_INVALID,
			"the result is a histogram, not a number: histogram_quantile, histogram_count or histogram_sum "
			"makes one of it");
	return err_set(err, ERR_INVALID, "the result has no value");
}

static enum promreply elements(const json_t *result, double *value, struct err *err)
{
	size_t count = json_array_size(result);

	if (count == 0)
		return empty(err);
	if (count == 1)
		return element(json_array_get(result, 0), value, err);
	return err_set(err, ERR_INVALID,
		"the query returned multiple elements (%zu), and must return one: sum(), max() and the like make one "
		"of them",
		count);
}

static enum promreply success(const json_t *root, double *value, struct err *err)
{
	const json_t *data = json_object_get(root, "data"), *result = json_object_get(data, "result");
	const char *type = json_str_or_empty(data, "resultType");

	if (strcmp(type, "string") == 0)
		return err_set(err, ERR_INVALID, "the result is a text, not a number");
	if (strcmp(type, "streams") == 0)
		return err_set(err, ERR_INVALID,
			"the result is lines of a log, not a number: count_over_time(), rate() and the like make one "
			"of "
			"them");
	/* Go writes an empty list that was never made as null. */
	if (json_is_object(data) && json_is_null(result))
		return empty(err);
	if (!json_is_array(result))
		return err_set(err, ERR_INVALID, "the answer has no data.result: is this the query API?");
	if (strcmp(type, "scalar") == 0 || json_is_number(json_array_get(result, 0)))
		return sample(result, value, err);
	return elements(result, value, err);
}

/* ---- Completeness ---- */

/*
 * Whether a warning is about the query itself, not about missing data: annotations of PromQL, which
 * Prometheus 2.48 to 2.53, Thanos and Mimir send as warnings, and Loki's notice of its new engine.
 */
static bool speaks_of_query(const char *warning)
{
	static const char *const beginnings[] = { "PromQL info:", "PromQL warning:",
		"Query was executed using the new experimental query engine" };

	for (size_t i = 0; i < MEM_COUNT(beginnings); i++)
		if (strncmp(warning, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static int partial(const char *warning, struct err *err)
{
	struct buf words = BUF_INIT(4 * WORDS_MAX);

	put_words(&words, warning);
	err_set(err, ERR_TEMPORARY, "the answer may cover only part of the data: %s", buf_text(&words));
	buf_done(&words);
	return -1;
}

/* The number of an incomplete answer looks like any other, so it is refused. */
static int check_whole(const json_t *root, struct err *err)
{
	const json_t *warnings = json_object_get(root, "warnings"), *one;
	size_t i;

	if (json_is_true(json_object_get(root, "isPartial")))
		return partial("isPartial is true, as a storage node did not answer", err);
	json_array_foreach(warnings, i, one) if (json_is_string(one) &&
		!speaks_of_query(json_string_value(one))) return partial(json_string_value(one), err);
	return 0;
}

/* ---- The answer ---- */

static enum promreply refused(int status, const json_t *root, struct err *err)
{
	const char *type = json_str_or_empty(root, "errorType"), *text = json_str_or_empty(root, "error");
	bool good = status >= 200 && status <= 299;
	struct buf words = BUF_INIT(8 * WORDS_MAX);

	if (!good)
		buf_printf(&words, "HTTP status %d", status);
	if (*type) {
		buf_puts(&words, good ? "" : ": ");
		put_words(&words, type);
	}
	if (*text) {
		buf_puts(&words, words.len > 0 ? ": " : "");
		put_words(&words, text);
	}
	err_set(err, good ? ERR_INVALID : httpstatus_kind(status), "%s",
		words.len > 0 ? buf_text(&words) : "the server reports an error without a message");
	if (err)
		err->http_status = good ? 0 : status;
	buf_done(&words);
	return PROMREPLY_FAILED;
}

static enum promreply no_json(const char *content_type, const char *bare, struct err *err)
{
	struct buf words = BUF_INIT(4 * WORDS_MAX);

	if (*bare)
		return err_set(err, ERR_INVALID, "the answer is not JSON%s", bare);

	put_words(&words, *content_type ? content_type : "of unknown type");
	err_set(err, ERR_INVALID, "the answer is not JSON but %s: does serverAddress lead to the query API?",
		buf_text(&words));
	buf_done(&words);
	return PROMREPLY_FAILED;
}

enum promreply promreply_read(int status, const char *content_type, const char *body, size_t len, double *value,
	struct err *err)
{
	bool bearable = json_is_bearable(body, len, err);
	struct err wrong = { 0 };
	json_t *root = bearable ? json_parse(body, len, &wrong) : NULL;
	enum promreply reply = PROMREPLY_FAILED;

	*value = 0;
	if (status < 200 || status > 299 || json_str_is(root, "status", "error"))
		reply = refused(status, root, err);
	else if (!bearable)
		err_wrap(err, "the answer is too large: the query must return one element");
	else if (!json_is_object(root))
		reply = no_json(content_type, json_bare_number(wrong.msg), err);
	else if (check_whole(root, err) == 0)
		reply = success(root, value, err);
	json_decref(root);
	return reply;
}

enum exchange_verdict promreply_judge(const struct webresponse *answer, bool empty_is_zero, bool *empty, double *value,
	struct err *err)
{
	enum promreply reply = promreply_read(answer->status, answer->content_type, answer->body, answer->len, value,
		err);

	*empty = reply == PROMREPLY_EMPTY;
	if (*empty)
		*value = 0;
	if (reply == PROMREPLY_VALUE || (*empty && empty_is_zero))
		return EXCHANGE_DONE;
	return *empty ? err_wrap(err, "ignoreNullValues is false") : -1;
}
