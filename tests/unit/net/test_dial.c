/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/descriptors.h"
#include "net/dial.h"
#include "net/dns.h"
#include "net/dns/names.h"
#include "net/dns/resolver.h"
#include "net/listen.h"
#include "net/network.h"

/* ---- A name server of our own ---- */

struct nameserver {
	struct evdns_server_port *port;
	int fd;
	int questions;
};

/*
 * two.test has 127.0.0.2 and 127.0.0.1, one.test 127.0.0.1, silent.test no answer; others do not
 * exist.
 */
static void on_question(struct evdns_server_request *request, void *arg)
{
	struct nameserver *ns = arg;
	const struct evdns_server_question *q = request->questions[0];
	struct in_addr addresses[2];
	bool two = strcmp(q->name, "two.test") == 0, one = strcmp(q->name, "one.test") == 0;

	ns->questions++;
	if (strcmp(q->name, "silent.test") == 0) {
		evdns_server_request_drop(request);
		return;
	}
	inet_pton(AF_INET, two ? "127.0.0.2" : "127.0.0.1", &addresses[0]);
	inet_pton(AF_INET, "127.0.0.1", &addresses[1]);
	if ((one || two) && q->type == EVDNS_TYPE_A)
		evdns_server_request_add_a_reply(request, q->name, 1, &addresses[0], 60);
	if (two && q->type == EVDNS_TYPE_A) /* two at once would be one record of eight bytes */
		evdns_server_request_add_a_reply(request, q->name, 1, &addresses[1], 60);
	evdns_server_request_respond(request, one || two ? 0 : 3);
}

static void nameserver_start(struct fixture *f, struct nameserver *ns)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char path[] = "/tmp/resolv-XXXXXX";
	int file = mkstemp(path);

	*ns = (struct nameserver){ .fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0) };
	assert_int_equal(bind(ns->fd, (const struct sockaddr *)&sin, sizeof(sin)), 0);
	ns->port = evdns_add_server_port_with_base(loop_base(f->loop), ns->fd, 0, on_question, ns);
	dprintf(file, "nameserver 127.0.0.1\n");
	close(file);
	resolver_use(names_resolver(network_names(f->loop)), path, listen_port(ns->fd));
	resolver_generation(names_resolver(network_names(f->loop))); /* reads it */
	unlink(path);
}

static void nameserver_stop(struct nameserver *ns)
{
	evdns_close_server_port(ns->port);
	close(ns->fd);
}

/* ---- Lookups ---- */

struct found {
	int calls;
	size_t count;
	char first[INET6_ADDRSTRLEN];
	struct err err;
};

static void on_found(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct found *found = arg;

	found->calls++;
	found->count = count;
	if (err)
		found->err = *err;
	if (count && addresses[0].sa.ss_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)&addresses[0].sa)->sin_addr, found->first,
			sizeof(found->first));
	else if (count)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)&addresses[0].sa)->sin6_addr, found->first,
			sizeof(found->first));
}

static void literals_and_localhost_need_no_server(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *host, *first;
	} rows[] = { { "10.1.2.3", "10.1.2.3" }, { "::1", "::1" }, { "fd00::2", "fd00::2" }, { "localhost", NULL } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct found found = { .calls = 0 };

		dns_lookup_start(f->loop, rows[i].host, 80, "a", on_found, &found);
		assert_int_equal(found.calls, 0); /* never before start returns */
		UNTIL(f, found.calls == 1);
		assert_true(found.count >= 1);
		if (rows[i].first)
			assert_string_equal(found.first, rows[i].first);
		else
			assert_true(strcmp(found.first, "127.0.0.1") == 0 || strcmp(found.first, "::1") == 0);
	}
}

static void names_are_asked_for(void **state)
{
	struct fixture *f = *state;
	struct nameserver ns;
	struct found one = { .calls = 0 }, two = { .calls = 0 }, none = { .calls = 0 };

	nameserver_start(f, &ns);
	dns_lookup_start(f->loop, "one.test", 80, "a", on_found, &one);
	dns_lookup_start(f->loop, "two.test", 80, "a", on_found, &two);
	dns_lookup_start(f->loop, "none.test", 80, "a", on_found, &none);
	UNTIL(f, one.calls && two.calls && none.calls);
	assert_int_equal(one.count, 1);
	assert_string_equal(one.first, "127.0.0.1");
	assert_int_equal(two.count, 2);
	assert_int_equal(none.count, 0);
	assert_int_equal(none.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(none.err.msg, "looking up none.test: "));
	nameserver_stop(&ns);
}

