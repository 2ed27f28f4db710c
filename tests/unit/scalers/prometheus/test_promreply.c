/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to instant queries, as Prometheus 2.42 and others send them, and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "scalers/prometheus/promreply.h"

#define OK             "{\"status\":\"success\",\"data\":{\"resultType\":"
#define NINE           "\"vector\",\"result\":[{\"value\":[1,\"9\"]}]"
#define NONE           "\"vector\",\"result\":[]"
#define WARNINGS(list) "\"warnings\":[" list "]"

static const struct row {
	const char *body;
	enum promreply reply;
	double value;
	const char *says; /* in the error */
	int status;       /* 0: 200 */
} rows[] = {
	{ OK "\"vector\",\"result\":[{\"metric\":{\"a\":\"b\"},\"value\":[1.5,\"3\"]}]}}", PROMREPLY_VALUE, 3, "", 0 },
	{ OK "\"vector\",\"result\":[{\"metric\":{},\"value\":[1,\"-1.5e+03\"]}]}}", PROMREPLY_VALUE, -1500, "", 0 },
	{ OK "\"vector\",\"result\":[{\"metric\":{},\"value\":[1,2.5]}]}}", PROMREPLY_VALUE, 2.5, "", 0 },
	{ OK "\"scalar\",\"result\":[1435781451.781,\"7\"]}}", PROMREPLY_VALUE, 7, "", 0 },
	{ "{\"data\":{\"result\":[1435781451,\"8\"]}}", PROMREPLY_VALUE, 8, "", 0 },
	/* annotations of the query by PromQL or Loki's engine */
	{ OK NINE "}," WARNINGS("\"PromQL warning: bucket label\",\"PromQL info: might not be a counter\"") "}",
		PROMREPLY_VALUE, 9, "", 0 },
	{ OK NINE "},\"infos\":[\"PromQL info: x\"],\"isPartial\":false,\"warnings\":null}", PROMREPLY_VALUE, 9, "",
		0 },
	{ OK NINE "}," WARNINGS(
		  "\"Query was executed using the new experimental query engine and dataobj storage.\"") "}",
		PROMREPLY_VALUE, 9, "", 0 },
	{ OK NONE "}," WARNINGS("\"PromQL info: might not be a counter\"") "}", PROMREPLY_EMPTY, 0,
		"the result is empty", 0 },
	/* incomplete data is an error, whatever the result */
	{ OK NINE "}," WARNINGS("\"PromQL info: x\",\"store\\nis away\"") "}", PROMREPLY_FAILED, 0,
		"the answer may cover only part of the data: store is away", 0 },
	{ OK NONE "}," WARNINGS("\"PromQL warning: x\",\"PromQL info: x\",\"a store is away\"") "}", PROMREPLY_FAILED,
		0, "only part of the data: a store is away", 0 },
	{ OK "\"vector\",\"result\":null}," WARNINGS("\"PromQL\"") "}", PROMREPLY_FAILED, 0,
		"only part of the data: PromQL", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"NaN\"]}]}," WARNINGS("\"half\"") "}", PROMREPLY_FAILED, 0,
		"only part of the data: half", 0 },
	{ OK "\"scalar\",\"result\":[1,\"7\"]},\"isPartial\":true}", PROMREPLY_FAILED, 0, "isPartial is true", 0 },
	{ OK NINE "},\"isPartial\":true}", PROMREPLY_FAILED, 0, "isPartial is true", 0 },
	{ OK NONE "},\"isPartial\":true}", PROMREPLY_FAILED, 0, "isPartial is true", 0 },
	/* nothing */
	{ OK "\"vector\",\"result\":[]}}", PROMREPLY_EMPTY, 0, "the result is empty", 0 },
	{ OK "\"matrix\",\"result\":[]}}", PROMREPLY_EMPTY, 0, "the result is empty", 0 },
	{ OK "\"vector\",\"result\":null}}", PROMREPLY_EMPTY, 0, "the result is empty", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"NaN\"]}]}}", PROMREPLY_EMPTY, 0, "the value is NaN", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"+Inf\"]}]}}", PROMREPLY_EMPTY, 0, "the value is +Inf", 0 },
	{ OK "\"scalar\",\"result\":[1,\"-Inf\"]}}", PROMREPLY_EMPTY, 0, "the value is -Inf", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,null]}]}}", PROMREPLY_EMPTY, 0, "the value is null", 0 },
	/* wrong */
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"1\"]},{\"value\":[1,\"2\"]}]}}", PROMREPLY_FAILED, 0,
		"multiple elements (2)", 0 },
	{ OK "\"matrix\",\"result\":[{\"values\":[[1,\"1\"]]}]}}", PROMREPLY_FAILED, 0, "a range of values", 0 },
	{ OK "\"vector\",\"result\":[{\"histogram\":[1,{}]}]}}", PROMREPLY_FAILED, 0, "a histogram", 0 },
	{ OK "\"string\",\"result\":[1,\"7\"]}}", PROMREPLY_FAILED, 0, "a text, not a number", 0 },
	{ OK "\"vector\",\"result\":[{\"metric\":{}}]}}", PROMREPLY_FAILED, 0, "has no value", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1]}]}}", PROMREPLY_FAILED, 0, "not a pair", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"\"]}]}}", PROMREPLY_FAILED, 0, "not a number", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\" 1\"]}]}}", PROMREPLY_FAILED, 0, "not a number", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"1x\"]}]}}", PROMREPLY_FAILED, 0, "not a number", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,true]}]}}", PROMREPLY_FAILED, 0, "not a number", 0 },
	{ OK "\"vector\",\"result\":[3]}}", PROMREPLY_FAILED, 0, "not a pair", 0 },
	{ OK "\"vector\",\"result\":{}}}", PROMREPLY_FAILED, 0, "no data.result", 0 },
	{ "{}", PROMREPLY_FAILED, 0, "no data.result", 0 },
	{ "[]", PROMREPLY_FAILED, 0, "not JSON but text/x", 0 },
	{ "{\"data\":{\"resultType\":\"scalar\",\"result\":[1,NaN]}}", PROMREPLY_FAILED, 0,
		"not JSON: a bare NaN stands", 0 },
	{ "<html>", PROMREPLY_FAILED, 0, "not JSON but text/x: does serverAddress lead to the query API", 0 },
	{ "", PROMREPLY_FAILED, 0, "not JSON", 0 },
	{ OK "\"vector\",\"result\":[{\"value\":[1,\"1", PROMREPLY_FAILED, 0, "not JSON", 0 },
	{ "{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"1:5: parse error\"}", PROMREPLY_FAILED, 0,
		"bad_data: 1:5: parse error", 400 },
	{ "{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"no\"}", PROMREPLY_FAILED, 0, "execution: no",
		0 },
	{ "{\"status\":\"error\"}", PROMREPLY_FAILED, 0, "reports an error without a message", 0 },
	{ "<html>Bad Gateway", PROMREPLY_FAILED, 0, "HTTP status 502", 502 },
	{ OK "\"scalar\",\"result\":[1,\"7\"]}}", PROMREPLY_FAILED, 0, "HTTP status 503", 503 },
	{ "", PROMREPLY_FAILED, 0, "HTTP status 302", 302 },
};

