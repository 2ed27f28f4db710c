/* SPDX-License-Identifier: Apache-2.0 */
/* One query to one name server: verdicts, reasons, and the end. net/dns/names does the caching. */
#include "nameserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/dns/resolver.h"

static struct {
	struct fixture *f;
	struct nameserver server;
	struct resolver *resolver;
	int works, asked, silent;
} w;

static void on_work(void *arg)
{
	(void)arg;
	w.works++;
}

/* An SRV record of three bytes: a priority, and half a weight. */
static void put_broken_service(struct nameserver_reply *reply)
{
	static const unsigned char record[] = { 0xc0, 12, 0, NAMESERVER_SRV, 0, 1, 0, 0, 0, 60, 0, 3, 0, 1, 0 };

	memcpy(reply->records, record, sizeof(record));
	reply->len = sizeof(record);
	reply->count = 1;
}

static void on_question(void *arg, const char *name, unsigned type, struct nameserver_reply *reply)
{
	static const unsigned char here[4] = { 192, 0, 2, 7 }, there[4] = { 192, 0, 2, 8 };

	(void)arg;
	w.asked++;
	if (strcmp(name, "silent.test") == 0) {
		reply->silent = true;
		w.silent++;
	} else if (strcmp(name, "refused.test") == 0) {
		reply->code = NAMESERVER_BROKEN;
	} else if (strcmp(name, "none.test") == 0) {
		reply->code = NAMESERVER_NO_NAME;
	} else if (strcmp(name, "twice.test") == 0 && type == NAMESERVER_A) {
		nameserver_put_address(reply, 60, here);
		nameserver_put_address(reply, 30, here);
		nameserver_put_address(reply, 20, there);
	} else if (strcmp(name, "broken.test") == 0 && type == NAMESERVER_SRV) {
		put_broken_service(reply);
	} else if (strcmp(name, "mongo.test") == 0 && type == NAMESERVER_SRV) {
		nameserver_put_service(reply, 50, 27017, "a.mongo.test");
		nameserver_put_service(reply, 40, 27018, "b.mongo.test");
	}
}

static int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	if (fixture_setup(state) < 0)
		return -1;
	w.f = *state;
	nameserver_start(&w.server, w.f, on_question, NULL);
	w.resolver = resolver_new(loop_base(w.f->loop), on_work, NULL);
	resolver_use(w.resolver, w.server.resolv_conf, w.server.port);
	return 0;
}

static int teardown(void **state)
{
	int rc;

	resolver_free(w.resolver);
	rc = fixture_teardown(state);
	nameserver_stop(&w.server);
	return rc;
}

struct got {
	int times, works;              /* works: so far, at the call */
	struct resolver_answer answer; /* without its records */
	char host[64];
	uint16_t port;
	char first[INET6_ADDRSTRLEN];
};

static void on_answer(void *arg, const struct resolver_answer *answer)
{
	struct got *g = arg;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)&answer->addresses[0].sa;

	g->times++;
	g->works = w.works;
	g->answer = *answer;
	if (answer->records.count > 0) {
		snprintf(g->host, sizeof(g->host), "%s", answer->records.at[0].text);
		g->port = answer->records.at[0].port;
	} else if (answer->count > 0 && sin->sin_family == AF_INET) {
		inet_ntop(AF_INET, &sin->sin_addr, g->first, sizeof(g->first));
	}
}

static bool serve(bool over)
{
	nameserver_serve(&w.server);
	return over;
}

static struct got ask(const char *host, enum dnsrecord_kind kind)
{
	struct got g = { 0 };

	resolver_ask(w.resolver, host, kind, on_answer, &g);
	UNTIL(w.f, serve(g.times > 0));
	assert_int_equal(g.times, 1);
	return g;
}