static void cancelled_lookups_never_call_back(void **state)
{
	struct fixture *f = *state;
	struct nameserver ns;
	struct found found = { .calls = 0 };
	struct dns_lookup *at_once, *later, *silent;

	nameserver_start(f, &ns);
	at_once = dns_lookup_start(f->loop, "127.0.0.1", 80, "a", on_found, &found);
	dns_lookup_cancel(at_once);
	later = dns_lookup_start(f->loop, "one.test", 80, "a", on_found, &found);
	silent = dns_lookup_start(f->loop, "silent.test", 80, "a", on_found, &found);
	dns_lookup_cancel(later);
	UNTIL(f, ns.questions > 0);
	dns_lookup_cancel(silent);
	dns_lookup_cancel(NULL);
	fixture_linger(f, 20);
	assert_int_equal(found.calls, 0);
	nameserver_stop(&ns);
}

/* ---- Dialling ---- */

struct dialled {
	int calls;
	int fd;
	struct err err;
	struct descriptors_hold hold;
};

static void on_dialled(void *arg, int fd, const struct err *err)
{
	struct dialled *d = arg;

	descriptors_give(&d->hold, 0);
	d->calls++;
	d->fd = fd;
	if (err)
		d->err = *err;
}

static const struct {
	int64_t asked_ms;
	int dead_ms;
} tuned[] = { { 5000, 5000 }, { 10000, 10000 }, { 60000, 15000 }, { 1, 1000 }, { 0, 15000 } };

static int tcp_option(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, IPPROTO_TCP, option, &value, &len);
	return value;
}

static void connects_and_tunes(void **state)
{
	struct fixture *f = *state;
	struct dialled d = { .fd = -1 };
	struct err err;
	int server = listen_tcp("127.0.0.1", 0, &err);
	int value = 0;
	socklen_t len = sizeof(value);

	dial_start(f->loop, "127.0.0.1", listen_port(server), 5000, &d.hold, on_dialled, &d);
	assert_int_equal(d.calls, 0);
	UNTIL(f, d.calls == 1);
	assert_true(d.fd >= 0);
	getsockopt(d.fd, IPPROTO_TCP, TCP_NODELAY, &value, &len);
	assert_true(value);
	assert_int_equal(tcp_option(d.fd, TCP_USER_TIMEOUT), 15000);
	for (size_t i = 0; i < MEM_COUNT(tuned); i++) {
		dial_tune_socket(d.fd, tuned[i].asked_ms);
		assert_int_equal(tcp_option(d.fd, TCP_USER_TIMEOUT), tuned[i].dead_ms);
		assert_in_range(tcp_option(d.fd, TCP_KEEPIDLE) +
				tcp_option(d.fd, TCP_KEEPINTVL) * tcp_option(d.fd, TCP_KEEPCNT),
			tuned[i].dead_ms / 1000, tuned[i].dead_ms / 1000 + 3);
	}
	close(d.fd);
	close(server);
}

static void refusals_are_reported(void **state)
{
	struct fixture *f = *state;
	struct dialled d = { .fd = -1 };

	dial_start(f->loop, "127.0.0.1", fixture_dead_port(), 5000, &d.hold, on_dialled, &d);
	UNTIL(f, d.calls == 1);
	assert_int_equal(d.fd, -1);
	assert_int_equal(d.err.kind, ERR_TEMPORARY);
	assert_string_equal(d.err.msg, "Connection refused");
}

static void the_second_address_helps(void **state)
{
	struct fixture *f = *state;
	struct nameserver ns;
	struct dialled d = { .fd = -1 };
	struct err err;
	int server = listen_tcp("127.0.0.1", 0, &err);

	nameserver_start(f, &ns);
	dial_start(f->loop, "two.test", listen_port(server), 5000, &d.hold, on_dialled,
		&d); /* no listener on 127.0.0.2 */
	UNTIL(f, d.calls == 1);
	assert_true(d.fd >= 0);
	close(d.fd);
	close(server);
	nameserver_stop(&ns);
}

static void time_ends_every_phase(void **state)
{
	struct fixture *f = *state;
	struct nameserver ns;
	struct dialled lookup = { .fd = -1 }, connect_phase = { .fd = -1 };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int full = socket(AF_INET, SOCK_STREAM, 0), clients[8];
	uint16_t port;

	nameserver_start(f, &ns);
	/* A full queue accepts no connection: they hang as behind a firewall. */
	bind(full, (const struct sockaddr *)&sin, sizeof(sin));
	listen(full, 0);
	port = listen_port(full);
	sin.sin_port = htons(port);
	for (size_t i = 0; i < sizeof clients / sizeof *clients; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(clients[i], (const struct sockaddr *)&sin, sizeof(sin));
	}
	dial_start(f->loop, "silent.test", 80, 50, &lookup.hold, on_dialled, &lookup);
	dial_start(f->loop, "127.0.0.1", port, 50, &connect_phase.hold, on_dialled, &connect_phase);
	UNTIL(f, lookup.calls && connect_phase.calls);
	assert_string_equal(lookup.err.msg, "looking up the name: timed out");
	assert_int_equal(connect_phase.fd, -1);
	assert_string_equal(connect_phase.err.msg, "timed out");
	for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
		close(clients[i]);
	close(full);
	nameserver_stop(&ns);
}