static void check(const struct row *row)
{
	double value = -1;
	struct err err = { 0 };
	enum promreply reply = promreply_read(row->status ? row->status : 200, "text/x", row->body, strlen(row->body),
		&value, &err);

	if (reply != row->reply || (reply == PROMREPLY_VALUE && value != row->value) || !strstr(err.msg, row->says))
		fail_msg("%s: reply %d value %g: %s", row->body, reply, value, err.msg);
}

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

static void too_large(void **state)
{
	struct buf body = BUF_INIT(1 << 20);

	(void)state;
	buf_puts(&body, OK "\"vector\",\"result\":[{}");
	for (int i = 0; i < JSON_FOREIGN_VALUES_MAX / 2; i++)
		buf_puts(&body, ",{}");
	buf_puts(&body, "]}}");
	check(&(struct row){ body.data, PROMREPLY_FAILED, 0,
		"the answer is too large: the query must return one element: it has more than 100000 values", 0 });
	check(&(struct row){ body.data, PROMREPLY_FAILED, 0, "HTTP status 503", 503 });
	buf_done(&body);
}

static void kinds(void **state)
{
	static const struct {
		int status;
		enum err_kind kind;
	} all[] = { { 400, ERR_INVALID }, { 401, ERR_DENIED }, { 403, ERR_DENIED }, { 404, ERR_MISSING },
		{ 422, ERR_INVALID }, { 429, ERR_TEMPORARY }, { 503, ERR_TEMPORARY } };
	double value;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(promreply_read(all[i].status, "", "", 0, &value, &err), PROMREPLY_FAILED);
		assert_int_equal(err.kind, all[i].kind);
		assert_int_equal(err.http_status, all[i].status);
	}
}

/* Quoted texts of a server are short, on one line, and not cut within a character. */
static void quoted_texts(void **state)
{
	char body[4096];
	double value;
	struct err err;

	(void)state;
	strcpy(body, "{\"status\":\"error\",\"error\":\"");
	for (int i = 0; i < 300; i++)
		strcat(body, i % 7 ? "\xC3\xA4" : "\\u0007");
	strcat(body, "\"}");
	assert_int_equal(promreply_read(500, "", body, strlen(body), &value, &err), PROMREPLY_FAILED);
	assert_true(strlen(err.msg) < 240);
	assert_null(strpbrk(err.msg, "\r\n\a"));
	assert_string_equal(err.msg + strlen(err.msg) - 3, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(answers), cmocka_unit_test(too_large),
		cmocka_unit_test(kinds), cmocka_unit_test(quoted_texts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
