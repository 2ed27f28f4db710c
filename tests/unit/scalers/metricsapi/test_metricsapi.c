/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics-api trigger (doc/keda.md 8.10): parameters, question keys, and requests to the pods
 * of a Service. HTTP and the API server are replaced at link level, to control the order of
 * answers; the live tests have real ones.
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
#include "kube/client.h"
#include "net/loop.h"
#include "net/web/webclient.h"
#include "scalers/http/httppauses.h"
#include "scalers/metricsapi/serviceurls.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

/* ---- Parameters ---- */

static int build(const char *metadata, const char *auth, const char *metric_type, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "metrics-api", .index = 2, .metric_type = metric_type };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

#define URL "url=http://api.shop:8080/stats?x=1|"

static const struct {
	const char *metadata, *auth, *metric_type, *metric, *source;
	int64_t target_milli;
	double activation;
	enum metric_target_type target_type;
} goods[] = {
	{ URL "valueLocation=a.b|targetValue=5", NULL, NULL, "s2-metric-api-a-b", "metrics-api http://api.shop:8080",
		5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation= a.b |targetValue=0.5|activationTargetValue=-1.5|format=json", NULL, "Value",
		"s2-metric-api-a-b", "metrics-api http://api.shop:8080", 500, -1.5, METRIC_VALUE },
	{ URL "valueLocation=a.#(k==\"v/w\").b|targetValue=5", NULL, NULL, "s2-metric-api-a-#-k==\"v-w\"--b",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a.#(b>1)#\x01#|targetValue=5", NULL, NULL, "s2-metric-api-a-#-b>1-#|#",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a.1.b|targetValue=5|format=yaml", NULL, NULL, "s2-metric-api-a-1-b",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a.1.@b|targetValue=5|format=xml", NULL, NULL, "s2-metric-api-a-1-@b",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=x{a=~\"b.*\"}|targetValue=5|format=prometheus", NULL, NULL, "s2-metric-api-x{a=~\"b-*\"}",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a|targetValue=5|aggregateFromKubeServiceEndpoints=true|aggregationType=max|timeout=2s|"
	      "unsafeSsl=true",
		NULL, NULL, "s2-metric-api-a", "metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a|targetValue=5|authMode=apiKey", "apiKey=k|method=query|keyParamName=n", NULL,
		"s2-metric-api-a", "metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
	{ URL "valueLocation=a|targetValue=5|authMode=basic", "username=u", NULL, "s2-metric-api-a",
		"metrics-api http://api.shop:8080", 5000, 0, METRIC_AVERAGE_VALUE },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, goods[i].auth, goods[i].metric_type, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(s.question->source, goods[i].source);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.target_type, goods[i].target_type);
		assert_true(s.activation == goods[i].activation);
		assert_null(s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "valueLocation=a|targetValue=5", NULL,
		"trigger 2 (metrics-api): missing required parameter \"url\" in [triggerMetadata]" },
	{ URL "targetValue=5", NULL, "missing required parameter \"valueLocation\" in [triggerMetadata]" },
	{ URL "valueLocation=a", NULL, "no targetValue given" },
	{ URL "valueLocation=a|targetValue=0", NULL, "parameter \"targetValue\" value \"0\" must be greater than 0" },
	{ URL "valueLocation=a|targetValue=many", NULL, "\"targetValue\" value \"many\"" },
	{ URL "valueLocation=a|targetValue=5|activationTargetValue=x", NULL, "\"activationTargetValue\" value \"x\"" },
	{ URL "valueLocation=a|targetValue=5|format=json,xml", NULL, "\"format\" value \"json,xml\"" },
	{ URL "valueLocation=a|targetValue=5|aggregationType=median", NULL, "\"aggregationType\" value \"median\"" },
	{ URL "valueLocation=a|targetValue=5|aggregateFromKubeServiceEndpoints=yes", NULL,
		"\"aggregateFromKubeServiceEndpoints\" value \"yes\"" },
	{ URL "valueLocation=a|targetValue=5|timeout=soon", NULL, "\"timeout\" value \"soon\"" },
	{ URL "valueLocation=a.{b|targetValue=5", NULL,
		"parameter \"valueLocation\" value \"a.{b\", for format json: position 3: multipaths" },
	{ URL "valueLocation=a..b|targetValue=5|format=yaml", NULL, "for format yaml: position 3: a name is missing" },
	{ URL "valueLocation=1.a|targetValue=5|format=xml", NULL,
		"for format xml: the path must begin with the name of the root element" },
	{ URL "valueLocation=x[5m]|targetValue=5|format=prometheus", NULL,
		"for format prometheus: position 2: only an instant selector" },
	{ "url=ftp://x/|valueLocation=a|targetValue=5", NULL, "parameter \"url\"" },
	{ "url=http://10.0.0.1/|valueLocation=a|targetValue=5|aggregateFromKubeServiceEndpoints=true", NULL,
		"parameter \"url\": the host must be that of a Service" },
	{ "url=http://service/|valueLocation=a|targetValue=5|aggregateFromKubeServiceEndpoints=true", NULL,
		"parameter \"url\": the host must be that of a Service" },
	{ URL "valueLocation=a|targetValue=5|authMode=bearer", NULL, "bearerToken" },
	{ URL "valueLocation=a|targetValue=5|authMode=apiKey", NULL, "apiKey" },
	{ URL "valueLocation=a|targetValue=5|authMode=apiKey", "apiKey=s3cret|method=body", "method" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(bads[i].metadata, bads[i].auth, NULL, &s, &err) == 0)
			fail_msg("%s: taken", bads[i].metadata);
		if (err.kind != ERR_INVALID || !strstr(err.msg, bads[i].message) || strstr(err.msg, "s3cret"))
			fail_msg("%s: %s", bads[i].metadata, err.msg);
	}
}

