/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns at a server: the limit of each protocol, rotation of namespaces, a namespace that holds all
 * turns, and a server that is down.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../fixture.h"
#include "base/mem.h"
#include "base/shares.h"
#include "net/http/httphost.h"
#include "net/network.h"

#define MANY 200

struct waiter {
	struct httphost_turn turn;
	int told;
	bool stays; /* under way until it is ended */
	struct err err;
	struct round *round; /* NULL */
	const char *name;
};

/* Turns, in order. */
struct round {
	char order[256];
	int started;
};

static void on_told(void *arg, const struct err *err)
{
	struct waiter *waiter = arg;

	waiter->told++;
	if (err)
		waiter->err = *err;
	if (waiter->round && !err) {
		waiter->round->started++;
		if (strlen(waiter->round->order) + 2 < sizeof(waiter->round->order))
			strcat(waiter->round->order, waiter->name);
	}
	if (!waiter->stays)
		httphost_leave(&waiter->turn);
}

/* ---- Turns ---- */

struct scene {
	struct fixture *f;
	struct httphost_table *table;
	struct httphost *host;
	struct round round;
	struct waiter *all;
	size_t count;
};

/* Nobody is looked up or probed. */
static struct httphost_table *table_behind_a_proxy(struct fixture *f)
{
	struct httphost_table *t;

	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	t = httphost_table_new(f->loop);
	unsetenv("ALL_PROXY");
	return t;
}

static void scene_open(struct scene *s, struct fixture *f, const char *scheme)
{
	char *name = mem_dup(scheme);
	struct httpurl_place place = { .scheme = name, .host = (char[]){ "192.0.2.1" }, .port = 1 };

	*s = (struct scene){ .f = f, .table = table_behind_a_proxy(f), .all = mem_array(MANY, sizeof(*s->all)) };
	s->host = httphost_get(s->table, &place, "");
	free(name);
}

static struct waiter *wait_here(struct scene *s, const char *namespace_)
{
	struct waiter *waiter = &s->all[s->count++];

	assert_true(s->count <= MANY);
	*waiter = (struct waiter){ .stays = true, .round = &s->round, .name = namespace_ };
	httphost_wait(s->host, &waiter->turn, namespace_, on_told, waiter);
	assert_int_equal(waiter->told, 0);
	return waiter;
}

static void end_turn(struct waiter *waiter)
{
	httphost_connected(&waiter->turn, false);
	httphost_leave(&waiter->turn);
}

static void on_later(void *arg)
{
	*(bool *)arg = true;
}

/* All that has been queued before has run. */
static void settle(struct scene *s)
{
	struct loop_task task;
	bool over = false;

	loop_task_init(&task, on_later, &over);
	loop_task_queue(s->f->loop, &task);
	UNTIL(s->f, over);
}

static void expect_order(struct scene *s, const char *order)
{
	settle(s);
	assert_string_equal(s->round.order, order);
}

static void scene_close(struct scene *s)
{
	for (size_t i = 0; i < s->count; i++)
		httphost_leave(&s->all[i].turn);
	httphost_table_free(s->table);
	free(s->all);
}

static void by_namespace(void **state)
{
	struct scene s;

	scene_open(&s, *state, "http");
	for (int i = 0; i < 12; i++)
		wait_here(&s, "a");
	for (int i = 0; i < 2; i++)
		wait_here(&s, "b");
	wait_here(&s, "c");
	expect_order(&s, "abcabaaa");
	wait_here(&s, "d");
	end_turn(&s.all[0]);
	end_turn(&s.all[1]);
	expect_order(&s, "abcabaaada");
	/* a request that leaves before its turn gets none */
	httphost_leave(&wait_here(&s, "e")->turn);
	end_turn(&s.all[2]);
	expect_order(&s, "abcabaaadaa");
	scene_close(&s);
}

/* A namespace whose requests hang keeps others waiting only so long, and not for all they want. */
static void patience(void **state)
{
	struct scene s;
	struct waiter *first, *second, *other;

	scene_open(&s, *state, "http");
	for (int i = 0; i < 20; i++)
		wait_here(&s, "a");
	expect_order(&s, "aaaaaaaa");
	first = wait_here(&s, "b");
	second = wait_here(&s, "b");
	wait_here(&s, "c");
	other = wait_here(&s, "d");
	UNTIL(s.f, other->told);
	assert_string_equal(s.round.order, "aaaaaaaabcd");
	assert_int_equal(second->told, 0);
	end_turn(first);
	settle(&s); /* and for that it has not to wait again */
	assert_int_equal(second->told, 1);
	scene_close(&s);
}

