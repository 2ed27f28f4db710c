/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names against a server that answers as the test wants, over UDP and TCP: their addresses, their
 * SRV and TXT records.
 */

#include "nameserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/dns.h"
#include "net/dns/names.h"
#include "net/network.h"

struct world {
	struct fixture *f;
	struct nameserver server;
	int asked;       /* questions for an A record, or for records */
	int silent;      /* those that stay without an answer */
	bool all_silent; /* for now */
	char last[256];  /* that was asked for */
};

/* ---- The zone ---- */

static void put_addresses(struct nameserver_reply *reply, int count)
{
	for (int i = 0; i < count; i++)
		nameserver_put_address(reply, 60,
			(const unsigned char[]){ 127, 0, (unsigned char)(i / 250), (unsigned char)(i % 250 + 1) });
}

/* How many addresses, 127.0.x.y. */
static const struct {
	const char *name;
	int addresses;
} zone[] = { { "one.test", 1 }, { "sixty.test", 60 }, { "short.far.test", 1 }, { "v4.test", 1 } };

static void put_services(struct nameserver_reply *reply, const char *name)
{
	if (strcmp(name, "_x._tcp.soon.test") == 0)
		nameserver_put_service(reply, 0, 27017, "a.soon.test");
	else if (strcmp(name, "_x._tcp.late.test") == 0)
		nameserver_put_service(reply, 86400, 27018, "a.late.test");
	else if (strcmp(name, "_x._tcp.crowd.test") == 0)
		for (int i = 0; i < 200; i++)
			nameserver_put_service(reply, 60, 1, "crowded.crowd.test");
	else if (strcmp(name, "_x._tcp.short.far.test") == 0)
		nameserver_put_service(reply, 60, 27019, "a.short.far.test");
	else if (strcmp(name, "_x._tcp.root.test") == 0)
		nameserver_put_service(reply, 60, 1, "");
	else
		reply->code = NAMESERVER_NO_NAME;
}

static void on_question(void *arg, const char *name, unsigned type, struct nameserver_reply *reply)
{
	struct world *w = arg;
	bool found = strcmp(name, "text.test") == 0;

	w->asked += type != NAMESERVER_AAAA;
	snprintf(w->last, sizeof(w->last), "%s", name);
	reply->silent = w->all_silent || strstr(name, "silent") ||
		(strcmp(name, "v4.test") == 0 && type == NAMESERVER_AAAA);
	w->silent += reply->silent;
	if (strcmp(name, "broken.test") == 0)
		reply->code = NAMESERVER_BROKEN;
	else if (type == NAMESERVER_SRV)
		put_services(reply, name);
	else if (type == NAMESERVER_TXT && found)
		nameserver_put_text(reply, 60, "one=1&|two=2");
	if (type == NAMESERVER_SRV || reply->code)
		return;
	for (size_t i = 0; i < MEM_COUNT(zone); i++) {
		if (strcmp(zone[i].name, name) != 0)
			continue;
		found = true;
		if (type == NAMESERVER_A)
			put_addresses(reply, zone[i].addresses);
	}
	reply->code = found ? 0 : NAMESERVER_NO_NAME;
}

static bool serve(struct world *w, bool over)
{
	nameserver_serve(&w->server);
	return over;
}

#define SERVE_UNTIL(w, condition) UNTIL((w)->f, serve((w), (condition)))

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	nameserver_start(&w->server, w->f, on_question, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;
	int failed = fixture_teardown(&f);

	nameserver_stop(&w->server);
	mem_free_ptr(&w);
	return failed;
}

/* ---- Askers ---- */

struct found {
	struct dns_lookup *lookup;
	int calls;
	size_t count;
	char first[INET6_ADDRSTRLEN];
	int port;
	struct err err;
};

static void on_found(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct found *found = arg;
	const struct sockaddr_in *sin = count ? (const struct sockaddr_in *)&addresses[0].sa : NULL;

	found->calls++;
	found->count = count;
	if (err)
		found->err = *err;
	if (!sin || sin->sin_family != AF_INET)
		return;
	inet_ntop(AF_INET, &sin->sin_addr, found->first, sizeof(found->first));
	found->port = ntohs(sin->sin_port);
}

static void ask_as(struct world *w, struct found *found, const char *name, const char *namespace_)
{
	memset(found, 0, sizeof(*found));
	found->lookup = dns_lookup_start(w->f->loop, name, 80, namespace_, on_found, found);
	assert_int_equal(found->calls, 0);
}

static void ask(struct world *w, struct found *found, const char *name)
{
	ask_as(w, found, name, "a");
}