static void unknown_keys(void **state)
{
	struct scaler s;

	(void)state;
	assert_int_equal(build(URL "valueLocation=a|targetValue=5|targetvalue=7|aggregationtype=sum", NULL, NULL, &s,
				 NULL),
		0);
	assert_non_null(strstr(s.unknown, "\"targetvalue\" (did you mean \"targetValue\"?)"));
	assert_non_null(strstr(s.unknown, "\"aggregationtype\" (did you mean \"aggregationType\"?)"));
	scaler_done(&s);
}

static char *key_of(const char *metadata, const char *auth)
{
	struct scaler s;
	char *key;

	assert_int_equal(build(metadata, auth, NULL, &s, NULL), 0);
	key = mem_dup(s.question->key);
	scaler_done(&s);
	return key;
}

#define SAME URL "valueLocation=a|targetValue=5"

static void questions(void **state)
{
	static const char *const others[][2] = {
		{ "url=http://api.shop:8080/stats?x=2|valueLocation=a|targetValue=5", NULL },
		{ "url=https://api.shop:8080/stats?x=1|valueLocation=a|targetValue=5", NULL },
		{ URL "valueLocation=b|targetValue=5", NULL },
		{ SAME "|format=yaml", NULL },
		{ SAME "|timeout=1s", NULL },
		{ SAME "|unsafeSsl=true", NULL },
		{ SAME "|aggregateFromKubeServiceEndpoints=true", NULL },
		{ SAME "|aggregateFromKubeServiceEndpoints=true|aggregationType=sum", NULL },
		{ SAME "|authMode=bearer", "token=one" },
		{ SAME "|authMode=bearer", "token=two" },
		{ SAME, "ca=" },
	};
	char *same = key_of(SAME, NULL),
	     *thresholds = key_of(URL
		     "valueLocation=a|targetValue=7|activationTargetValue=3|format=json|aggregationType=sum",
		     NULL);
	char *keys[sizeof(others) / sizeof(others[0])];
	size_t count = sizeof(others) / sizeof(others[0]) - 1; /* the last one equals the default */

	(void)state;
	assert_string_equal(same, thresholds);
	for (size_t i = 0; i < count; i++) {
		keys[i] = key_of(others[i][0], others[i][1]);
		assert_string_not_equal(keys[i], same);
		assert_null(strstr(keys[i], "one ") ? strstr(keys[i], "token") : NULL);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
	}
	for (size_t i = 0; i < count; i++)
		free(keys[i]);
	free(same);
	free(thresholds);
}

