/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nats-jetstream trigger (doc/keda.md 8.13): parameters, accepted, defaulted, rejected with
 * their message; and the order of requests to a cluster, without a network.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "scalers/http/httpsource.h"
#include "scalers/scaler.h"

static int build(const char *metadata, const char *auth, bool formula, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "nats-jetstream", .index = 1, .formula_source = formula };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

#define PLACE "natsServerMonitoringEndpoint=nats:8222"
#define BASE  PLACE "|account=$G|stream=orders|consumer=worker"

static const struct {
	const char *metadata, *auth;
	const char *source, *metric, *url;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ BASE, NULL, "nats-jetstream http://nats:8222", "s1-nats-jetstream-orders",
		"http://nats:8222/jsz?acc=%24G&accounts=true&consumers=true", 10000, 0 },
	{ BASE "|lagThreshold=5|activationLagThreshold=3|useHttps=true", NULL, "nats-jetstream https://nats:8222",
		"s1-nats-jetstream-orders", "https://nats:8222/jsz?acc=%24G&accounts=true&consumers=true", 5000, 3 },
	{ BASE "|accountID=AB CD&e", NULL, "nats-jetstream http://nats:8222", "s1-nats-jetstream-orders",
		"http://nats:8222/jsz?acc=AB%20CD%26e&accounts=true&consumers=true", 10000, 0 },
	{ PLACE "|accountID=AC|stream=a.b/c|consumer=worker", NULL, "nats-jetstream http://nats:8222",
		"s1-nats-jetstream-a-b-c", "http://nats:8222/jsz?acc=AC&accounts=true&consumers=true", 10000, 0 },
	{ "stream=orders|consumer=worker", "natsServerMonitoringEndpoint=[::1]:8222|account=secret-value",
		"nats-jetstream http://[::1]:8222", "s1-nats-jetstream-orders",
		"http://[::1]:8222/jsz?acc=secret-value&accounts=true&consumers=true", 10000, 0 },
	{ BASE, "natsServerMonitoringEndpoint=other:8222", "nats-jetstream http://other:8222",
		"s1-nats-jetstream-orders", "http://other:8222/jsz?acc=%24G&accounts=true&consumers=true", 10000, 0 },
	{ "natsServerMonitoringEndpoint=nats.shop.svc|account=a|stream=orders|consumer=worker", NULL,
		"nats-jetstream http://nats.shop.svc:80", "s1-nats-jetstream-orders",
		"http://nats.shop.svc/jsz?acc=a&accounts=true&consumers=true", 10000, 0 },
};

/* The URL of the first request. */
static char *first_url(struct question *q)
{
	struct httpsource ask = { .base = { .question = q },
		.data = q->data,
		.state = mem_zalloc(q->type->http->state_size) };
	struct webrequest r = { 0 };
	struct err err = { 0 };

	assert_int_equal(q->type->http->request(&ask, &r, &err), 0);
	free(ask.state);
	return r.url;
}

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };
		char *url;

		if (build(goods[i].metadata, goods[i].auth, false, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		url = first_url(s.question);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(s.question->source, goods[i].source);
		assert_string_equal(url, goods[i].url);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, QUESTION_TIMEOUT_HTTP);
		assert_true(s.activation == goods[i].activation);
		assert_null(s.unknown);
		free(url);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "account=$G|stream=orders|consumer=worker", NULL,
		"trigger 1 (nats-jetstream): missing required parameter \"natsServerMonitoringEndpoint\"" },
	{ PLACE "|account=$G|consumer=worker", NULL, "missing required parameter \"stream\" in [triggerMetadata]" },
	{ PLACE "|account=$G|stream=orders", NULL, "missing required parameter \"consumer\" in [triggerMetadata]" },
	{ PLACE "|account=$G|consumer=worker", "stream=orders", "missing required parameter \"stream\"" },
	{ PLACE "|stream=orders|consumer=worker", NULL, "no account name or id given" },
	{ BASE "|lagThreshold=0", NULL, "\"lagThreshold\" value \"0\" must be greater than 0" },
	{ BASE "|lagThreshold=1.5", NULL, "\"lagThreshold\" value \"1.5\"" },
	{ BASE "|activationLagThreshold=x", NULL, "\"activationLagThreshold\" value \"x\"" },
	{ BASE "|useHttps=maybe", NULL, "\"useHttps\" value \"maybe\": must be true or false" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=http://nats:8222", NULL,
		"\"natsServerMonitoringEndpoint\" must be host:port" },
	{ "account=$G|stream=s|consumer=c", "natsServerMonitoringEndpoint=secret-value:99999", "must be host:port" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=:8222", NULL, "must be host:port" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=a:8222/x", NULL, "must be host:port" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=u@a:8222", NULL, "must be host:port" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=a b:8222", NULL, "must be host:port" },
	{ "account=$G|stream=s|consumer=c|natsServerMonitoringEndpoint=fd00::1", NULL, "must be host:port" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, false, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void without_a_target_in_a_formula(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE "|lagThreshold=0", NULL, true, &s, &err), 0);
	assert_int_equal(s.target.milli, 0);
	scaler_done(&s);
}

