/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to searches, as Elasticsearch 8 and OpenSearch 2.18 send them, and malformed ones
 * (doc/keda.md 8.9).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/elasticsearch/searchreply.h"

#define SHARDS(total, good, failed)                                                                                    \
	"\"_shards\":{\"total\":" #total ",\"successful\":" #good ",\"skipped\":0,\"failed\":" #failed "}"
#define WHOLE(rest) "{\"took\":3,\"timed_out\":false," SHARDS(5, 5, 0) "," rest "}"
#define AGG(value)  WHOLE("\"aggregations\":{\"m\":{\"value\":" value "}}")
#define M           "aggregations.m.value"
#define HITS        "\"hits\":{\"total\":{\"value\":42,\"relation\":\"eq\"},\"hits\":[{\"_source\":{\"a\":\"12\"}},{}]}"

static const struct {
	const char *location, *body;
	double value, ignoring; /* without and with ignoreNullValues; NO: an error */
	const char *says;
} replies[] = {
#define NO (-99)
	{ "hits.total.value", WHOLE(HITS), 42, 42, "" },
	{ "hits.hits.#", WHOLE(HITS), 2, 2, "" },
	{ "hits.hits.0._source.a", WHOLE(HITS), 12, 12, "" },
	{ M, AGG("3.5"), 3.5, 3.5, "" },
	{ M, AGG("-1e3"), -1000, -1000, "" },
	{ M, AGG("\"+.5e1\""), 5, 5, "" },
	{ M, AGG("0"), 0, 0, "" },
	{ "hits.total.value", "{" SHARDS(0, 0, 0) ",\"hits\":{\"total\":{\"value\":0}}}", 0, 0, "" },
	/* null and missing values: for complete searches only */
	{ M, AGG("null"), NO, 0, "valueLocation must point to value of type number but got: 'Null'" },
	{ "x", AGG("1"), NO, 0, "got: 'Null'" },
	{ M, "{}", NO, NO, "the answer is not a search result" },
	{ M, "{\"ok\":true}", NO, NO, "the answer is not a search result" },
	{ M, "{\"_shards\":7}", NO, NO, "the answer is not a search result" },
	{ M, "{\"_shards\":{\"total\":\"5\",\"successful\":5}}", NO, NO, "the answer is not a search result" },
	{ "0", "[1]", NO, NO, "the answer is not a search result" },
	{ "@this", "7", NO, NO, "the answer is not a search result" },
	/* values that are no numbers */
	{ M, AGG("\"500m\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"12 \""), NO, NO, "got: 'String'" },
	{ M, AGG("\"\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"NaN\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"Infinity\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"0x1f\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"1e999\""), NO, NO, "got: 'String'" },
	{ M, AGG("\"1\\u0000\""), NO, NO, "got: 'String'" },
	{ M, AGG("true"), NO, NO, "got: 'True'" },
	{ M, AGG("false"), NO, NO, "got: 'False'" },
	{ M, AGG("[1]"), NO, NO, "got: 'JSON'" },
	{ M, AGG("{}"), NO, NO, "got: 'JSON'" },
	/* incomplete searches */
	{ M, "{\"timed_out\":true," SHARDS(5, 5, 0) ",\"aggregations\":{\"m\":{\"value\":1}}}", NO, NO,
		"the search timed out (\"timed_out\")" },
	{ M, "{" SHARDS(5, 4, 0) ",\"aggregations\":{\"m\":{\"value\":1}}}", NO, NO,
		"only 4 of 5 shards answered, so the value would cover only part of the documents" },
	{ M,
		"{\"_shards\":{\"total\":5,\"successful\":4,\"failed\":1,\"failures\":[{\"shard\":0,\"reason\":{"
		"\"type\":\"illegal\",\"reason\":\"no\\nfield\"}}]}}",
		NO, NO, "part of the documents: illegal: no field" },
	{ M, "{" SHARDS(5, 5, 1) "}", NO, NO, "only 5 of 5 shards answered" },
	{ M, WHOLE("\"_clusters\":{\"total\":2,\"successful\":1,\"skipped\":1},\"aggregations\":{\"m\":{\"value\":1}}"),
		NO, NO, "1 of 2 clusters did not answer (\"skipped\")" },
	{ M, WHOLE("\"_clusters\":{\"total\":2,\"successful\":2,\"skipped\":0},\"aggregations\":{\"m\":{\"value\":1}}"),
		1, 1, "" },
	/* invalid JSON */
	{ M, "", NO, NO, "the answer" },
	{ M, "<html>", NO, NO, "the answer" },
	{ M, "{\"_shards\":{\"total\":1", NO, NO, "the answer" },
	{ M, AGG("1e999"), NO, NO, "the answer" },
	{ M, AGG("1,\"value\":2"), NO, NO, "the answer" },
};

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(replies); i++)
		for (int ignoring = 0; ignoring < 2; ignoring++) {
			struct jsonpath *path = jsonpath_compile(replies[i].location, NULL);
			const struct searchreply_rule rule = { path, ignoring };
			double value = NO, wanted = ignoring ? replies[i].ignoring : replies[i].value;
			struct err err = { 0 };
			int rc = searchreply_read(&rule, replies[i].body, strlen(replies[i].body), &value, &err);

			if (rc != (wanted == NO ? -1 : 0) || (rc == 0 && value != wanted))
				fail_msg("%s: %d, %g, \"%s\"", replies[i].body, rc, value, err.msg);
			if (rc && !strstr(err.msg, replies[i].says))
				fail_msg("%s: said \"%s\"", replies[i].body, err.msg);
			jsonpath_free(path);
		}
}

static void too_many_values(void **state)
{
	struct buf body = BUF_INIT((size_t)1 << 20);
	struct jsonpath *path = jsonpath_compile("a", NULL);
	const struct searchreply_rule rule = { path, true };
	struct err err = { 0 };
	double value;

	(void)state;
	buf_puts(&body, "{" SHARDS(1, 1, 0) ",\"b\":[0");
	for (int i = 0; i < 110000; i++)
		buf_puts(&body, ",1");
	buf_puts(&body, "]}");
	assert_int_equal(searchreply_read(&rule, buf_text(&body), body.len, &value, &err), -1);
	assert_non_null(strstr(err.msg, "too large"));
	jsonpath_free(path);
	buf_done(&body);
}

static void error_messages(void **state)
{
	static const struct {
		const char *body, *words;
	} bodies[] = {
		{ "{\"error\":{\"root_cause\":[{\"type\":\"a\",\"reason\":\"b\"}],\"type\":\"c\",\"reason\":\"d\"}}",
			"a: b" },
		{ "{\"error\":{\"root_cause\":[],\"type\":\"c\",\"reason\":\"d\\u0007\"}}", "c: d " },
		{ "{\"error\":{\"type\":\"c\"}}", "c" },
		{ "{\"error\":{\"reason\":\"d\"}}", "d" },
		{ "{\"error\":\"plain\"}", "plain" },
		{ "{\"error\":7}", "" },
		{ "{\"error\":{\"type\":7,\"reason\":[]}}", "" },
		{ "{}", "" },
		{ "Unauthorized", "" },
		{ "", "" },
	};
	char words[SEARCHREPLY_WORDS];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bodies); i++)
		assert_string_equal(searchreply_words(bodies[i].body, strlen(bodies[i].body), words), bodies[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(too_many_values),
		cmocka_unit_test(error_messages),
	};

	return cmocka_run_group_tests_name("scalers/elasticsearch/searchreply", tests, NULL, NULL);
}