/* ---- URLs of a Service ---- */

#define SLICE(ports, endpoints) "{'ports':[" ports "],'endpoints':[" endpoints "]}"
#define POD(address)            "{'addresses':['" address "'],'conditions':{'ready':true}}"

static json_t *json(const char *text)
{
	char *copy = mem_dup(text);
	json_t *value;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	value = json_loads(copy, 0, NULL);
	if (!value)
		fail_msg("not JSON: %s", text);
	free(copy);
	return value;
}

static const struct {
	const char *url, *slices, *wanted; /* URLs separated by blanks, or ! and an error */
} services[] = {
	{ "http://q.shop:8080/load?a=b", SLICE("{'port':8080}", POD("10.0.0.1") "," POD("10.0.0.2")),
		"http://10.0.0.1:8080/load?a=b http://10.0.0.2:8080/load?a=b" },
	{ "http://q.shop.svc.cluster.local", SLICE("{'port':80}", POD("10.0.0.1")), "http://10.0.0.1:80" },
	{ "https://q.shop/x#frag", SLICE("{'port':443,'protocol':'TCP'}", POD("fd00::1")), "https://[fd00::1]:443/x" },
	{ "http://q.shop/", SLICE("{'port':9090}", POD("10.0.0.1")), "http://10.0.0.1:9090/" },
	{ "http://q.shop:8080/", SLICE("{'port':9090},{'port':8080}", POD("10.0.0.1")), "http://10.0.0.1:8080/" },
	{ "http://q.shop:53/", SLICE("{'port':53,'protocol':'UDP'},{'port':9153}", POD("10.0.0.1")),
		"http://10.0.0.1:9153/" },
	{ "http://q.shop:81/", SLICE("{'port':9090},{'port':8080}", POD("10.0.0.1")),
		"!the pods of Service shop/q have several ports, but not 81" },
	{ "http://q.shop:81/", SLICE("{'port':9090},{'port':8080}", ""),
		"!no endpoints URLs were given for the service name q in namespace shop" },
	{ "http://q.shop:81/", SLICE("", POD("10.0.0.1")), "http://10.0.0.1:81/" },
	{ "http://q.shop:81/", SLICE("{'name':'all'}", POD("10.0.0.1")), "http://10.0.0.1:81/" },
	{ "http://q.shop/",
		SLICE("{'port':80}", POD("10.0.0.1")) "," SLICE("{'port':80}", POD("10.0.0.1") "," POD("10.0.0.3")),
		"http://10.0.0.1:80/ http://10.0.0.3:80/" },
	{ "http://q.shop/",
		SLICE("{'port':80}",
			"{'addresses':['10.0.0.1'],'conditions':{'ready':false}},{'addresses':['10.0.0.2'],'conditions'"
			":{}},{'addresses':['10.0.0.3']},{'addresses':[]}"),
		"http://10.0.0.2:80/ http://10.0.0.3:80/" },
	{ "http://q.shop/",
		SLICE("{'port':80}",
			"{'addresses':['10.0.0.1','10.0.0.9'],'targetRef':{'uid':'u1'}}") "," SLICE("{'port':80}",
			"{'addresses':['fd00::1'],'targetRef':{'uid':'u1'}}"),
		"http://10.0.0.1:80/" },
	{ "http://q.shop/", SLICE("{'port':80}", "{'addresses':['evil/@x']}"),
		"!an EndpointSlice of Service shop/q has an invalid address" },
	{ "http://q.shop/", "", "!no endpoints URLs were given for the service name q in namespace shop" },
};

static void urls_of_services(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		struct buf found = BUF_INIT(65536);
		struct serviceurls s;
		struct err err = { 0 };
		char **urls, *text = mem_printf("{'items':[%s]}", services[i].slices);
		size_t count;
		json_t *list = json(text);

		assert_int_equal(serviceurls_read(services[i].url, &s, &err), 0);
		if (serviceurls_of(&s, list, &urls, &count, &err)) {
			buf_printf(&found, "!%s", err.msg);
		} else {
			for (size_t k = 0; k < count; k++) {
				buf_printf(&found, "%s%s", k > 0 ? " " : "", urls[k]);
				free(urls[k]);
			}
			free(urls);
		}
		if (*services[i].wanted == '!'
				? strncmp(found.data, services[i].wanted, strlen(services[i].wanted)) != 0
				: strcmp(found.data, services[i].wanted) != 0)
			fail_msg("%s, %s: %s, not %s", services[i].url, text, found.data, services[i].wanted);
		serviceurls_done(&s);
		json_decref(list);
		free(text);
		buf_done(&found);
	}
}

