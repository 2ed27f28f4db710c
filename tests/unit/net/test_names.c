/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Names against a server that answers as the test wants, over UDP and TCP; its zone is in
 * zone_of().
 */

#include "fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dns.h"
#include "net/names.h"
#include "net/resolver.h"

#define TYPE_A    1
#define SILENCE   (-1)
#define NO_NAME   (-2)
#define BROKEN    (-3)
#define UDP_BYTES 512

struct world {
	struct fixture *f;
	int udp, tcp, stream;
	uint16_t port;
	char resolv_conf[32];
	int asked, by_tcp; /* questions for an A record */
	int silent;        /* those that stay without an answer */
	bool all_silent;   /* for now */
	char last[256];    /* that was asked for */
};

/* ---- The server ---- */

/* How many addresses, 127.0.x.y; or why not. */
static int zone_of(const struct world *w, const char *name)
{
	static const struct {
		const char *name;
		int addresses;
	} zone[] = { { "one.test", 1 }, { "sixty.test", 60 }, { "short.far.test", 1 }, { "broken.test", BROKEN },
		{ "v4.test", 1 } };

	if (w->all_silent || strstr(name, "silent"))
		return SILENCE;
	for (size_t i = 0; i < sizeof zone / sizeof *zone; i++) {
		if (strcmp(zone[i].name, name) == 0)
			return zone[i].addresses;
	}
	return NO_NAME;
}

static size_t read_name(const unsigned char *packet, char *name)
{
	size_t at = 12, len = 0;

	while (packet[at]) {
		memcpy(name + len, packet + at + 1, packet[at]);
		len += packet[at];
		name[len++] = '.';
		at += 1U + packet[at];
	}
	name[len ? len - 1 : 0] = '\0';
	return at + 1;
}

static size_t add_addresses(unsigned char *to, int count)
{
	static const unsigned char head[] = { 0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0 };
	size_t len = 0;

	for (int i = 0; i < count; i++) {
		memcpy(to + len, head, sizeof(head));
		to[len + sizeof(head)] = (unsigned char)(i / 250);
		to[len + sizeof(head) + 1] = (unsigned char)(i % 250 + 1);
		len += sizeof(head) + 2;
	}
	return len;
}

/* Bytes of the reply, 0 for none. */
static size_t reply_to(struct world *w, const unsigned char *question, size_t limit, unsigned char *reply)
{
	char name[256];
	size_t end = read_name(question, name) + 4, len;
	bool is_a = question[end - 3] == TYPE_A;
	int count = zone_of(w, name);

	w->asked += is_a;
	snprintf(w->last, sizeof(w->last), "%s", name);
	if (count == SILENCE || (strcmp(name, "v4.test") == 0 && !is_a)) {
		w->silent++;
		return 0;
	}
	memcpy(reply, question, end);
	memset(reply + 4, 0, 8);
	reply[5] = 1;
	reply[2] = 0x81;
	reply[3] = (unsigned char)(0x80 | (count == NO_NAME ? 3 : count == BROKEN ? 2 : 0));
	len = end;
	if (count > 0 && is_a) {
		len += add_addresses(reply + len, count);
		reply[7] = (unsigned char)count;
	}
	if (len <= limit)
		return len;
	reply[2] |= 2; /* truncated */
	reply[7] = 0;
	return end;
}

static void serve_udp(struct world *w)
{
	unsigned char question[UDP_BYTES], reply[4096];
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(w->udp, question, sizeof(question), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len)) >
		0) {
		size_t len = reply_to(w, question, UDP_BYTES, reply);

		if (len)
			sendto(w->udp, reply, len, 0, (const struct sockaddr *)&from, from_len);
	}
}

/* A question comes in one piece: both ends are here. */
static void serve_tcp(struct world *w)
{
	unsigned char question[UDP_BYTES], reply[4096];

	if (w->stream < 0)
		w->stream = accept4(w->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (w->stream >= 0 && recv(w->stream, question, sizeof(question), 0) > 2) {
		size_t len = reply_to(w, question + 2, sizeof(reply) - 2, reply + 2);

		w->by_tcp++;
		reply[0] = (unsigned char)(len >> 8);
		reply[1] = (unsigned char)len;
		send(w->stream, reply, len + 2, MSG_NOSIGNAL);
	}
}

static bool serve(struct world *w, bool over)
{
	serve_udp(w);
	serve_tcp(w);
	return over;
}

#define SERVE_UNTIL(w, condition) UNTIL((w)->f, serve((w), (condition)))

static void write_resolv_conf(const struct world *w, const char *more)
{
	FILE *file = fopen(w->resolv_conf, "we");

	fprintf(file, "nameserver 127.0.0.1\n%s", more);
	fclose(file);
}

static int bind_at(int type, uint16_t *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(*port) };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (bind(fd, (const struct sockaddr *)&sin, sizeof(sin)) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&sin, &len);
	*port = ntohs(sin.sin_port);
	return fd;
}

static struct resolver *resolver_of(struct world *w)
{
	return names_resolver(loop_names(w->f->loop));
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;
	int fd;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->stream = -1;
	do { /* both on one port */
		w->port = 0;
		w->tcp = bind_at(SOCK_STREAM, &w->port);
		w->udp = bind_at(SOCK_DGRAM, &w->port);
		if (w->udp < 0)
			close(w->tcp);
	} while (w->udp < 0);
	listen(w->tcp, 8);
	strcpy(w->resolv_conf, "/tmp/resolv-XXXXXX");
	fd = mkstemp(w->resolv_conf);
	close(fd);
	write_resolv_conf(w, "");
	resolver_use(resolver_of(w), w->resolv_conf, w->port);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;
	int failed = fixture_teardown(&f);

	close(w->udp);
	close(w->tcp);
	if (w->stream >= 0)
		close(w->stream);
	unlink(w->resolv_conf);
	mem_free_ptr(&w);
	return failed;
}

/* ---- Who asks ---- */

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

/* More than fit into a datagram: the server says so, and is asked over TCP. */
/* The answer is that of /etc/hosts. */
static void below_localhost_nobody_is_asked(void **state)
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

static void many_addresses(void **state)
{
	struct world *w = *state;
	struct found found;

	look_up(w, &found, "sixty.test");
	assert_int_equal(found.count, DNS_ADDRESSES_MAX);
	assert_string_equal(found.first, "127.0.0.1");
	assert_true(w->by_tcp >= 1);
}

static void nobody_answers_for_ipv6(void **state)
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
static void silent_names_keep_nobody_waiting(void **state)
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

/* It is asked for again when its rest is over, and not before; who waits gets that answer. */
static void who_failed_rests(void **state)
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

static void search_list(void **state)
{
	struct world *w = *state;
	struct found found;

	write_resolv_conf(w, "search near.test far.test\noptions ndots:5\n");
	look_up(w, &found, "short");
	assert_int_equal(found.count, 1);
	assert_string_equal(w->last, "short.far.test");
}

/* What is under way is asked again by what the file says now, and what was known does not count. */
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
	write_resolv_conf(w, "search far.test\n");
	resolver_use(resolver_of(w), w->resolv_conf, w->port); /* looks at once */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_question_for_all, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_names_are_known_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(below_localhost_nobody_is_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(many_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_answers_for_ipv6, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_names_keep_nobody_waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_known_in_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(who_failed_rests, setup, teardown),
		cmocka_unit_test_setup_teardown(search_list, setup, teardown),
		cmocka_unit_test_setup_teardown(resolv_conf_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(abandoned_with_the_loop, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