static void questions(void **state)
{
	static const struct {
		const char *b, *auth;
		bool same;
	} others[] = {
		{ BASE "|lagThreshold=7|activationLagThreshold=1|useHttps=false", NULL, true },
		{ PLACE "|stream=orders|consumer=worker", "account=$G", true },
		{ BASE "|useHttps=true", NULL, false },
		{ BASE "|accountID=$G", NULL, true },
		{ BASE "|accountID=other", NULL, false },
		{ PLACE "|accountID=$G|stream=orders|consumer=worker", NULL, false },
		{ PLACE "|account=other|stream=orders|consumer=worker", NULL, false },
		{ PLACE "|account=$G|stream=other|consumer=worker", NULL, false },
		{ PLACE "|account=$G|stream=orders|consumer=other", NULL, false },
		{ "natsServerMonitoringEndpoint=nats:8223|account=$G|stream=orders|consumer=worker", NULL, false },
	};
	struct scaler a, b;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE, NULL, false, &a, &err), 0);
	for (size_t i = 0; i < MEM_COUNT(others); i++) {
		assert_int_equal(build(others[i].b, others[i].auth, false, &b, &err), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != others[i].same)
			fail_msg("%s: keys \"%s\" and \"%s\"", others[i].b, a.question->key, b.question->key);
		scaler_done(&b);
	}
	scaler_done(&a);
}

/* ---- Which server is asked ---- */

/* An ask whose requests the test answers. */
struct walk {
	struct scaler_sources sources;
	struct scaler scaler;
	struct httpsource ask;
	struct webrequest request;
	struct answer out;
	struct err err;
	enum exchange_verdict verdict;
};

static void walk_setup(struct walk *w, const char *endpoint)
{
	MEM_AUTO char *metadata = mem_printf("natsServerMonitoringEndpoint=%s|account=$G|stream=orders|consumer=worker",
		endpoint);

	*w = (struct walk){ .verdict = EXCHANGE_NEXT };
	w->sources.loop = loop_new(&w->err);
	assert_int_equal(build(metadata, NULL, false, &w->scaler, &w->err), 0);
}

static const struct httpsource_type *http_of(const struct walk *w)
{
	return w->scaler.type->http;
}

static void walk_end(struct walk *w)
{
	if (w->ask.state)
		http_of(w)->state_done(w->ask.state);
	mem_free_ptr(&w->ask.state);
	mem_free_ptr(&w->request.url);
}

static void walk_begin(struct walk *w)
{
	walk_end(w);
	w->ask = (struct httpsource){ .base = { .question = w->scaler.question,
					      .sources = &w->sources,
					      .deadline_ms = loop_now_ms(w->sources.loop) + 60000 },
		.data = w->scaler.question->data,
		.state = mem_zalloc(http_of(w)->state_size) };
	w->verdict = EXCHANGE_NEXT;
	err_clear(&w->err);
}

static void walk_done(struct walk *w)
{
	walk_end(w);
	scaler_done(&w->scaler);
	loop_free(w->sources.loop);
}

/* The next request; NULL: none, and err has the reason. */
static const char *asks(struct walk *w)
{
	assert_int_equal(w->verdict, EXCHANGE_NEXT);
	mem_free_ptr(&w->request.url);
	w->request = (struct webrequest){ 0 };
	return http_of(w)->request(&w->ask, &w->request, &w->err) == 0 ? w->request.url : NULL;
}

static void hears(struct walk *w, int status, char *body /* takes */)
{
	struct webresponse answer = { .status = status, .body = body, .len = strlen(body), .content_type = "" };

	w->ask.step++;
	w->verdict = http_of(w)->read(&w->ask, &answer, &w->out, &w->err);
	free(body);
}

static void hears_nothing(struct walk *w, const char *why)
{
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s", why);
	w->ask.step++;
	w->verdict = http_of(w)->lost(&w->ask, &err);
	if (w->verdict == EXCHANGE_FAILED)
		w->err = err;
}