/* The URL is copied for each endpoint: a thousand of 500 KB would take half a gigabyte. */
static void long_urls_of_services(void **state)
{
	struct buf url = BUF_INIT(4096);
	struct serviceurls s;
	struct err err = { 0 };

	(void)state;
	buf_puts(&url, "http://q.shop/");
	while (url.len < SERVICEURLS_LENGTH_MAX)
		buf_putc(&url, 'x');
	assert_int_equal(serviceurls_read(url.data, &s, &err), 0);
	serviceurls_done(&s);
	buf_putc(&url, 'x');
	assert_int_equal(serviceurls_read(url.data, &s, &err), -1);
	assert_string_equal(err.msg, "longer than 2048 characters, with aggregateFromKubeServiceEndpoints");
	buf_done(&url);
}

/* Many addresses; and one address of many invented pods, each of which is stored. */
static void too_many_pods(void **state)
{
	static const struct {
		int addresses, pods;
		bool good;
	} rows[] = {
		{ SERVICEURLS_MAX, SERVICEURLS_MAX, true },
		{ SERVICEURLS_MAX + 1, SERVICEURLS_MAX + 1, false },
		{ 1, SERVICEURLS_MAX, true },
		{ 1, 3 * SERVICEURLS_MAX, false },
	};
	struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (size_t row = 0; row < MEM_COUNT(rows); row++) {
		struct serviceurls s;
		struct err err = { 0 };
		char **urls = NULL;
		size_t count = 0;
		json_t *list;

		buf_reset(&text);
		buf_puts(&text, "{'items':[{'endpoints':[");
		for (int i = 0; i < rows[row].pods; i++)
			buf_printf(&text, "%s{'addresses':['10.1.%d.%d'],'targetRef':{'uid':'u%d'}}", i > 0 ? "," : "",
				i % rows[row].addresses / 250, i % rows[row].addresses % 250, i);
		buf_puts(&text, "]}]}");
		list = json(text.data);
		assert_int_equal(serviceurls_read("http://q.shop/", &s, &err), 0);
		assert_int_equal(serviceurls_of(&s, list, &urls, &count, &err), rows[row].good ? 0 : -1);
		if (!rows[row].good)
			assert_string_equal(err.msg, "Service shop/q has more than 1000 endpoints");
		for (size_t i = 0; i < count; i++)
			free(urls[i]);
		free(urls);
		serviceurls_done(&s);
		json_decref(list);
	}
	buf_done(&text);
}

/* ---- Stand-ins: HTTP and the API server ---- */

#define CALLS_MAX 64

struct webclient_call {
	char *url;
	webclient_fn fn;
	void *arg;
	bool ended;
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
};

struct kube_call {
	kube_fn fn;
	void *arg;
};

static struct {
	struct webclient_call calls[CALLS_MAX];
	size_t started, under_way, most;
	struct kube_call listing;
	char *listed;
	bool listing_under_way;
	bool unmeasured; /* the answers to give */
	int64_t retry_after_ms;
	/* The trigger's result. */
	int answers;
	double value;
	struct err err;
} t;

struct webclient_call *webclient_start(struct webclient *w, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg)
{
	struct webclient_call *call = &t.calls[t.started++];

	(void)w;
	*call = (struct webclient_call){ mem_dup(request->url), fn, arg, false, options->on_piece };
	t.under_way++;
	t.most = t.under_way > t.most ? t.under_way : t.most;
	return call;
}

static void end_call(struct webclient_call *call)
{
	assert_false(call->ended);
	call->ended = true;
	t.under_way--;
}

void webclient_cancel(struct webclient_call *call)
{
	if (call)
		end_call(call);
}

int64_t webclient_timeout_ms(const struct webclient *w)
{
	(void)w;
	return 3000;
}

