/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The azure-servicebus trigger: parameters (doc/keda.md 8.26), requests and answers.
 * test_servicebusatom.c covers parsing.
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
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

#define HOST       "shop.servicebus.windows.net"
#define KEY        "SharedAccessKeyName=scaler;SharedAccessKey=secret-value"
#define CONNECTION "Endpoint=sb://" HOST "/;" KEY
#define AUTH       "connection=" CONNECTION
#define QUEUE      "queueName=orders"
#define TOPIC      "topicName=shipped|subscriptionName=mail"
#define QUEUES     "queueName=orders-.*|useRegex=true"

static const struct pod_identity workload = { .provider = "azure-workload",
	.may_be_kscaled = true,
	.azure_trusted = "bus.internal" };

static int build_as(const struct pod_identity *pod, const char *metadata, const char *auth, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "azure-servicebus", .index = 1, .identity = pod };

	return pairs_build(&params, metadata, auth, "BUS=" CONNECTION "|EMPTY=", out, err);
}

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build_as(NULL, metadata, auth, out, err);
}

/* ---- Parameters ---- */

#define API "?api-version=2021-05"
static const struct {
	const struct pod_identity *pod;
	const char *metadata, *auth, *metric, *url;
	int64_t target_milli, timeout_ms;
	double activation;
} goods[] = {
	{ NULL, QUEUE, AUTH, "s1-azure-servicebus-orders", "https://" HOST "/orders" API, 5000, QUESTION_TIMEOUT_HTTP,
		0 },
	{ NULL, QUEUE "|connectionFromEnv=BUS|messageCount=2|activationMessageCount=7", NULL,
		"s1-azure-servicebus-orders", "https://" HOST "/orders" API, 2000, QUESTION_TIMEOUT_HTTP, 7 },
	{ NULL, "queueName=EU/new orders.v2|operation=avg|cloud=nonsense", AUTH "\n",
		"s1-azure-servicebus-EU-new orders-v2", "https://" HOST "/EU/new%20orders.v2" API, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ NULL, TOPIC "|namespace=x", "connection=" CONNECTION ";EntityPath=shipped", "s1-azure-servicebus-shipped",
		"https://" HOST "/shipped/Subscriptions/mail" API, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ NULL, QUEUES "|operation=max", AUTH, "s1-azure-servicebus-queue-regex",
		"https://" HOST "/$Resources/Queues?%24skip=0&%24top=100&api-version=2021-05", 5000, 60000, 0 },
	{ NULL, "topicName=a/b|subscriptionName=m.*|useRegex=true", AUTH, "s1-azure-servicebus-topic-regex",
		"https://" HOST "/a/b/Subscriptions?%24skip=0&%24top=100&api-version=2021-05", 5000, 60000, 0 },
	{ NULL, QUEUE,
		"connection=Endpoint=sb://localhost:8443;SharedAccessSignature=SharedAccessSignature sr=x&sig=y&se=1&"
		"skn=z",
		"s1-azure-servicebus-orders", "https://localhost:8443/orders" API, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	/* podIdentity takes precedence over a connection string. */
	{ &workload, QUEUE "|namespace=mine", AUTH, "s1-azure-servicebus-orders",
		"https://mine.servicebus.windows.net/orders" API, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ &workload, QUEUE "|namespace=mine|cloud=AzureChinaCloud|endpointSuffix=ignored", NULL,
		"s1-azure-servicebus-orders", "https://mine.servicebus.chinacloudapi.cn/orders" API, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ &workload, QUEUE "|namespace=mine|cloud=private|endpointSuffix=bus.internal:8443", NULL,
		"s1-azure-servicebus-orders", "https://mine.bus.internal:8443/orders" API, 5000, QUESTION_TIMEOUT_HTTP,
		0 },
};

/* The next request, and Authorization in it. */
static char *next_url(struct httpsource *ask, char **authorization)
{
	struct webrequest r = { 0 };
	struct err err = { 0 };

	assert_int_equal(ask->base.question->type->http->request(ask, &r, &err), 0);
	assert_null(r.body);
	assert_int_equal(ask->base.question->type->http->max_body, (size_t)4 << 20);
	*authorization = strmap_get(&r.headers, "Authorization") ? mem_dup(strmap_get(&r.headers, "Authorization"))
								 : NULL;
	assert_int_equal(r.headers.count, *authorization != NULL);
	strmap_done(&r.headers);
	return r.url;
}

static struct httpsource ask_of(struct question *q)
{
	return (struct httpsource){ .base = { .question = q },
		.data = q->data,
		.state = mem_zalloc(q->type->http->state_size) };
}

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };
		struct httpsource ask;
		char *url, *authorization;

		if (build_as(goods[i].pod, goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		ask = ask_of(s.question);
		url = next_url(&ask, &authorization);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(url, goods[i].url);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, goods[i].timeout_ms);
		assert_true(s.activation == goods[i].activation);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_int_equal(strncmp(s.question->source, "azure-servicebus https://", 25), 0);
		if (s.unknown)
			fail_msg("%s: unknown %s", goods[i].metadata, s.unknown);
		free(ask.state);
		free(url);
		free(authorization);
		scaler_done(&s);
	}
}