/* A name that does not exist, one without such records, and a server that fails. */
static void verdicts_have_reasons(void **state)
{
	static const struct {
		const char *host;
		enum dnsrecord_kind kind;
		enum resolver_verdict verdict;
		const char *why;
	} rows[] = {
		{ "none.test", DNSRECORD_ADDRESS, RESOLVER_NONE, "Domain name not found" },
		{ "none.test", DNSRECORD_SRV, RESOLVER_NONE, "Domain name not found" },
		{ "empty.test", DNSRECORD_TXT, RESOLVER_NONE, "DNS server returned answer with no data" },
		{ "bad..test", DNSRECORD_SRV, RESOLVER_NONE, "Misformatted domain name" },
		{ "refused.test", DNSRECORD_SRV, RESOLVER_FAILED, "Could not contact DNS servers" },
		{ "refused.test", DNSRECORD_ADDRESS, RESOLVER_FAILED, "Could not contact DNS servers" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct got g = ask(rows[i].host, rows[i].kind);

		if (g.answer.verdict != rows[i].verdict || !strstr(g.answer.why, rows[i].why))
			fail_msg("%s: %d \"%s\"", rows[i].host, g.answer.verdict, g.answer.why);
		assert_int_equal(g.answer.count, 0);
	}
}

static void addresses_are_distinct_and_live_as_long_as_the_shortest(void **state)
{
	struct got g = ask("twice.test", DNSRECORD_ADDRESS);

	(void)state;
	assert_int_equal(g.answer.verdict, RESOLVER_FOUND);
	assert_int_equal(g.answer.count, 2);
	assert_string_equal(g.first, "192.0.2.7");
	assert_int_equal(g.answer.ttl_ms, 20000);
	assert_true(g.works > 0); /* told before the callback that there is work in this turn */
}

static void records(void **state)
{
	struct got g = ask("mongo.test", DNSRECORD_SRV);

	(void)state;
	assert_int_equal(g.answer.verdict, RESOLVER_FOUND);
	assert_int_equal(g.answer.count, 2);
	assert_string_equal(g.host, "a.mongo.test");
	assert_int_equal(g.port, 27017);
	assert_int_equal(g.answer.ttl_ms, 40000);
}

static void malformed_records_are_a_failure(void **state)
{
	struct got g = ask("broken.test", DNSRECORD_SRV);

	(void)state;
	assert_int_equal(g.answer.verdict, RESOLVER_FAILED);
	assert_int_equal(g.answer.count, 0);
	assert_true(strlen(g.answer.why) > 0);
}

/* Answered at once, from the hosts file or without any. */
static void no_server_is_asked_below_localhost(void **state)
{
	struct got g = { 0 };

	(void)state;
	resolver_ask(w.resolver, "a.localhost", DNSRECORD_SRV, on_answer, &g);
	assert_int_equal(g.times, 1);
	assert_int_equal(g.answer.verdict, RESOLVER_NONE);
	g = ask("A.LOCALHOST", DNSRECORD_ADDRESS);
	assert_int_equal(g.answer.verdict, RESOLVER_FOUND);
	assert_int_equal(g.answer.ttl_ms, 0);
	assert_int_equal(w.asked, 0);
}

/* Queries under way end without a callback; the sanitizer sees what would be left over. */
static void the_end_with_queries_under_way(void **state)
{
	struct got g[2] = { 0 };

	(void)state;
	resolver_ask(w.resolver, "silent.test", DNSRECORD_ADDRESS, on_answer, &g[0]);
	resolver_ask(w.resolver, "silent.test", DNSRECORD_TXT, on_answer, &g[1]);
	UNTIL(w.f, serve(w.silent >= 2));
	resolver_free(w.resolver);
	assert_int_equal(g[0].times + g[1].times, 0);
	w.resolver = resolver_new(loop_base(w.f->loop), NULL, NULL);
}

/* Earlier answers may be outdated when the files were read again. */
static void generations(void **state)
{
	unsigned first;
	struct got g;

	(void)state;
	first = resolver_generation(w.resolver);
	ask("twice.test", DNSRECORD_ADDRESS);
	assert_int_equal(resolver_generation(w.resolver), first);
	resolver_use(w.resolver, "/nonexistent", w.server.port); /* as the C library: 127.0.0.1 */
	assert_int_equal(resolver_generation(w.resolver), first + 1);
	g = ask("twice.test", DNSRECORD_ADDRESS);
	assert_int_equal(g.answer.verdict, RESOLVER_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(verdicts_have_reasons),
		TEST(addresses_are_distinct_and_live_as_long_as_the_shortest),
		TEST(records),
		TEST(malformed_records_are_a_failure),
		TEST(no_server_is_asked_below_localhost),
		TEST(the_end_with_queries_under_way),
		TEST(generations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