struct kube_call *__wrap_kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg);
struct kube_call *__wrap_kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg)
{
	(void)k;
	assert_int_equal(request->verb, KUBE_LIST);
	t.listed = mem_dup(request->path);
	t.listing = (struct kube_call){ fn, arg };
	t.listing_under_way = true;
	return &t.listing;
}

void __wrap_kube_cancel(struct kube_call *call);
void __wrap_kube_cancel(struct kube_call *call)
{
	if (call)
		t.listing_under_way = false;
}

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	(void)arg;
	t.answers++;
	t.value = answer ? answer->value : -99;
	t.err = err ? *err : (struct err){ 0 };
}

/* Delivers a page or XML in pieces; false: the rest is not wanted. */
static bool give_pieces(size_t call, const char *body, size_t len)
{
	struct webclient_call *c = &t.calls[call];
	struct err err = { 0 };
	size_t kept = 0;

	if (c->on_piece(c->arg, body, len / 2, &kept) && c->on_piece(c->arg, body + len / 2, len - len / 2, &kept))
		return true;
	err_set(&err, ERR_INVALID, "the answer was not accepted");
	end_call(c);
	c->fn(c->arg, NULL, &err);
	return false;
}

static void give(size_t call, int status, const char *body)
{
	struct webresponse answer = { .status = status,
		.body = body,
		.len = strlen(body),
		.content_type = "",
		.retry_after_ms = t.retry_after_ms,
		.measured = !t.unmeasured };

	if (t.calls[call].on_piece && status / 100 == 2 && !give_pieces(call, body, strlen(body)))
		return;
	if (t.calls[call].on_piece && status / 100 == 2)
		answer.body = "", answer.len = 0;
	end_call(&t.calls[call]);
	t.calls[call].fn(t.calls[call].arg, &answer, NULL);
}

static void give_error(size_t call, const char *message)
{
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s", message);
	end_call(&t.calls[call]);
	t.calls[call].fn(t.calls[call].arg, NULL, &err);
}

static void give_slices(size_t pods)
{
	struct buf text = BUF_INIT(65536);
	json_t *list;

	buf_puts(&text, "{'items':[{'ports':[{'port':80}],'endpoints':[");
	for (size_t i = 0; i < pods; i++)
		buf_printf(&text, "%s{'addresses':['10.0.0.%zu']}", i > 0 ? "," : "", i + 1);
	buf_puts(&text, "]}]}");
	list = json(text.data);
	t.listing_under_way = false;
	t.listing.fn(t.listing.arg, list, NULL);
	json_decref(list);
	buf_done(&text);
}

static struct scaler asked;
static struct scaler_sources sources;

static void *ask(const char *metadata)
{
	memset(&t, 0, sizeof(t));
	assert_int_equal(build(metadata, NULL, NULL, &asked, NULL), 0);
	return question_ask(asked.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, NULL);
}

/* Checks that there was exactly one answer, and that nothing is left. */
static void done(void)
{
	assert_int_equal(t.answers, 1);
	assert_int_equal(t.under_way, 0);
	assert_false(t.listing_under_way);
	for (size_t i = 0; i < t.started; i++)
		free(t.calls[i].url);
	free(t.listed);
	scaler_done(&asked);
}

/* ---- Asking ---- */

static void one_url(void **state)
{
	(void)state;
	ask(SAME);
	assert_string_equal(t.calls[0].url, "http://api.shop:8080/stats?x=1");
	give(0, 200, "{\"a\":7}");
	assert_true(t.value == 7);
	done();
	ask(SAME);
	give(0, 200, "{\"b\":7}");
	assert_string_equal(t.err.msg,
		"metrics-api: http://api.shop:8080: valueLocation \"a\": must point to a numeric value or a string "
		"parseable as a Quantity, got Null: there is nothing");
	done();
	ask(SAME);
	give(0, 201, "{\"a\":7}");
	assert_string_equal(t.err.msg, "metrics-api: http://api.shop:8080: api returned 201");
	assert_int_equal(t.err.http_status, 201);
	done();
	ask(SAME);
	give_error(0, "http://api.shop:8080: timed out");
	assert_string_equal(t.err.msg, "metrics-api: http://api.shop:8080: timed out");
	assert_int_equal(t.err.kind, ERR_TEMPORARY);
	done();
}