static char *jsz(const char *id, const char *leader, int pending)
{
	return mem_printf("{\"server_id\":\"%s\",\"meta_cluster\":{\"cluster_size\":3},\"account_details\":[{\"name\":"
			  "\"$G\",\"stream_detail\":[{\"name\":\"orders\",\"consumer_detail\":[{\"name\":\"worker\","
			  "\"num_pending\":%d,\"num_ack_pending\":0,\"cluster\":{\"leader\":\"%s\"}}]}]}]}",
		id, pending, leader);
}

/* An account's ID may be given as its name, as in KEDA. */
static void an_account_id_given_as_name(void **state)
{
	struct walk w = { .verdict = EXCHANGE_NEXT };

	(void)state;
	w.sources.loop = loop_new(&w.err);
	assert_int_equal(build(PLACE "|account=ACID|stream=orders|consumer=worker", NULL, false, &w.scaler, &w.err), 0);
	walk_begin(&w);
	assert_string_equal(asks(&w), "http://nats:8222/jsz?acc=ACID&accounts=true&consumers=true");
	hears(&w, 200,
		mem_dup("{\"server_id\":\"I1\",\"account_details\":[{\"name\":\"shop\",\"id\":\"ACID\","
			"\"stream_detail\":[{\"name\":\"orders\",\"consumer_detail\":[{\"name\":\"worker\","
			"\"num_pending\":3,\"num_ack_pending\":1}]}]}]}"));
	assert_int_equal(w.verdict, EXCHANGE_DONE);
	assert_true(w.out.value == 4);
	walk_done(&w);
}

static char *jsz_without(const char *id)
{
	return mem_printf("{\"server_id\":\"%s\",\"meta_cluster\":{\"cluster_size\":3},\"account_details\":[]}", id);
}

static char *varz(const char *id, const char *name, const char *more)
{
	return mem_printf("{\"server_id\":\"%s\",\"server_name\":\"%s\"%s}", id, name, more);
}

#define ADVERTISED                                                                                                     \
	",\"connect_urls\":[\"10.0.0.1:4222\",\"10.0.0.2:4222\",\"10.0.0.3:4222\"],\"cluster\":{\"urls\":[\"n-1:"      \
	"6222\"]}"
#define JSZ "/jsz?acc=%24G&accounts=true&consumers=true"

/* Walks from the endpoint to the leader, n2 at 10.0.0.2. */
static void find_the_leader(struct walk *w)
{
	walk_begin(w);
	assert_string_equal(asks(w), "http://nats:8222" JSZ);
	hears(w, 200, jsz("I1", "n2", 4));
	assert_string_equal(asks(w), "http://nats:8222/varz");
	hears(w, 200, varz("I1", "n1", ADVERTISED));
	assert_string_equal(asks(w), "http://10.0.0.1:8222/varz");
	hears(w, 200, varz("I1", "n1", ADVERTISED));
	assert_string_equal(asks(w), "http://10.0.0.2:8222/varz");
	hears(w, 200, varz("I2", "n2", ADVERTISED));
	assert_string_equal(asks(w), "http://10.0.0.2:8222" JSZ);
	hears(w, 200, jsz("I2", "n2", 7));
	assert_int_equal(w->verdict, EXCHANGE_DONE);
	assert_true(w->out.value == 7);
}

/* Once found, only the leader is asked, until it is restarted or loses its role. */
static void the_leader_is_remembered(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	find_the_leader(&w);
	walk_begin(&w);
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	hears(&w, 200, jsz("I2", "n2", 9));
	assert_int_equal(w.verdict, EXCHANGE_DONE);
	assert_true(w.out.value == 9);

	walk_begin(&w);
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	hears(&w, 200, jsz("I2", "n3", 9)); /* it has lost its role */
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	find_the_leader(&w);

	walk_begin(&w);
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	hears(&w, 200, jsz("I9", "n2", 9)); /* another process at this address */
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	find_the_leader(&w);

	walk_begin(&w);
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	hears(&w, 503, mem_dup("busy"));
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	find_the_leader(&w);

	walk_begin(&w);
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	assert_in_range(w.request.timeout_ms, 1, 20000);
	hears_nothing(&w, "http://10.0.0.2:8222: Connection refused");
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	assert_int_equal(w.request.timeout_ms, 0);
	walk_done(&w);
}