static void patience_has_an_end(void **state)
{
	char names[HTTPHOST_EXTRA + 1][8];
	struct waiter *last = NULL;
	struct scene s;

	scene_open(&s, *state, "http");
	for (int i = 0; i < HTTPHOST_CONNECTIONS; i++)
		wait_here(&s, "a");
	settle(&s);
	for (int i = 0; i < HTTPHOST_EXTRA + 1; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		last = wait_here(&s, names[i]);
	}
	UNTIL(s.f, s.round.started == HTTPHOST_CONNECTIONS + HTTPHOST_EXTRA);
	settle(&s);
	assert_int_equal(last->told, 0);
	end_turn(&s.all[0]);
	UNTIL(s.f, last->told);
	scene_close(&s);
}

/* The capacity of an HTTP/2 connection is known once it exists: until then only one is opened. */
static void one_connects(void **state)
{
	struct scene s;

	scene_open(&s, *state, "https");
	for (int i = 0; i < MANY; i++)
		wait_here(&s, "a");
	settle(&s);
	assert_int_equal(s.round.started, 1);
	httphost_leave(&s.all[0].turn);
	settle(&s);
	assert_int_equal(s.round.started, 2);
	for (int i = 1; i < HTTPHOST_STREAMS; i++) {
		httphost_connected(&s.all[i].turn, true);
		settle(&s);
		assert_int_equal(s.round.started, i + 2);
	}
	httphost_connected(&s.all[HTTPHOST_STREAMS].turn, true);
	settle(&s);
	assert_int_equal(s.round.started, HTTPHOST_STREAMS + 1);
	scene_close(&s);
}

static void without_http2_all_connect(void **state)
{
	struct scene s;

	scene_open(&s, *state, "https");
	for (int i = 0; i < MANY; i++)
		wait_here(&s, "a");
	settle(&s);
	httphost_connected(&s.all[0].turn, false);
	settle(&s);
	assert_int_equal(s.round.started, HTTPHOST_CONNECTIONS);
	scene_close(&s);
}

static void a_server_is_spared(void **state)
{
	struct scene s;

	scene_open(&s, *state, "http");
	httphost_spare(s.host);
	for (int i = 0; i < MANY; i++)
		wait_here(&s, "a");
	settle(&s);
	assert_int_equal(s.round.started, HTTPHOST_FEW);
	scene_close(&s);
}

/* For a minute a server that left a request of HTTP/2 without answer is asked without that. */
static void hung(void **state)
{
	struct scene s;

	scene_open(&s, *state, "https");
	httphost_hung(s.host);
	for (int i = 0; i < MANY; i++)
		wait_here(&s, "a");
	settle(&s);
	assert_int_equal(s.round.started, HTTPHOST_CONNECTIONS);
	scene_close(&s);
}

/* ---- A server that is down ---- */