/* Streamed formats report an error at the first invalid piece. */
static void pieces(void **state)
{
	static const struct {
		const char *location;
		int status;
		const char *body;
		double value;
		const char *message;
	} rows[] = {
		{ "a|format=prometheus", 200, "b 1\na 12\n", 12, NULL },
		{ "a|format=prometheus", 200, "b 1\na = 12\nc 5\n", 0, "is not a metrics page: line 2" },
		{ "a|format=prometheus", 404, "no such page", 0, "api returned 404" },
		{ "a|format=prometheus", 206, "a 12\n", 0, "api returned 206" },
		{ "a.b|format=xml", 200, "<a><b>5</b></a>", 5, NULL },
		{ "a.b|format=xml", 200, "<a><b>5</b></a", 0, "the answer is not XML" },
		{ "a.b|format=xml", 200, "<a></b></a><x></x>", 0, "the answer is not XML: line 1 column 6" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char metadata[128];

		snprintf(metadata, sizeof(metadata), "url=http://api.shop:8080/stats|targetValue=5|valueLocation=%s",
			rows[i].location);
		ask(metadata);
		give(0, rows[i].status, rows[i].body);
		if (rows[i].message ? !strstr(t.err.msg, rows[i].message) : t.value != rows[i].value)
			fail_msg("%s: %g %s", rows[i].body, t.value, t.err.msg);
		done();
	}
}

/* Handwritten pages often lack the final newline, which matters only if the length is unknown. */
static void last_lines(void **state)
{
	static const struct {
		const char *location, *body;
	} rows[] = { { "a|format=prometheus", "b 1\na 12" }, { "a|format=yaml", "b: 1\na: 12" },
		{ "a", "{\"a\":12}" } };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		char metadata[128];
		bool unmeasured = i & 1, cut = unmeasured && i < 4;

		snprintf(metadata, sizeof(metadata), "url=http://api.shop:8080/stats|targetValue=5|valueLocation=%s",
			rows[i / 2].location);
		ask(metadata);
		t.unmeasured = unmeasured;
		give(0, 200, rows[i / 2].body);
		if (cut ? !strstr(t.err.msg, "may have been cut off") : t.value != 12)
			fail_msg("%s: %g %s", metadata, t.value, t.err.msg);
		done();
	}
}

#define PODS                                                                                                           \
	"url=http://q.shop/"                                                                                           \
	"load?x=1|valueLocation=a|targetValue=5|aggregateFromKubeServiceEndpoints=true|aggregationType="

static void pods_are_aggregated(void **state)
{
	static const struct {
		const char *metadata;
		double value;
	} cases[] = { { PODS "average", 20.0 / 6 }, { PODS "sum", 20 }, { PODS "max", 9 }, { PODS "min", -1 } };
	static const char *const answers[] = { "{\"a\":2}", "{\"a\":4}", "{\"a\":-1}", "{\"a\":9}", "{\"a\":\"1\"}",
		"{\"a\":5}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ask(cases[i].metadata);
		assert_string_equal(t.listed,
			"/apis/discovery.k8s.io/v1/namespaces/shop/"
			"endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dq&resourceVersion=0");
		give_slices(6);
		assert_int_equal(t.under_way, 5);
		give(3, 200, answers[3]);
		assert_int_equal(t.started, 6);
		assert_string_equal(t.calls[5].url, "http://10.0.0.6:80/load?x=1");
		for (size_t k = 0; k < 6; k++) {
			assert_int_equal(t.answers, 0);
			if (k != 3)
				give(k, 200, answers[k]);
		}
		assert_int_equal(t.most, 5);
		assert_true(t.value - cases[i].value < 1e-9 && cases[i].value - t.value < 1e-9);
		done();
	}
}

/* The missing value may be the largest. */
static void an_error_never_lowers_the_value(void **state)
{
	static const char *const cases[] = { PODS "average", PODS "sum", PODS "max" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ask(cases[i]);
		give_slices(7);
		give(0, 200, "{\"a\":2}");
		give_error(2, "http://10.0.0.3:80: connection refused"); /* cancels the others, too */
		assert_string_equal(t.err.msg,
			"metrics-api http://q.shop:80: one of 7 endpoints: http://10.0.0.3:80: connection refused");
		assert_int_equal(t.started, 6);
		done();
	}
}