static void unix_sockets(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/dial-XXXXXX", missing[64], long_path[200];
	struct dialled good = { .fd = -1 }, bad = { .fd = -1 }, too_long = { .fd = -1 };
	int server = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_non_null(mkdtemp(folder));
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/socket", folder);
	snprintf(missing, sizeof(missing), "%s/missing", folder);
	memset(long_path, 'x', sizeof(long_path));
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(bind(server, (const struct sockaddr *)&sun, sizeof(sun)), 0);
	listen(server, 5);
	dial_start(f->loop, sun.sun_path, 0, 5000, &good.hold, on_dialled, &good);
	dial_start(f->loop, missing, 0, 5000, &bad.hold, on_dialled, &bad);
	dial_start(f->loop, long_path, 0, 5000, &too_long.hold, on_dialled, &too_long);
	assert_int_equal(good.calls + bad.calls + too_long.calls, 0);
	UNTIL(f, good.calls && bad.calls && too_long.calls);
	assert_true(good.fd >= 0);
	assert_string_equal(bad.err.msg, "No such file or directory");
	assert_int_equal(too_long.err.kind, ERR_INVALID);
	close(good.fd);
	close(server);
	unlink(sun.sun_path);
	rmdir(folder);
}

static void a_descriptor_is_held_with_the_socket(void **state)
{
	struct fixture *f = *state;
	struct shares *descriptors = &network_of(f->loop)->descriptors;
	struct descriptors_hold most = { .namespace_ = "a", .wants = 6 }, one = { .namespace_ = "a" };
	struct dialled good = { .fd = -1 }, bad = { .fd = -1 };
	struct err err;
	int server = listen_tcp("127.0.0.1", 0, &err);

	dial_start(f->loop, "127.0.0.1", listen_port(server), 5000, &one, on_dialled, &good);
	assert_int_equal(1, descriptors->taken);
	UNTIL(f, good.calls);
	assert_true(good.fd >= 0);
	assert_int_equal(1, one.share.has);
	descriptors_give(&one, 0);
	close(good.fd);

	dial_start(f->loop, "127.0.0.1", fixture_dead_port(), 5000, &one, on_dialled, &bad);
	UNTIL(f, bad.calls);
	assert_int_equal(0, descriptors->taken);
	dial_cancel(dial_start(f->loop, "127.0.0.1", listen_port(server), 5000, &one, on_dialled, &bad));
	assert_int_equal(0, descriptors->taken);

	*descriptors = (struct shares){ .total = 16, .few = DESCRIPTORS_FEW };
	assert_int_equal(0, descriptors_take(descriptors, &most, &err));
	bad = (struct dialled){ .fd = -1 };
	dial_start(f->loop, "127.0.0.1", listen_port(server), 5000, &one, on_dialled, &bad);
	assert_int_equal(0, bad.calls);
	UNTIL(f, bad.calls);
	assert_int_equal(-1, bad.fd);
	assert_non_null(strstr(bad.err.msg, "namespace \"a\" has used up the share of connections"));
	assert_true(one.refused);
	descriptors_give(&most, 0);
	close(server);
}

static void cancelled_dials_never_call_back(void **state)
{
	struct fixture *f = *state;
	struct dialled d = { .fd = -1 };
	struct err err;
	int server = listen_tcp("127.0.0.1", 0, &err);

	for (int turns = 0; turns < 6; turns++) { /* in each phase, including connected but not reported */
		struct dial *dial = dial_start(f->loop, "127.0.0.1", listen_port(server), 5000, &d.hold, on_dialled,
			&d);

		for (int i = 0; i < turns && d.calls == 0; i++)
			loop_turn(f->loop);
		if (d.calls)
			break;
		dial_cancel(dial);
	}
	dial_cancel(NULL);
	if (d.calls)
		close(d.fd);
	d.calls = 0;
	fixture_linger(f, 20);
	assert_int_equal(d.calls, 0);
	close(server);
}

static void subscriptions_back_off(void **state)
{
	(void)state;
	assert_in_range(dial_subscribe_ms(0, ERR_TEMPORARY), 80, 120);
	assert_in_range(dial_subscribe_ms(100, ERR_TEMPORARY), 4000, 6000);
	assert_in_range(dial_subscribe_ms(0, ERR_DENIED), 4000, 6000);
	assert_in_range(dial_subscribe_ms(100, ERR_DENIED), 240000, 360000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(literals_and_localhost_need_no_server, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(names_are_asked_for, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(cancelled_lookups_never_call_back, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(connects_and_tunes, fixture_setup, fixture_teardown),
		cmocka_unit_test(subscriptions_back_off),
		cmocka_unit_test_setup_teardown(refusals_are_reported, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_second_address_helps, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(time_ends_every_phase, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unix_sockets, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_is_held_with_the_socket, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(cancelled_dials_never_call_back, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
