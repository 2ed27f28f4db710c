/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elasticsearch and opensearch triggers (doc/keda.md 8.9): parameters, requests, choice of the
 * address, and statuses. test_searchreply.c covers the answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "net/loop.h"
#include "scalers/http/httpsource.h"
#include "scalers/scaler.h"
#include "scalers/types.h"

static int build(const char *type, const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = type, .index = 1 };

	return pairs_build(&params, metadata, auth, "PASSWORD=secret-value|EMPTY=", out, err);
}

#define ES       "elasticsearch"
#define OS       "opensearch"
#define WHERE    "addresses=http://e:9200"
#define REST     "index=jobs|valueLocation=hits.total.value|targetValue=5"
#define QUERY    "{\"query\":{\"match_all\":{}}}"
#define BASE     WHERE "|" REST "|query=" QUERY
#define NAMED    WHERE "|" REST "|searchTemplateName=open jobs (1)"
#define CLOUD    REST "|query=" QUERY
#define LOGIN    "username=reader|password=secret-value"
#define CLOUD_ID "shop:ZXUtd2VzdC0xLmF3cy5mb3VuZC5pbzo0NDMkYWJjZGVmJDEyMzQ1Ng=="

static const struct {
	const char *type, *metadata, *auth, *metric, *url, *body;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ ES, BASE, LOGIN, "s1-elasticsearch-query", "http://e:9200/jobs/_search", QUERY, 5000, 0 },
	{ OS, BASE, LOGIN, "s1-opensearch-query", "http://e:9200/jobs/_search", QUERY, 5000, 0 },
	{ ES, BASE "|username=reader|passwordFromEnv=PASSWORD|unsafeSsl=true|ignoreNullValues=true|metricName=x", NULL,
		"s1-elasticsearch-query", "http://e:9200/jobs/_search", QUERY, 5000, 0 },
	{ ES, "query={ /* all */ }|" REST "|activationTargetValue=2.5",
		LOGIN "|addresses=https://e/elastic//, https://f:9200", "s1-elasticsearch-query",
		"https://e/elastic/jobs/_search", "{ /* all */ }", 5000, 2.5 },
	{ ES, WHERE "|index=logs-*; <log-{now/d}> ;;eu:%3Clog%3E|valueLocation=a|targetValue=0.5|query={}", LOGIN,
		"s1-elasticsearch-query", "http://e:9200/logs-*,%3Clog-%7Bnow%2Fd%7D%3E,eu:%3Clog%3E/_search", "{}",
		500, 0 },
	{ ES, WHERE "|index=100%|valueLocation=a|targetValue=1|query={}", LOGIN, "s1-elasticsearch-query",
		"http://e:9200/100%25/_search", "{}", 1000, 0 },
	{ ES, NAMED, LOGIN, "s1-elasticsearch-open jobs -1-", "http://e:9200/jobs/_search/template",
		"{\"id\":\"open jobs (1)\"}", 5000, 0 },
	{ ES, NAMED "|parameters= state : open ;since:12:30; ;none:", LOGIN, "s1-elasticsearch-open jobs -1-",
		"http://e:9200/jobs/_search/template",
		"{\"id\":\"open jobs (1)\",\"params\":{\"state\":\"open\",\"since\":\"12:30\",\"none\":\"\"}}", 5000,
		0 },
	{ OS, NAMED "|parameters=a:b", LOGIN, "s1-opensearch-open jobs -1-", "http://e:9200/jobs/_search/template",
		"{\"id\":\"open jobs (1)\",\"params\":{\"a\":\"b\"}}", 5000, 0 },
	{ ES, BASE "|parameters=nonsense", LOGIN, "s1-elasticsearch-query", "http://e:9200/jobs/_search", QUERY, 5000,
		0 },
	{ ES, CLOUD, "cloudID=" CLOUD_ID "|apiKey=secret-value", "s1-elasticsearch-query",
		"https://abcdef.eu-west-1.aws.found.io:443/jobs/_search", QUERY, 5000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler_sources sources = { .loop = loop_new(NULL) };
		struct webrequest r = { 0 };
		struct scaler s;
		struct err err = { 0 };
		size_t failed = 0;
		struct httpsource ask = { .base = { .sources = &sources, .deadline_ms = INT64_MAX }, .state = &failed };

		if (build(goods[i].type, goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		ask.base.question = s.question;
		ask.data = s.question->data;
		assert_int_equal(s.type->http->request(&ask, &r, &err), 0);
		assert_string_equal(r.url, goods[i].url);
		assert_string_equal(r.body, goods[i].body);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_true(s.activation == goods[i].activation);
		assert_int_equal(s.question->timeout_ms, QUESTION_TIMEOUT_HTTP);
		assert_null(strstr(s.question->key, "secret-value"));
		free(r.url);
		free(r.body);
		scaler_done(&s);
		loop_free(sources.loop);
	}
}

static const struct {
	const char *type, *metadata, *auth, *message;
} bads[] = {
	{ ES, "index=a|valueLocation=b|query={}", LOGIN "|" WHERE,
		"trigger 1 (elasticsearch): missing required parameter \"targetValue\" in [authParams "
		"triggerMetadata]" },
	{ ES, WHERE "|valueLocation=b|targetValue=1|query={}", LOGIN,
		"missing required parameter \"index\" in [authParams triggerMetadata]" },
	{ ES, WHERE "|index=a|targetValue=1|query={}", LOGIN, "missing required parameter \"valueLocation\"" },
	{ ES, CLOUD, NULL, "must provide either cloud config or endpoint addresses" },
	{ ES, CLOUD, LOGIN "|cloudID=a", "can't provide both cloud config and endpoint addresses" },
	{ ES, BASE, "apiKey=secret-value", "can't provide both cloud config and endpoint addresses" },
	{ ES, CLOUD, "cloudID=a", "both cloudID and apiKey must be provided when cloudID or apiKey is used" },
	{ ES, CLOUD, "apiKey=secret-value", "both cloudID and apiKey must be provided when cloudID or apiKey is used" },
	{ ES, BASE, NULL, "both username and password must be provided when addresses is used" },
	{ ES, BASE, "username=a", "both username and password must be provided when addresses is used" },
	{ ES, CLOUD, LOGIN, "parameter \"addresses\" has no address" },
	{ ES, CLOUD "|addresses=, ,", LOGIN, "parameter \"addresses\" has no address" },
	{ ES, CLOUD "|addresses=http://e, e:9200", LOGIN,
		"parameter \"addresses\", piece 2: must be a URL that begins with" },
	{ ES, CLOUD "|addresses=http://a:secret-value@e", LOGIN,
		"piece 1: must not contain user and password: use the parameters username and password" },
	{ ES, CLOUD "|addresses=http://e/?a=b", LOGIN, "piece 1: must not have a query" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=secret-value", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:b:YSRi", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:YQ==", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:YSQk", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:JGI=", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:YQBiJGM=", "parameter \"cloudID\" must be name:base64" },
	{ ES, CLOUD, "apiKey=secret-value|cloudID=a:YSBiJGM=", "parameter \"cloudID\": is not a URL" },
	{ ES, CLOUD, "apiKey=secret-value\nX: y|cloudID=a:YSRi", "parameter \"apiKey\"" },
	{ ES, WHERE "|" REST, LOGIN, "either searchTemplateName or query must be provided" },
	{ OS, WHERE "|" REST, LOGIN, "either searchTemplateName or query must be provided" },
	{ ES, NAMED "|query={}", LOGIN, "cannot provide both searchTemplateName and query" },
	{ OS, WHERE "|" REST "|query={", LOGIN, "parameter \"query\": invalid query JSON" },
	{ OS, WHERE "|" REST "|query={ /* all */ }", LOGIN, "parameter \"query\": invalid query JSON" },
	{ OS, REST "|query={}", LOGIN, "missing required parameter \"addresses\"" },
	{ OS, BASE, NULL, "both username and password must be provided for basic auth" },
	{ OS, BASE "|enableTLS=true", LOGIN, "both clientCert and clientKey must be provided when enableTLS is true" },
	{ OS, BASE "|enableTLS=true", "clientCert=a|clientKey=secret-value", "certificate" },
	{ OS, BASE, LOGIN "|caCert=a", "CA" },
	{ ES, NAMED "|parameters=a", LOGIN, "invalid parameter format \"a\", expected key:value" },
	{ ES, NAMED "|parameters=a:b;:c", LOGIN, "invalid parameter format \":c\", expected key:value" },
	{ OS, NAMED "|parameters=a:", LOGIN, "invalid parameter format \"a:\", expected key:value" },
	{ ES, WHERE "|index=;;|valueLocation=b|targetValue=1|query={}", LOGIN,
		"\"index\" must name at least one index" },
	{ ES, WHERE "|index=a;..|valueLocation=b|targetValue=1|query={}", LOGIN,
		"\"index\" must not name . or .. as an index" },
	{ ES, WHERE "|index=a|valueLocation=..b|targetValue=1|query={}", LOGIN,
		"\"valueLocation\" value \"..b\": position 1: JSON lines (..) are not supported" },
	{ ES, WHERE "|index=a|valueLocation=b|targetValue=0|query={}", LOGIN,
		"\"targetValue\" value \"0\" must be greater than 0" },
	{ ES, BASE "|activationTargetValue=x", LOGIN, "\"activationTargetValue\" value \"x\"" },
	{ ES, BASE "|ignoreNullValues=maybe", LOGIN, "\"ignoreNullValues\" value \"maybe\"" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].type, bads[i].metadata, bads[i].auth, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

/* The prefix and count pieces, each a number between head and tail; the caller owns it. */
static char *many(const char *prefix, const char *head, const char *tail, int count)
{
	struct buf text = BUF_INIT((size_t)1 << 20);

	buf_puts(&text, prefix);
	for (int i = 0; i < count; i++)
		buf_printf(&text, "%s%07d%s", head, i, tail);
	return buf_take(&text);
}

static void limits(void **state)
{
	static const struct {
		const char *prefix, *head, *tail;
		int most;
		const char *message;
	} lists[] = {
		{ NAMED "|parameters=", "k", ":v;", 1000, "\"parameters\" has more than 1000 pieces" },
		{ CLOUD "|addresses=", "http://e", ",", 32, "more than 32 addresses" },
		{ WHERE "|valueLocation=a|targetValue=1|query={}|index=", "01234567", ";", 1023,
			"\"index\" is too long: the path may have 16384 bytes" },
		{ WHERE "|" REST "|query=", "0", "", 32768, "\"query\" has more than 262144 bytes" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(lists); i++)
		for (int over = 0; over < 2; over++) {
			MEM_AUTO char *metadata = many(lists[i].prefix, lists[i].head, lists[i].tail,
				lists[i].most + over);
			struct scaler s;
			struct err err = { 0 };
			int rc = build(ES, metadata, LOGIN, &s, &err);

			if (rc != -over || !strstr(err.msg, over ? lists[i].message : ""))
				fail_msg("list %zu: %d, \"%s\"", i, rc, err.msg);
			if (rc == 0)
				scaler_done(&s);
		}
}

static void questions(void **state)
{
	static const struct {
		const char *type, *b, *auth;
		bool same;
	} others[] = {
		{ ES,
			WHERE "/|index=jobs|valueLocation=hits.total.value|targetValue=7|activationTargetValue=1|"
			      "query=" QUERY,
			LOGIN, true },
		{ ES, BASE "|passwordFromEnv=PASSWORD", "username=reader", true },
		{ ES, CLOUD "|addresses=http://e:9200", LOGIN, true },
		{ OS, BASE, LOGIN, false },
		{ ES, BASE, "username=reader|password=other", false },
		{ ES, BASE, "username=another|password=secret-value", false },
		{ ES, BASE "|unsafeSsl=true", LOGIN, false },
		{ ES, BASE "|ignoreNullValues=true", LOGIN, false },
		{ ES, CLOUD "|addresses=http://e:9201", LOGIN, false },
		{ ES, CLOUD "|addresses=http://e:9200,http://f", LOGIN, false },
		{ ES, WHERE "|index=jobs;b|valueLocation=hits.total.value|targetValue=5|query=" QUERY, LOGIN, false },
		{ ES, WHERE "|index=jobs|valueLocation=took|targetValue=5|query=" QUERY, LOGIN, false },
		{ ES, WHERE "|" REST "|query={}", LOGIN, false },
		{ ES, NAMED, LOGIN, false },
	};
	struct scaler a, b;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(ES, BASE, LOGIN, &a, &err), 0);
	assert_string_equal(a.question->source, "elasticsearch http://e:9200");
	for (size_t i = 0; i < MEM_COUNT(others); i++) {
		if (build(others[i].type, others[i].b, others[i].auth, &b, &err))
			fail_msg("%s: %s", others[i].b, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != others[i].same)
			fail_msg("%s: keys \"%s\" and \"%s\"", others[i].b, a.question->key, b.question->key);
		scaler_done(&b);
	}
	scaler_done(&a);
}

/* ---- Answers ---- */

#define WHOLE "{\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0},\"hits\":{\"total\":{\"value\":7}}}"
#define MISSING                                                                                                        \
	"{\"error\":{\"root_cause\":[{\"type\":\"index_not_found_exception\",\"reason\":\"no such index [jobs]\"}],"   \
	"\"type\":\"x\",\"reason\":\"y\"},\"status\":404}"

static const struct {
	const char *type, *auth;
	int status;
	const char *body, *says; /* NULL: 7 */
	enum err_kind kind;
} statuses[] = {
	{ ES, LOGIN, 200, WHOLE, NULL, ERR_NONE },
	{ ES, LOGIN, 404, MISSING, "HTTP status 404: index_not_found_exception: no such index [jobs]", ERR_MISSING },
	{ ES, LOGIN, 500, WHOLE, "HTTP status 500: {\"_shards\"", ERR_TEMPORARY },
	{ ES, LOGIN, 503, "", "HTTP status 503", ERR_TEMPORARY },
	{ ES, LOGIN, 302, "", "HTTP status 302", ERR_INVALID },
	{ ES, LOGIN, 429, "{\"error\":\"slow\\ndown\"}", "HTTP status 429: slow down", ERR_TEMPORARY },
	{ ES, LOGIN, 401, MISSING, "elasticsearch authentication failed (HTTP 401): check username and password",
		ERR_DENIED },
	{ ES, LOGIN, 403, MISSING, "elasticsearch authorization failed (HTTP 403): user has insufficient permissions",
		ERR_DENIED },
	{ OS, LOGIN, 401, "Unauthorized", "opensearch authentication failed (HTTP 401): check username and password",
		ERR_DENIED },
	{ ES, "cloudID=" CLOUD_ID "|apiKey=secret-value", 401, "",
		"elasticsearch authentication failed (HTTP 401): check apiKey", ERR_DENIED },
};

static void a_status_is_looked_at(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(statuses); i++) {
		struct webresponse answer = { .status = statuses[i].status,
			.body = statuses[i].body,
			.content_type = "" };
		struct scaler s;
		struct answer out = { 0 };
		struct err err = { 0 };
		size_t failed = 0;
		struct httpsource ask = { .state = &failed };
		enum exchange_verdict verdict;

		answer.len = strlen(answer.body);
		assert_int_equal(build(statuses[i].type, strstr(statuses[i].auth, "cloudID") ? CLOUD : BASE,
					 statuses[i].auth, &s, &err),
			0);
		ask.base.question = s.question;
		ask.data = s.question->data;
		verdict = s.type->http->read(&ask, &answer, &out, &err);
		if (statuses[i].says &&
			(verdict != EXCHANGE_FAILED ||
				strncmp(err.msg, statuses[i].says, strlen(statuses[i].says)) != 0))
			fail_msg("%d: said \"%s\"", statuses[i].status, err.msg);
		assert_int_equal(err.kind, statuses[i].kind);
		assert_true(statuses[i].says || (verdict == EXCHANGE_DONE && out.value == 7));
		scaler_done(&s);
	}
}

/*
 * The address that answered is asked first next time; the next one is tried if it is down, but not
 * if it refuses.
 */
static void addresses_take_turns(void **state)
{
	struct webresponse whole = { .status = 200, .body = WHOLE, .len = strlen(WHOLE), .content_type = "" },
			   away = { .status = 503, .body = "", .content_type = "" },
			   denied = { .status = 401, .body = "", .content_type = "" };
	struct scaler_sources sources = { .loop = loop_new(NULL) };
	struct err err = { 0 }, down = { .kind = ERR_TEMPORARY }, large = { .kind = ERR_INVALID };
	struct webrequest r = { 0 };
	struct answer out = { 0 };
	struct scaler s;
	size_t failed = 0;
	struct httpsource ask = { .base = { .sources = &sources }, .state = &failed };
	const struct httpsource_type *http;

	(void)state;
	assert_int_equal(build(ES, CLOUD "|addresses=http://a,http://b,http://c", LOGIN, &s, &err), 0);
	ask.base.question = s.question;
	ask.data = s.question->data;
	ask.base.deadline_ms = loop_now_ms(sources.loop) + 3000;
	http = s.type->http;
	assert_int_equal(http->request(&ask, &r, &err), 0);
	assert_string_equal(r.url, "http://a/jobs/_search");
	assert_true(r.timeout_ms > 900 && r.timeout_ms <= 1000);
	free(r.url);
	free(r.body);
	assert_int_equal(http->lost(&ask, &large), EXCHANGE_FAILED);
	assert_int_equal(http->read(&ask, &denied, &out, &err), EXCHANGE_FAILED);
	assert_int_equal(strncmp(err.msg, "http://a:80: elasticsearch authentication", 41), 0);
	assert_int_equal(http->lost(&ask, &down), EXCHANGE_NEXT);
	assert_int_equal(http->read(&ask, &away, &out, &err), EXCHANGE_NEXT);
	assert_int_equal(http->read(&ask, &whole, &out, &err), EXCHANGE_DONE);
	failed = 0;
	assert_int_equal(http->request(&ask, &r, &err), 0);
	assert_string_equal(r.url, "http://c/jobs/_search");
	free(r.url);
	free(r.body);
	assert_int_equal(http->lost(&ask, &down), EXCHANGE_NEXT);
	assert_int_equal(http->lost(&ask, &down), EXCHANGE_NEXT);
	assert_int_equal(http->lost(&ask, &down), EXCHANGE_FAILED);
	ask.base.deadline_ms = loop_now_ms(sources.loop) + 10;
	assert_int_equal(http->request(&ask, &r, &err), -1);
	assert_string_equal(err.msg, "no address answered, and no time is left for another");
	scaler_done(&s);
	loop_free(sources.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(limits),
		cmocka_unit_test(questions),
		cmocka_unit_test(a_status_is_looked_at),
		cmocka_unit_test(addresses_take_turns),
	};

	return cmocka_run_group_tests_name("scalers/elasticsearch/elasticsearch", tests, NULL, NULL);
}