static void the_minimum_ignores_errors(void **state)
{
	(void)state;
	ask(PODS "min");
	give_slices(3);
	give(0, 200, "{\"a\":4}");
	give(1, 500, "{\"a\":1}");
	assert_int_equal(t.answers, 0);
	give(2, 200, "{\"a\":3}");
	assert_true(t.value == 3);
	done();
	ask(PODS "min");
	give_slices(2);
	give(0, 500, "");
	give(1, 500, "");
	assert_string_equal(t.err.msg,
		"metrics-api http://q.shop:80: one of 2 endpoints: http://10.0.0.1:80: api returned 500");
	done();
}

static void no_pods(void **state)
{
	struct err denied = { 0 };

	(void)state;
	ask(PODS "sum");
	give_slices(0);
	assert_string_equal(t.err.msg,
		"metrics-api http://q.shop:80: no endpoints URLs were given for the service name q in namespace shop: "
		"it has no ready endpoint, or does not exist");
	done();
	ask(PODS "sum");
	err_set(&denied, ERR_DENIED, "forbidden");
	t.listing_under_way = false;
	t.listing.fn(t.listing.arg, NULL, &denied);
	assert_string_equal(t.err.msg,
		"metrics-api http://q.shop:80: reading the EndpointSlices of Service shop/q: forbidden");
	assert_int_equal(t.err.kind, ERR_DENIED);
	done();
}

/* Servers that sent Retry-After are not asked; pods of a Service are. */
static void retry_after_is_respected(void **state)
{
	void *handle;

	(void)state;
	httppauses_part.begin(&sources);
	ask(SAME);
	t.retry_after_ms = 7000;
	give(0, 429, "");
	assert_string_equal(t.err.msg, "metrics-api: http://api.shop:8080: api returned 429");
	done();
	ask(SAME);
	assert_int_equal(t.answers, 0);
	loop_turn(sources.loop);
	assert_int_equal(t.started, 0);
	assert_string_equal(t.err.msg,
		"metrics-api: http://api.shop:8080 asked to be left alone (Retry-After): for another 7 s");
	assert_int_equal(t.err.kind, ERR_TEMPORARY);
	done();
	handle = ask(SAME);
	question_cancel(handle);
	t.answers = 1;
	done();
	for (int i = 0; i < 2; i++) {
		ask(PODS "sum");
		give_slices(1);
		t.retry_after_ms = 7000;
		give(0, 503, "");
		assert_non_null(strstr(t.err.msg, "http://10.0.0.1:80: api returned 503"));
		done();
	}
	httppauses_part.end(&sources);
	sources.pauses = NULL;
}

static void cancelled_at_any_time(void **state)
{
	void *handle = ask(PODS "sum");

	(void)state;
	question_cancel(handle);
	t.answers = 1;
	done();
	handle = ask(PODS "sum");
	give_slices(6);
	give(1, 200, "{\"a\":4}");
	question_cancel(handle);
	assert_int_equal(t.answers, 0);
	t.answers = 1;
	done();
}

static int start_loop(void **state)
{
	(void)state;
	sources.loop = loop_new(NULL);
	return sources.loop ? 0 : -1;
}

static int end_loop(void **state)
{
	(void)state;
	loop_free(sources.loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(questions),
		cmocka_unit_test(urls_of_services),
		cmocka_unit_test(long_urls_of_services),
		cmocka_unit_test(too_many_pods),
		cmocka_unit_test(one_url),
		cmocka_unit_test(retry_after_is_respected),
		cmocka_unit_test(pieces),
		cmocka_unit_test(last_lines),
		cmocka_unit_test(pods_are_aggregated),
		cmocka_unit_test(an_error_never_lowers_the_value),
		cmocka_unit_test(the_minimum_ignores_errors),
		cmocka_unit_test(no_pods),
		cmocka_unit_test(cancelled_at_any_time),
	};

	return cmocka_run_group_tests(tests, start_loop, end_loop);
}