static void look_up(struct world *w, struct found *found, const char *name)
{
	ask(w, found, name);
	SERVE_UNTIL(w, found->calls == 1);
}

static void one_question_for_all(void **state)
{
	struct world *w = *state;
	struct found found[50], later;

	for (size_t i = 0; i < 50; i++)
		ask(w, &found[i], "one.test");
	dns_lookup_cancel(found[0].lookup);
	SERVE_UNTIL(w, found[49].calls == 1);
	for (size_t i = 1; i < 50; i++) {
		assert_int_equal(found[i].calls, 1);
		assert_int_equal(found[i].count, 1);
		assert_string_equal(found[i].first, "127.0.0.1");
		assert_int_equal(found[i].port, 80);
	}
	assert_int_equal(found[0].calls, 0);
	look_up(w, &later, "one.test"); /* from memory */
	assert_int_equal(later.count, 1);
	assert_int_equal(w->asked, 1);
}

static void missing_names_are_known_for_a_moment(void **state)
{
	struct world *w = *state;
	struct found found;

	look_up(w, &found, "none.test");
	assert_int_equal(found.err.kind, ERR_TEMPORARY);
	assert_string_equal(found.err.msg, "looking up none.test: Domain name not found");
	look_up(w, &found, "none.test");
	assert_int_equal(w->asked, 1);
	fixture_linger(w->f, NAMES_NONE_MS + 50);
	look_up(w, &found, "none.test");
	assert_int_equal(w->asked, 2);
}

/* The answer is that of /etc/hosts. */
static void below_localhost_no_server_is_asked(void **state)
{
	struct world *w = *state;
	struct found found;

	look_up(w, &found, "api.LocalHost");
	assert_true(found.count > 0);
	assert_int_equal(w->asked, 0);
	look_up(w, &found, "notlocalhost");
	assert_int_equal(found.count, 0);
	assert_int_equal(w->asked, 1);
}

/* More than fits into a datagram: the server says so, and is asked over TCP. */
static void many_addresses(void **state)
{
	struct world *w = *state;
	struct found found;

	look_up(w, &found, "sixty.test");
	assert_int_equal(found.count, DNS_ADDRESSES_MAX);
	assert_string_equal(found.first, "127.0.0.1");
	assert_true(w->server.by_tcp >= 1);
}

static void no_answer_for_ipv6(void **state)
{
	struct world *w = *state;
	struct found found;
	int64_t start_ms = loop_now_ms(w->f->loop);

	look_up(w, &found, "v4.test");
	assert_int_equal(found.count, 1);
	assert_true(loop_now_ms(w->f->loop) - start_ms < 2500);
}

#define SILENT 900

/* One namespace's names that never answer: others' are found all the same, at once. */
static void silent_names_delay_no_others(void **state)
{
	struct world *w = *state;
	struct found *silent = mem_array(SILENT, sizeof(*silent)), good;
	char name[64];

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < SILENT; i++) {
			snprintf(name, sizeof(name), "silent%zu.test", i);
			ask(w, &silent[i], name);
		}
		SERVE_UNTIL(w, w->silent > 0);
		ask_as(w, &good, round ? "sixty.test" : "one.test", "b");
		SERVE_UNTIL(w, good.calls == 1);
		assert_true(good.count > 0);
		for (size_t i = 0; i < SILENT; i++) {
			assert_int_equal(silent[i].calls, 0);
			dns_lookup_cancel(silent[i].lookup);
		}
	}
	free(silent);
}

/* As many as there can be: those beyond its share are refused, others' are looked up. */
static void names_are_known_in_shares(void **state)
{
	struct world *w = *state;
	struct found *many = mem_array(NAMES_REMEMBER_MAX, sizeof(*many)), good;
	size_t refused = 0;
	char name[64];

	for (size_t i = 0; i < NAMES_REMEMBER_MAX; i++) {
		snprintf(name, sizeof(name), "silent%zu.test", i);
		ask(w, &many[i], name);
	}
	SERVE_UNTIL(w, many[NAMES_REMEMBER_MAX - 1].calls == 1);
	assert_string_equal(many[NAMES_REMEMBER_MAX - 1].err.msg,
		"looking up silent8191.test: too many names of its namespace are being looked up");
	ask_as(w, &good, "one.test", "b");
	SERVE_UNTIL(w, good.calls == 1);
	assert_int_equal(good.count, 1);
	for (size_t i = 0; i < NAMES_REMEMBER_MAX; i++) {
		refused += (size_t)many[i].calls;
		if (!many[i].calls)
			dns_lookup_cancel(many[i].lookup);
	}
	assert_int_equal(refused, NAMES_REMEMBER_MAX - NAMES_REMEMBER_MAX * 3 / 8);
	free(many);
}

