/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/google/timeseriesreply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/http/httpstatus.h"

#define WORDS_SHOWN 200
#define PAGE_MAX    ((size_t)4096)

/* ---- An error of Google's APIs ---- */

/* The message on one line, shortened; the caller owns it. */
static char *words_of(const json_t *error)
{
	const char *message = json_str_or_empty(error, "message");
	char *words = mem_dupn(message, strnlen(message, WORDS_SHOWN));

	for (char *c = words; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
	return words;
}

/* "PERMISSION_DENIED"; "": none. */
static const char *code_of(const json_t *error)
{
	const char *code = json_str_or_empty(error, "status");
	size_t len = strlen(code);

	return len <= 40 && strspn(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == len ? code : "";
}

int timeseriesreply_refusal(int status, const char *body, size_t len, struct err *err)
{
	json_t *value = json_parse_foreign(body, len, NULL);
	const json_t *error = json_object_get(value, "error");
	const char *code = code_of(error);
	MEM_AUTO char *words = words_of(error);

	err_set(err, httpstatus_kind(status), "HTTP status %d%s%s%s%s%s", status, *code ? ", " : "", code,
		*words ? ": " : "", words,
		status == 403 ? "; missing permission: monitoring.timeSeries.list (role Monitoring Viewer)" : "");
	err->http_status = status;
	json_decref(value);
	return -1;
}

/* ---- A point ---- */

/* The type's name, for a message. */
static const char *type_of(const json_t *value)
{
	static const char *const types[] = { "boolValue", "stringValue", "distributionValue" };

	for (size_t i = 0; i < MEM_COUNT(types); i++)
		if (json_object_get(value, types[i]))
			return types[i];
	return "no known type";
}

/* In Google's JSON 64-bit integers are strings. */
static enum timeseriesreply read_value(const json_t *value, double *out, struct err *err)
{
	const json_t *whole = json_object_get(value, "int64Value"), *number = json_object_get(value, "doubleValue");
	const char *text = json_string_value(whole);
	size_t sign = text && *text == '-', digits = text ? strspn(text + sign, "0123456789") : 0;

	if (text && digits > 0 && digits < 20 && !text[sign + digits])
		*out = strtod(text, NULL);
	else if (json_is_integer(whole) || json_is_number(number))
		*out = json_number_value(whole ? whole : number);
	else if (whole || number)
		return err_set(err, ERR_INVALID, "the newest point is not a number"), TIMESERIESREPLY_FAILED;
	else
		return err_set(err, ERR_INVALID, "could not extract value from metric of type %s", type_of(value)),
		       TIMESERIESREPLY_FAILED;
	return TIMESERIESREPLY_VALUE;
}

static const json_t *first_of(const json_t *list)
{
	return json_array_get(list, 0);
}

/* ---- An answer ---- */

/* With partial errors the response is incomplete. */
static int check_whole(const json_t *answer, struct err *err)
{
	const json_t *error = first_of(json_object_get(answer, "partialErrors"));
	MEM_AUTO char *words = words_of(error);

	return error ? err_set(err, ERR_TEMPORARY, "the query was only partly answered: %s",
			       *words ? words : "no reason is given")
		     : 0;
}

static enum timeseriesreply judge_nothing(const json_t *answer, char **page, struct err *err)
{
	const char *next = json_str_or_empty(answer, "nextPageToken");

	if (!*next)
		return TIMESERIESREPLY_NOTHING;
	if (strlen(next) > PAGE_MAX) {
		err_set(err, ERR_INVALID, "the name of the next page has more than %zu bytes", PAGE_MAX);
		return TIMESERIESREPLY_FAILED;
	}
	*page = mem_dup(next);
	return TIMESERIESREPLY_MORE;
}

static bool is_list(const json_t *answer, const char *name)
{
	const json_t *list = json_object_get(answer, name);

	return !list || json_is_array(list);
}

static enum timeseriesreply judge(const json_t *answer, double *out, char **page, struct err *err)
{
	const json_t *series = json_object_get(answer, "timeSeriesData"), *points, *values;

	if (!json_is_object(answer) || !is_list(answer, "timeSeriesData") || !is_list(answer, "partialErrors")) {
		err_set(err, ERR_INVALID, "unexpected answer: it is not one of Cloud Monitoring's");
		return TIMESERIESREPLY_FAILED;
	}
	if (check_whole(answer, err))
		return TIMESERIESREPLY_FAILED;
	if (json_array_size(series) == 0)
		return judge_nothing(answer, page, err);
	points = json_object_get(first_of(series), "pointData");
	if (json_array_size(points) == 0)
		return judge_nothing(answer, page, err);
	values = json_object_get(first_of(points), "values");
	return read_value(first_of(values), out, err);
}

enum timeseriesreply timeseriesreply_read(const char *body, size_t len, double *out, char **page, struct err *err)
{
	json_t *answer = json_parse_foreign(body, len, err);
	enum timeseriesreply reply;

	*page = NULL;
	if (!answer) {
		err_set(err, ERR_INVALID, "the answer is not JSON");
		return TIMESERIESREPLY_FAILED;
	}
	reply = judge(answer, out, page, err);
	json_decref(answer);
	if (reply == TIMESERIESREPLY_VALUE && !isfinite(*out)) {
		err_set(err, ERR_INVALID, "the newest point is not a number");
		reply = TIMESERIESREPLY_FAILED;
	}
	return reply;
}