static int listen_at(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	assert_int_equal(bind(fd, (const struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/*
 * All requests wait for the next attempt, of which there is one: the first after the server's
 * return succeeds.
 */
static void lost(void **state)
{
	struct fixture *f = *state;
	struct httphost_table *t = httphost_table_new(f->loop);
	struct httpurl_place place = { .scheme = (char[]){ "http" },
		.host = (char[]){ "127.0.0.1" },
		.port = fixture_dead_port() };
	struct httphost *h = httphost_get(t, &place, "");
	struct waiter waiters[3] = { { .told = 0 } }, late = { .told = 0 };
	struct client knock = { .fd = -1 };
	char expected[64];
	int fd;

	httphost_unanswered(h);
	UNTIL(f, httphost_lost(h));
	for (int i = 0; i < 3; i++)
		httphost_wait(h, &waiters[i].turn, "a", on_told, &waiters[i]);
	UNTIL(f, waiters[0].told && waiters[1].told && waiters[2].told);
	snprintf(expected, sizeof(expected), "http://127.0.0.1:%u: Connection refused", place.port);
	for (int i = 0; i < 3; i++)
		assert_string_equal(waiters[i].err.msg, expected);
	httphost_wait(h, &late.turn, "a", on_told, &late);
	fd = listen_at(place.port);
	UNTIL(f, late.told);
	assert_int_equal(late.err.kind, ERR_NONE);
	assert_null(httphost_lost(h));
	httphost_unanswered(h); /* whatever it did with a request: the server lives */
	UNTIL(f, client_accept(&knock, fd));
	late.told = 0;
	httphost_wait(h, &late.turn, "a", on_told, &late);
	UNTIL(f, late.told);
	assert_int_equal(late.err.kind, ERR_NONE);
	client_close(&knock);
	close(fd);
	httphost_table_free(t);
}

/* Behind a proxy the server's state is unknown here. */
static void lost_behind_a_proxy(void **state)
{
	struct fixture *f = *state;
	struct httphost_table *t = table_behind_a_proxy(f);
	struct httpurl_place place = { .scheme = (char[]){ "http" },
		.host = (char[]){ "127.0.0.1" },
		.port = fixture_dead_port() };
	struct httphost *h = httphost_get(t, &place, "");
	struct waiter waiter = { .told = 0 };

	httphost_unanswered(h);
	httphost_wait(h, &waiter.turn, "a", on_told, &waiter);
	UNTIL(f, waiter.told);
	assert_int_equal(waiter.err.kind, ERR_NONE);
	httphost_table_free(t);
}

/* So does the probe: a namespace without descriptors may have been the first to ask. */
static void probes_count_for_the_newest_asker(void **state)
{
	struct fixture *f = *state;
	struct httphost_table *t = httphost_table_new(f->loop);
	struct httpurl_place place = { .scheme = (char[]){ "http" },
		.host = (char[]){ "127.0.0.1" },
		.port = fixture_dead_port() };
	struct httphost *h = httphost_get(t, &place, "bad");
	struct waiter waiter = { .told = 0 };
	struct shares_hold all = { 0 };

	network_of(f->loop)->descriptors = (struct shares){ .total = 16, .few = 2 };
	while (shares_take(&network_of(f->loop)->descriptors, &all, "bad", 1))
		continue;
	httphost_wait(h, &waiter.turn, "good", on_told, &waiter);
	UNTIL(f, waiter.told);
	httphost_unanswered(h);
	UNTIL(f, httphost_lost(h));
	shares_give(&all, all.has);
	httphost_table_free(t);
}

/* ---- Servers that are known ---- */

#define MANY_SERVERS 3000

/* One request each, as redirects make them. */
static void ask_of_many(struct fixture *f, struct httphost_table *t, const char *namespace_, unsigned first)
{
	struct waiter waiter = { .told = 0 };

	for (unsigned i = 0; i < MANY_SERVERS; i++) {
		MEM_AUTO char *name = mem_printf("s%u.invalid", first + i);
		struct httpurl_place place = { .scheme = (char[]){ "http" }, .host = name, .port = 80 };

		waiter.told = 0;
		httphost_wait(httphost_get(t, &place, namespace_), &waiter.turn, namespace_, on_told, &waiter);
		UNTIL(f, waiter.told);
	}
}

static void a_namespace_has_a_share_of_them(void **state)
{
	struct fixture *f = *state;
	struct httphost_table *t = table_behind_a_proxy(f);
	struct httpurl_place place = { .scheme = (char[]){ "http" }, .host = (char[]){ "good.invalid" }, .port = 80 };
	struct httphost *good = httphost_get(t, &place, "good");
	struct waiter waiter = { .told = 0 };
	size_t share;

	httphost_wait(good, &waiter.turn, "good", on_told, &waiter);
	UNTIL(f, waiter.told);
	httphost_spare(good);
	ask_of_many(f, t, "bad", 0);
	share = httphost_known(t);
	assert_in_range(share, 2, 1024);
	assert_ptr_equal(httphost_get(t, &place, "good"), good);
	ask_of_many(f, t, "bad", MANY_SERVERS);
	assert_int_equal(httphost_known(t), share);
	httphost_table_free(t);
}

/* A server asked by one namespace and then by another counts for the latter. */
static void lookups_count_for_the_newest_asker(void **state)
{
	struct fixture *f = *state;
	struct httphost_table *t = table_behind_a_proxy(f);
	size_t known;

	ask_of_many(f, t, "a", 0);
	known = httphost_known(t);
	ask_of_many(f, t, "b", 0); /* all again, the last of them last */
	assert_true(httphost_known(t) <= known);
	ask_of_many(f, t, "a", MANY_SERVERS);
	assert_true(httphost_known(t) > known);
	httphost_table_free(t);
}

#define IN_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FIXTURE(by_namespace),
		IN_FIXTURE(patience),
		IN_FIXTURE(patience_has_an_end),
		IN_FIXTURE(one_connects),
		IN_FIXTURE(without_http2_all_connect),
		IN_FIXTURE(a_server_is_spared),
		IN_FIXTURE(hung),
		IN_FIXTURE(a_namespace_has_a_share_of_them),
		IN_FIXTURE(lookups_count_for_the_newest_asker),
		IN_FIXTURE(lost),
		IN_FIXTURE(lost_behind_a_proxy),
		IN_FIXTURE(probes_count_for_the_newest_asker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