/* It is looked up again after its back-off, not before; waiting askers get that answer. */
static void failed_names_back_off(void **state)
{
	struct world *w = *state;
	struct found found;
	int64_t start_ms;
	int asked;

	look_up(w, &found, "broken.test");
	assert_int_equal(found.count, 0);
	assert_non_null(strstr(found.err.msg, "looking up broken.test: "));
	asked = w->asked;
	start_ms = loop_now_ms(w->f->loop);
	ask(w, &found, "broken.test");
	SERVE_UNTIL(w, loop_now_ms(w->f->loop) - start_ms > NAMES_REST_MS / 2);
	assert_int_equal(w->asked, asked);
	SERVE_UNTIL(w, found.calls == 1);
	assert_true(w->asked > asked);
	assert_true(loop_now_ms(w->f->loop) - start_ms >= NAMES_REST_MS - 100);
}

struct again {
	struct names *names;
	struct names_asker asker;
	int calls;
};

static void on_again(void *arg, const struct names_answer *answer)
{
	struct again *a = arg;

	assert_int_equal(answer->count, 0);
	if (++a->calls < 1000)
		names_ask(a->names, "broken.test", &a->asker);
}

/* An asker that asks again in its callback does not get the same answer at once. */
static void a_repeated_request_waits(void **state)
{
	struct world *w = *state;
	struct again a = { .names = network_names(w->f->loop),
		.asker = { .fn = on_again, .arg = &a, .namespace_ = "a" } };

	names_ask(a.names, "broken.test", &a.asker);
	SERVE_UNTIL(w, a.calls > 0);
	assert_int_equal(a.calls, 1);
	SERVE_UNTIL(w, a.calls > 1); /* after its back-off */
	assert_int_equal(a.calls, 2);
	names_leave(&a.asker);
}

static void search_list(void **state)
{
	struct world *w = *state;
	struct found found;

	nameserver_configure(&w->server, w->f, "search near.test far.test\noptions ndots:5\n");
	look_up(w, &found, "short");
	assert_int_equal(found.count, 1);
	assert_string_equal(w->last, "short.far.test");
}

/* Lookups under way are repeated with the file's new content, and earlier results do not count. */
static void resolv_conf_changes(void **state)
{
	struct world *w = *state;
	struct found found, open;

	look_up(w, &found, "short");
	assert_int_equal(found.count, 0);
	w->all_silent = true;
	ask(w, &open, "one.test");
	SERVE_UNTIL(w, strcmp(w->last, "one.test") == 0);
	w->all_silent = false;
	nameserver_configure(&w->server, w->f, "search far.test\n");
	look_up(w, &found, "short");
	assert_int_equal(found.count, 1);
	SERVE_UNTIL(w, open.calls == 1);
	assert_int_equal(open.count, 1);
}

static void abandoned_with_the_loop(void **state)
{
	struct world *w = *state;
	struct found found[3];

	ask(w, &found[0], "silent.test");
	ask(w, &found[1], "one.test");
	SERVE_UNTIL(w, w->silent > 0);
	look_up(w, &found[2], "broken.test");
	dns_lookup_cancel(found[0].lookup);
	SERVE_UNTIL(w, found[1].calls == 1);
	ask(w, &found[0], "silent.test");
	dns_lookup_cancel(found[0].lookup);
	assert_int_equal(found[0].calls, 0);
}

/* ---- Records ---- */

struct records {
	struct dns_lookup *lookup;
	int calls;
	size_t count;
	char first[256];
	uint16_t port;
	struct err err;
};

static void on_records(void *arg, const struct dnsrecord_list *list, const struct err *err)
{
	struct records *r = arg;

	r->calls++;
	assert_true(!list == !!err);
	if (err) {
		r->err = *err;
		return;
	}
	r->count = list->count;
	snprintf(r->first, sizeof(r->first), "%s", list->at[0].text);
	r->port = list->at[0].port;
}

static void ask_records(struct world *w, struct records *r, const char *name, enum dnsrecord_kind kind)
{
	*r = (struct records){ 0 };
	r->lookup = dns_records_start(w->f->loop, name, kind, "a", on_records, r);
	assert_int_equal(r->calls, 0);
}

static void find_records(struct world *w, struct records *r, const char *name, enum dnsrecord_kind kind)
{
	ask_records(w, r, name, kind);
	SERVE_UNTIL(w, r->calls == 1);
}