/* If the endpoint is the leader: two requests, later one. */
static void the_endpoint_leads(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I2", "n2", 4));
	asks(&w);
	hears(&w, 200, varz("I2", "n2", ADVERTISED));
	assert_int_equal(w.verdict, EXCHANGE_DONE);
	assert_true(w.out.value == 4);
	walk_begin(&w);
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	hears(&w, 200, jsz("I2", "n2", 5));
	assert_int_equal(w.verdict, EXCHANGE_DONE);
	/* Behind a Service another server may answer, so its name is requested, too. */
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I3", "n2", 5));
	assert_string_equal(asks(&w), "http://nats:8222" JSZ);
	hears(&w, 200, jsz("I3", "n2", 5));
	assert_string_equal(asks(&w), "http://nats:8222/varz");
	hears(&w, 200, varz("I2", "n2", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.1:8222/varz");
	walk_done(&w);
}

/* Only one server of the cluster has a stream without replicas. */
static void a_stream_on_one_server(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz_without("I1"));
	asks(&w);
	hears(&w, 200, varz("I1", "n1", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.1:8222/varz");
	hears(&w, 200, varz("I1", "n1", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.1:8222" JSZ);
	hears(&w, 200, jsz_without("I1"));
	assert_string_equal(asks(&w), "http://10.0.0.2:8222/varz");
	hears(&w, 200, varz("I2", "n2", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.2:8222" JSZ);
	hears(&w, 200, jsz("I2", "n2", 6));
	assert_int_equal(w.verdict, EXCHANGE_DONE);
	walk_done(&w);
}

static void silent_servers_are_skipped(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I1", "n3", 4));
	asks(&w);
	hears(&w, 200, varz("I1", "n1", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.1:8222/varz");
	hears_nothing(&w, "http://10.0.0.1:8222: Connection refused");
	assert_string_equal(asks(&w), "http://10.0.0.2:8222/varz");
	hears(&w, 404, mem_dup("404 page not found\n"));
	assert_string_equal(asks(&w), "http://10.0.0.3:8222/varz");
	hears(&w, 200, varz("I3", "n3", ADVERTISED));
	assert_string_equal(asks(&w), "http://10.0.0.3:8222" JSZ);
	hears_nothing(&w, "http://10.0.0.3:8222: no complete answer within 500 ms");
	assert_null(asks(&w));
	assert_int_equal(w.err.kind, ERR_TEMPORARY);
	assert_string_equal(w.err.msg,
		"leader node not found for consumer \"worker\": none of the cluster's 3 addresses, at the "
		"endpoint's port, belongs to n3; connect_urls in /varz must be reachable from here; "
		"http://10.0.0.3:8222: no complete answer within 500 ms");
	walk_done(&w);
}

static void no_time_left(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I1", "n3", 4));
	asks(&w);
	hears(&w, 200, varz("I1", "n1", ADVERTISED));
	w.ask.base.deadline_ms = loop_now_ms(w.sources.loop) + 30;
	assert_null(asks(&w));
	assert_non_null(strstr(w.err.msg, "leader node not found for consumer \"worker\""));
	walk_done(&w);
}

#define NO_ACCOUNT                                                                                                     \
	"account not found: the server has no such account with streams; \"account\" is its name ($G without "         \
	"accounts), \"accountID\" its public key if the server has an operator (JWT)"

/* Errors of the endpoint itself are reported. */
static void the_endpoints_errors(void **state)
{
	static const char alone[] =
		"{\"server_id\":\"I\",\"account_details\":[{\"name\":\"$G\",\"stream_detail\":[%s]}]}";
	static const struct {
		int status;
		const char *streams, *says;
	} cases[] = {
		{ 200, "", "stream \"orders\" not found" },
		{ 200, "{\"name\":\"orders\"}", "consumer \"worker\" not found in stream \"orders\"" },
		{ 404, "", "HTTP status 404: {\"server_id\"" },
		{ 503, "", "HTTP status 503" },
	};
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		MEM_AUTO char *streams = mem_dup(cases[i].streams);
		const char *hole = strstr(alone, "%s");

		walk_begin(&w);
		asks(&w);
		hears(&w, cases[i].status,
			mem_printf("%.*s%s%s", (int)(hole - alone), alone, streams, hole + strlen("%s")));
		assert_int_equal(w.verdict, EXCHANGE_FAILED);
		if (!strstr(w.err.msg, cases[i].says))
			fail_msg("\"%s\", not \"%s\"", w.err.msg, cases[i].says);
	}
	walk_begin(&w);
	asks(&w);
	hears_nothing(&w, "http://nats:8222: Connection refused");
	assert_int_equal(w.verdict, EXCHANGE_FAILED);
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I1", "n3", 4));
	asks(&w);
	hears(&w, 200, mem_dup("{}"));
	assert_int_equal(w.verdict, EXCHANGE_FAILED);
	walk_done(&w);
}

/* In a cluster a consumer is missing only if all servers have answered. */
static void a_consumer_missing_in_a_cluster(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	for (int silent = 0; silent < 2; silent++) {
		walk_begin(&w);
		asks(&w);
		hears(&w, 200, jsz_without("I1"));
		asks(&w);
		hears(&w, 200, varz("I1", "n1", ",\"connect_urls\":[\"10.0.0.1:4222\",\"10.0.0.2:4222\"]"));
		asks(&w);
		hears(&w, 200, varz("I1", "n1", ""));
		asks(&w);
		hears(&w, 200, jsz_without("I1"));
		asks(&w);
		if (silent) {
			hears_nothing(&w, "http://10.0.0.2:8222: Connection refused");
		} else {
			hears(&w, 200, varz("I2", "n2", ""));
			asks(&w);
			hears(&w, 200, jsz_without("I2"));
		}
		assert_null(asks(&w));
		assert_int_equal(w.err.kind, silent ? ERR_TEMPORARY : ERR_INVALID);
		assert_string_equal(w.err.msg,
			silent ? "one of the cluster's servers did not answer (http://10.0.0.2:8222: Connection "
				 "refused), and on the others: " NO_ACCOUNT
			       : NO_ACCOUNT);
	}
	walk_done(&w);
}

static void no_leader(void **state)
{
	struct walk w;

	(void)state;
	walk_setup(&w, "nats:8222");
	walk_begin(&w);
	asks(&w);
	hears(&w, 200, jsz("I1", "", 4));
	asks(&w);
	hears(&w, 200, varz("I1", "n1", ",\"connect_urls\":[\"10.0.0.1:4222\"]"));
	asks(&w);
	hears(&w, 200, varz("I1", "n1", ""));
	asks(&w);
	hears(&w, 200, jsz("I1", "", 4));
	assert_null(asks(&w));
	assert_string_equal(w.err.msg, "consumer \"worker\" has no leader at present");
	assert_int_equal(w.err.kind, ERR_TEMPORARY);
	walk_done(&w);
}

/* Routes: KEDA's Pods behind a Service; names and addresses unchanged. */
static void routes(void **state)
{
	static const struct {
		const char *endpoint, *route, *first, *second;
	} cases[] = {
		{ "nats.shop.svc:8222", "nats-1.nats:6222", "http://nats-1.nats.shop.svc:8222/varz",
			"http://nats-1.nats:8222/varz" },
		{ "nats.shop.svc:8222", "nats-1:6222", "http://nats-1.nats.shop.svc:8222/varz", NULL },
		{ "nats.shop:8222", "nats-1.nats.shop:6222", "http://nats-1.nats.shop:8222/varz", NULL },
		{ "nats.shop.svc:8222", "10.1.2.3:6222", "http://10.1.2.3:8222/varz", NULL },
		{ "10.1.2.3:8222", "n1.example.com:6222", "http://n1.example.com:8222/varz", NULL },
		{ "[fd00::1]:8222", "[fd00::2]:6222", "http://[fd00::2]:8222/varz", NULL },
		{ "nats.shop.svc", "[fd00::2]:6222", "http://[fd00::2]/varz", NULL },
		{ "nats.shop.svc", "nats-1:6222", "http://nats-1.nats.shop.svc/varz", NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		MEM_AUTO char *urls = mem_printf(",\"cluster\":{\"urls\":[\"%s\"]}", cases[i].route);
		struct walk w;

		walk_setup(&w, cases[i].endpoint);
		walk_begin(&w);
		asks(&w);
		hears(&w, 200, jsz("I1", "n3", 4));
		asks(&w);
		hears(&w, 200, varz("I1", "n1", urls));
		assert_string_equal(asks(&w), cases[i].first);
		hears_nothing(&w, "no such name");
		if (cases[i].second)
			assert_string_equal(asks(&w), cases[i].second);
		else
			assert_null(asks(&w));
		walk_done(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(without_a_target_in_a_formula),
		cmocka_unit_test(questions),
		cmocka_unit_test(an_account_id_given_as_name),
		cmocka_unit_test(the_leader_is_remembered),
		cmocka_unit_test(the_endpoint_leads),
		cmocka_unit_test(a_stream_on_one_server),
		cmocka_unit_test(silent_servers_are_skipped),
		cmocka_unit_test(no_time_left),
		cmocka_unit_test(the_endpoints_errors),
		cmocka_unit_test(a_consumer_missing_in_a_cluster),
		cmocka_unit_test(no_leader),
		cmocka_unit_test(routes),
	};

	return cmocka_run_group_tests_name("scalers/nats/nats", tests, NULL, NULL);
}