/* As in manifests for KEDA 1. */
static void old_parameter_name(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(QUEUE "|queueLength=30", AUTH, &s, &err), 0);
	assert_non_null(strstr(s.unknown, "\"queueLength\""));
	assert_non_null(strstr(s.unknown, "use messageCount"));
	assert_int_equal(s.target.milli, 5000);
	scaler_done(&s);
}

static const struct {
	const struct pod_identity *pod;
	const char *metadata, *auth, *message;
} bads[] = {
	{ NULL, "messageCount=5", AUTH, "no service bus entity type set" },
	{ NULL, "subscriptionName=mail", AUTH, "no service bus entity type set" },
	{ NULL, QUEUE "|subscriptionName=mail", AUTH, "subscription name provided with queue name" },
	{ NULL, QUEUE "|topicName=shipped", AUTH, "both topic and queue name metadata provided" },
	{ NULL, "topicName=shipped", AUTH, "no subscription name provided with topic name" },
	{ NULL, "queueName=a(|useRegex=true", AUTH, "queueName is not a valid regular expression: " },
	{ NULL, "topicName=t|subscriptionName=a**|useRegex=true", AUTH,
		"subscriptionName is not a valid regular expression: " },
	{ NULL, QUEUES "|operation=min", AUTH, "\"operation\" value \"min\"" },
	{ NULL, QUEUE "|useRegex=maybe", AUTH, "\"useRegex\" value \"maybe\"" },
	{ NULL, QUEUE "|messageCount=0", AUTH, "\"messageCount\" value \"0\" must be greater than 0" },
	{ NULL, QUEUE "|messageCount=1.5", AUTH, "\"messageCount\" value \"1.5\"" },
	{ NULL, QUEUE "|activationMessageCount=many", AUTH, "\"activationMessageCount\" value \"many\"" },
	{ NULL, QUEUE, NULL, "no connection setting given" },
	{ NULL, QUEUE "|namespace=mine", NULL, "no connection setting given" },
	{ NULL, QUEUE "|" AUTH, NULL, "no connection setting given" },
	{ NULL, QUEUE "|connectionFromEnv=EMPTY", NULL, "has no environment variable EMPTY with a value" },
	{ NULL, QUEUE, "connection=Endpoint=sb://secret-value@x;" KEY,
		"parameter \"connection\": failed parsing connection string" },
	{ NULL, QUEUE, "connection=Endpoint=sb://x;SharedAccessSignature=SharedAccessSignature a\nsecret-value",
		"parameter \"connection\": the header's value holds a line break" },
	{ &workload, QUEUE, AUTH, "namespace are required when using pod identity" },
	{ &workload, QUEUE "|namespace=evil.example/x", NULL,
		"\"namespace\" value \"evil.example/x\" is not a valid namespace name" },
	{ &workload, QUEUE "|namespace=mine|cloud=Private", NULL,
		"endpointSuffix must be provided for Private cloud type" },
	{ &workload, QUEUE "|namespace=mine|cloud=Private|endpointSuffix=evil.example", NULL,
		"mine.evil.example is not one of Microsoft's hosts" },
	{ &workload, QUEUE "|namespace=mine|cloud=Private|endpointSuffix=x@evil.example/", NULL, "is not a host name" },
	{ &workload, QUEUE "|namespace=mine|cloud=Mars", NULL, "invalid cloud environment Mars" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build_as(bads[i].pod, bads[i].metadata, bads[i].auth, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void questions(void **state)
{
	static const struct {
		const char *a, *b, *b_auth;
		bool same;
	} pairs[] = {
		{ QUEUE, QUEUE "|messageCount=9|activationMessageCount=3|operation=max|namespace=x", AUTH, true },
		{ QUEUE, QUEUE "|connectionFromEnv=BUS", NULL, true },
		{ QUEUE, QUEUE, AUTH ";EntityPath=orders", true },
		{ QUEUE, QUEUE, "connection=" CONNECTION "x", false },
		{ QUEUE, QUEUE,
			"connection=Endpoint=sb://" HOST ";SharedAccessKeyName=other;SharedAccessKey=secret-value",
			false },
		{ QUEUE, QUEUE, "connection=Endpoint=sb://other;" KEY, false },
		{ QUEUE, "queueName=orders2", AUTH, false },
		{ QUEUE, QUEUE "|useRegex=true", AUTH, false },
		{ TOPIC, "topicName=shipped|subscriptionName=post", AUTH, false },
		{ TOPIC, "topicName=other|subscriptionName=mail", AUTH, false },
		{ TOPIC, TOPIC, AUTH, true },
		{ QUEUES, QUEUES "|operation=sum", AUTH, true },
		{ QUEUES, QUEUES "|operation=avg", AUTH, false },
		{ QUEUES, "queueName=orders-.+|useRegex=true", AUTH, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pairs); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, AUTH, &a, &err) || build(pairs[i].b, pairs[i].b_auth, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- Asking ---- */

/* A key signs each URL; a given signature and a token are sent with the login. */
static void signatures(void **state)
{
	static const struct {
		const struct pod_identity *pod;
		const char *auth, *begins;
	} rows[] = {
		{ NULL, AUTH, "SharedAccessSignature sr=https%3A%2F%2F" HOST "%2Forders%3Fapi-version%3D2021-05&sig=" },
		{ NULL, "connection=Endpoint=sb://" HOST ";SharedAccessSignature=SharedAccessSignature sr=x&sig=y&se=1",
			NULL },
		{ &workload, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		struct httpsource ask;
		char *url, *authorization;

		assert_int_equal(build_as(rows[i].pod, QUEUE "|namespace=mine", rows[i].auth, &s, &err), 0);
		ask = ask_of(s.question);
		url = next_url(&ask, &authorization);
		if (!rows[i].begins)
			assert_null(authorization);
		else if (strncmp(authorization, rows[i].begins, strlen(rows[i].begins)) != 0)
			fail_msg("%s", authorization);
		free(ask.state);
		free(url);
		free(authorization);
		scaler_done(&s);
	}
}

#define ENTRY(name, what, status, active)                                                                              \
	"<entry><title>" name "</title><content><" what "><Status>" status                                             \
	"</Status><CountDetails><d:ActiveMessageCount>" active "</d:ActiveMessageCount></CountDetails></" what         \
	"></content></entry>"
#define Q(name, active)   ENTRY(name, "QueueDescription", "Active", active)
#define OFF(name)         ENTRY(name, "QueueDescription", "Disabled", "100")
#define SUB(name, active) ENTRY(name, "SubscriptionDescription", "Active", active)
#define FEED(inner)       "<feed><title>Queues</title>" inner "</feed>"
#define NOTHING           "<feed><title>Publicly Listed Services</title></feed>"
#define FAULT(detail)     "<Error><Code>0</Code><Detail>" detail "</Detail></Error>"

static const struct {
	const char *metadata;
	int status;
	const char *bodies[3];
	double value;
	const char *error; /* NULL: value is valid */
	enum err_kind kind;
} replies[] = {
	{ QUEUE, 200, { Q("orders", "7") }, 7, NULL, ERR_NONE },
	{ QUEUE, 200, { Q("orders", "0") }, 0, NULL, ERR_NONE },
	{ QUEUE, 200, { ENTRY("orders", "QueueDescription", "SendDisabled", "7") }, 7, NULL, ERR_NONE },
	{ TOPIC, 200, { SUB("mail", "7") }, 7, NULL, ERR_NONE },
	/* None of these count as 0. */
	{ QUEUE, 200, { NOTHING }, 0, "queue orders doesn't exist", ERR_MISSING },
	{ QUEUE, 404, { FAULT("x") }, 0, "queue orders doesn't exist", ERR_MISSING },
	{ QUEUE, 410, { "" }, 0, "queue orders doesn't exist", ERR_MISSING },
	{ TOPIC, 200, { NOTHING }, 0, "subscription mail doesn't exist in topic shipped", ERR_MISSING },
	{ "topicName=shipped|subscriptionName=m.*|useRegex=true", 200, { NOTHING }, 0, "topic shipped doesn't exist",
		ERR_MISSING },
	{ QUEUES, 200, { NOTHING }, 0, "the namespace has no list of queues: is it a Service Bus namespace?",
		ERR_MISSING },
	{ QUEUE, 200, { OFF("orders") }, 0, "queue orders is disabled (Disabled)", ERR_INVALID },
	{ QUEUE, 200, { ENTRY("orders", "QueueDescription", "ReceiveDisabled", "7") }, 0,
		"queue orders is disabled (ReceiveDisabled)", ERR_INVALID },
	{ TOPIC, 200, { ENTRY("mail", "SubscriptionDescription", "Disabled", "1") }, 0,
		"subscription mail is disabled (Disabled)", ERR_INVALID },
	{ QUEUE, 200, { ENTRY("orders", "TopicDescription", "Active", "0") }, 0,
		"orders is a topic: topicName and subscriptionName are for those", ERR_INVALID },
	{ QUEUE, 200, { SUB("mail", "7") }, 0, "the answer is not about a queue", ERR_INVALID },
	{ TOPIC, 200, { Q("orders", "7") }, 0, "the answer is not about a subscription", ERR_INVALID },
	{ QUEUE, 200, { Q("orders", "") }, 0,
		"queue orders: the answer has no number of active messages: the namespace may be throttled",
		ERR_TEMPORARY },
	{ QUEUE, 200, { FEED("") }, 0, "the answer is not about one queue", ERR_INVALID },
	{ QUEUE, 200, { FEED(Q("a", "1")) }, 0, "the answer is not about one queue", ERR_INVALID },
	{ QUEUE, 200, { "{}" }, 0, "the answer is not XML: line 1 column 1: not well-formed (invalid token)",
		ERR_INVALID },
	{ QUEUES, 200, { Q("orders-a", "1") }, 0, "the answer is not a list", ERR_INVALID },
	/* Lists. */
	{ QUEUES, 200, { FEED(Q("orders-a", "7") Q("my-orders-a", "9")), FEED(Q("orders-b", "6")), FEED("") }, 13, NULL,
		ERR_NONE },
	{ QUEUES "|operation=max", 200,
		{ FEED(Q("orders-a", "7") Q("orders", "9")), FEED(Q("orders-b", "6")), FEED("") }, 7, NULL, ERR_NONE },
	{ QUEUES "|operation=avg", 200, { FEED(Q("orders-a", "7")), FEED(Q("orders-b", "6")), FEED("") }, 6, NULL,
		ERR_NONE },
	{ "topicName=t|subscriptionName=a|ab|useRegex=true", 200, { FEED(SUB("ab", "4") SUB("abc", "5")), FEED("") }, 4,
		NULL, ERR_NONE },
	{ QUEUES, 200, { FEED(OFF("orders-a") Q("orders-b", "2")), FEED("") }, 2, NULL, ERR_NONE },
	{ QUEUES "|operation=avg", 200, { FEED(OFF("orders-a") Q("orders-b", "2")), FEED("") }, 2, NULL, ERR_NONE },
	{ QUEUES, 200, { FEED(OFF("orders-a")), FEED("") }, 0,
		"queue orders-a is disabled, like all others that the regular expression matches", ERR_INVALID },
	{ QUEUES, 200, { FEED(Q("other", "2") OFF("another")), FEED("") }, 0, NULL, ERR_NONE },
	{ QUEUES "|operation=avg", 200, { FEED("") }, 0, NULL, ERR_NONE },
	{ QUEUES, 200, { FEED(Q("orders-a", "x") Q("orders-b", "2")) }, 0,
		"queue orders-a: the answer has no number of active messages: the namespace may be throttled",
		ERR_TEMPORARY },
	{ QUEUES, 200, { FEED(Q("", "2")) }, 0, "an entry of the list has no name", ERR_INVALID },
	{ QUEUES, 200, { FEED(SUB("orders-a", "2")) }, 0, "the answer is not about a queue", ERR_INVALID },
	{ "queueName=(a*a*)*(a*a*)*[cd]|useRegex=true", 200,
		{ FEED(Q("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
			"2")) },
		0, "the regular expression takes too long on the names of a page", ERR_INVALID },
	/* Refused. */
	{ QUEUE, 401, { FAULT("Manage,EntityRead claims required for this operation. TrackingId:1") }, 0,
		"HTTP status 401: Manage,EntityRead claims required for this operation. TrackingId:1; connection needs "
		"a "
		"policy with the right Manage",
		ERR_DENIED },
	{ QUEUE, 403, { FAULT("Ip has been prevented to connect to the endpoint.") }, 0,
		"HTTP status 403: Ip has been prevented to connect to the endpoint.", ERR_DENIED },
	{ QUEUE, 503, { "busy" }, 0, "HTTP status 503: busy", ERR_TEMPORARY },
	{ QUEUE, 500, { FAULT("") }, 0, "HTTP status 500: <Error><Code>0</Code><Detail></Detail></Error>",
		ERR_TEMPORARY },
	{ QUEUE, 201, { "" }, 0, "HTTP status 201", ERR_INVALID },
	{ QUEUE, 400, { FAULT("SharedAccessSignature sr=x&amp;sig=y&amp;se=1 is malformed") }, 0, "HTTP status 400",
		ERR_INVALID },
};

/* A subscription's expression may contain |, which separates the pairs of these tables. */
static const char *escaped(const char *metadata, char out[256])
{
	const char *at = strstr(metadata, "a|ab");

	strcpy(out, metadata);
	if (at)
		out[at - metadata + 1] = '\1';
	return out;
}

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(replies); i++) {
		struct scaler s;
		struct err err = { 0 };
		struct answer out = { 0 };
		struct httpsource ask;
		enum exchange_verdict verdict = EXCHANGE_NEXT;
		size_t page = 0;
		char room[256];

		assert_int_equal(build(escaped(replies[i].metadata, room), AUTH, &s, &err), 0);
		ask = ask_of(s.question);
		while (verdict == EXCHANGE_NEXT && page < MEM_COUNT(replies[i].bodies) && replies[i].bodies[page]) {
			const char *body = replies[i].bodies[page++];
			struct webresponse answer = { .status = replies[i].status,
				.body = body,
				.len = strlen(body),
				.content_type = "" };

			verdict = s.type->http->read(&ask, &answer, &out, &err);
		}
		if (replies[i].error) {
			assert_string_equal(err.msg, replies[i].error);
			assert_int_equal(verdict, EXCHANGE_FAILED);
			assert_int_equal(err.kind, replies[i].kind);
		} else {
			if (verdict != EXCHANGE_DONE)
				fail_msg("%zu: %s", i, err.msg);
			assert_true(out.value == replies[i].value);
		}
		free(ask.state);
		scaler_done(&s);
	}
}

/* Each page starts after the entities seen so far, whatever the service's page size. */
static void pages(void **state)
{
	static const char body[] = FEED(Q("a", "1") Q("b", "1") Q("c", "1"));
	const struct webresponse answer = { .status = 200, .body = body, .len = strlen(body), .content_type = "" };
	struct scaler s;
	struct err err = { 0 };
	struct answer out;
	struct httpsource ask;
	char *url, *authorization;

	(void)state;
	assert_int_equal(build(QUEUES, AUTH, &s, &err), 0);
	ask = ask_of(s.question);
	assert_int_equal(s.type->http->read(&ask, &answer, &out, &err), EXCHANGE_NEXT);
	url = next_url(&ask, &authorization);
	assert_string_equal(url, "https://" HOST "/$Resources/Queues?%24skip=3&%24top=100&api-version=2021-05");
	assert_non_null(strstr(authorization, "%2F%24Resources%2FQueues%3F%2524skip%3D3%26"));
	free(url);
	free(authorization);
	free(ask.state);
	scaler_done(&s);
}

/* The advice for a 401 depends on the login. */
static void advice(void **state)
{
	static const struct {
		const struct pod_identity *pod;
		const char *auth, *message;
	} rows[] = {
		{ &workload, NULL, "kscaled's identity needs a role such as" },
		{ NULL, AUTH, "connection needs a policy with the right Manage" },
		{ NULL, AUTH ";EntityPath=other", "its EntityPath must be this queue or topic" },
		{ NULL, "connection=Endpoint=sb://x;SharedAccessSignature=SharedAccessSignature sr=x",
			"the SharedAccessSignature of connection may have expired" },
	};
	static const char body[] = FAULT("InvalidSignature: The token has an invalid signature.");
	const struct webresponse answer = { .status = 401, .body = body, .len = strlen(body), .content_type = "" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		struct answer out;
		struct httpsource ask;

		assert_int_equal(build_as(rows[i].pod, QUEUE "|namespace=mine", rows[i].auth, &s, &err), 0);
		ask = ask_of(s.question);
		assert_int_equal(s.type->http->read(&ask, &answer, &out, &err), EXCHANGE_FAILED);
		assert_non_null(
			strstr(err.msg, "HTTP status 401: InvalidSignature: The token has an invalid signature.; "));
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%s", err.msg);
		assert_int_equal(err.kind, ERR_DENIED);
		free(ask.state);
		scaler_done(&s);
	}
}

/* The token is valid for a while: a text that repeats it is not shown. */
static void tokens_are_hidden(void **state)
{
	static const char body[] = "no\0SharedAccessSignature sr=x&sig=y";
	const struct webresponse answer = { .status = 403, .body = body, .len = sizeof(body) - 1, .content_type = "" };
	struct scaler s;
	struct err err = { 0 };
	struct answer out;
	struct httpsource ask;

	(void)state;
	assert_int_equal(build(QUEUE, AUTH, &s, &err), 0);
	ask = ask_of(s.question);
	assert_int_equal(s.type->http->read(&ask, &answer, &out, &err), EXCHANGE_FAILED);
	assert_string_equal(err.msg, "HTTP status 403");
	free(ask.state);
	scaler_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(old_parameter_name),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(signatures),
		cmocka_unit_test(answers),
		cmocka_unit_test(pages),
		cmocka_unit_test(advice),
		cmocka_unit_test(tokens_are_hidden),
	};

	return cmocka_run_group_tests_name("scalers/azure/servicebus", tests, NULL, NULL);
}