/* One question, however many wait; a name's kinds are known apart. */
static void records_are_found_once(void **state)
{
	struct world *w = *state;
	struct records r[3];

	for (size_t i = 0; i < 3; i++)
		ask_records(w, &r[i], "_x._tcp.late.test", DNSRECORD_SRV);
	dns_lookup_cancel(r[0].lookup);
	SERVE_UNTIL(w, r[2].calls == 1);
	assert_int_equal(r[0].calls, 0);
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(r[i].count, 1);
		assert_string_equal(r[i].first, "a.late.test");
		assert_int_equal(r[i].port, 27018);
	}
	find_records(w, &r[0], "_x._tcp.late.test", DNSRECORD_SRV); /* from memory */
	assert_int_equal(r[0].port, 27018);
	assert_int_equal(w->asked, 1);
	find_records(w, &r[0], "_x._tcp.late.test", DNSRECORD_TXT);
	assert_int_equal(r[0].err.kind, ERR_MISSING);
	assert_int_equal(w->asked, 2);
	find_records(w, &r[0], "text.test", DNSRECORD_TXT);
	assert_string_equal(r[0].first, "one=1&two=2");
}

/* Also those with a TTL of 0. */
static void records_have_a_floor(void **state)
{
	struct world *w = *state;
	struct records r;

	find_records(w, &r, "_x._tcp.soon.test", DNSRECORD_SRV);
	find_records(w, &r, "_x._tcp.soon.test", DNSRECORD_SRV);
	assert_int_equal(r.count, 1);
	assert_int_equal(w->asked, 1);
}

static void more_records_than_anybody_needs(void **state)
{
	struct world *w = *state;
	struct records r;

	find_records(w, &r, "_x._tcp.crowd.test", DNSRECORD_SRV);
	assert_int_equal(r.count, DNSRECORD_MAX);
	assert_true(w->server.by_tcp >= 1);
}

static void no_records(void **state)
{
	struct world *w = *state;
	struct records r;

	find_records(w, &r, "_x._tcp.none.test", DNSRECORD_SRV);
	assert_int_equal(r.err.kind, ERR_MISSING);
	assert_string_equal(r.err.msg, "looking up the SRV record of _x._tcp.none.test: Domain name not found");
	find_records(w, &r, "one.test", DNSRECORD_TXT);
	assert_int_equal(r.err.kind, ERR_MISSING);
	assert_non_null(strstr(r.err.msg, "looking up the TXT record of one.test: "));
	find_records(w, &r, "broken.test", DNSRECORD_TXT);
	assert_int_equal(r.err.kind, ERR_TEMPORARY);
	find_records(w, &r, "_x._tcp.root.test", DNSRECORD_SRV);
	assert_int_equal(r.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(r.err.msg, "is malformed"));
	w->asked = 0;
	find_records(w, &r, "_x._tcp.localhost", DNSRECORD_SRV);
	assert_int_equal(r.err.kind, ERR_MISSING);
	assert_int_equal(w->asked, 0);
}

static void records_by_the_search_list(void **state)
{
	struct world *w = *state;
	struct records r, open;

	w->all_silent = true;
	ask_records(w, &open, "_x._tcp.short", DNSRECORD_SRV);
	SERVE_UNTIL(w, w->silent > 0);
	w->all_silent = false;
	nameserver_configure(&w->server, w->f, "search near.test far.test\noptions ndots:5\n");
	find_records(w, &r, "_x._tcp.short", DNSRECORD_SRV);
	assert_int_equal(r.port, 27019);
	assert_int_equal(open.port, 27019); /* looked up again with the file's new content */
	ask_records(w, &r, "silent.test", DNSRECORD_TXT);
	dns_lookup_cancel(r.lookup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_question_for_all, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_names_are_known_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(below_localhost_no_server_is_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(many_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer_for_ipv6, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_names_delay_no_others, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_known_in_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_names_back_off, setup, teardown),
		cmocka_unit_test_setup_teardown(a_repeated_request_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(search_list, setup, teardown),
		cmocka_unit_test_setup_teardown(resolv_conf_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(abandoned_with_the_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(records_are_found_once, setup, teardown),
		cmocka_unit_test_setup_teardown(records_have_a_floor, setup, teardown),
		cmocka_unit_test_setup_teardown(more_records_than_anybody_needs, setup, teardown),
		cmocka_unit_test_setup_teardown(no_records, setup, teardown),
		cmocka_unit_test_setup_teardown(records_by_the_search_list, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
