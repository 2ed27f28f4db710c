/* SPDX-License-Identifier: Apache-2.0 */

/* Scripted clusters and sentinels; tests/live uses real ones. */

#include "../fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/redis/rediscluster.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"
#include "net/redis/redisrouter.h"
#include "net/redis/redissentinel.h"

#define NODES 4

struct node {
	int listener;
	char address[32], port[8];
	struct client peer; /* the last accepted */
	unsigned accepted;
};

struct world {
	struct fixture *f;
	struct pool *pool;
	struct redisrouter *router;
	struct node nodes[NODES];
};

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = redis_new(w->f->loop);
	w->router = redisrouter_new(w->f->loop, w->pool);
	for (size_t i = 0; i < NODES; i++) {
		uint16_t port;

		w->nodes[i].listener = fixture_listen(&port);
		w->nodes[i].peer.fd = -1;
		snprintf(w->nodes[i].address, sizeof(w->nodes[i].address), "127.0.0.1:%u", port);
		snprintf(w->nodes[i].port, sizeof(w->nodes[i].port), "%u", port);
	}
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	redisrouter_free(w->router);
	pool_free(w->pool);
	for (size_t i = 0; i < NODES; i++) {
		client_close(&w->nodes[i].peer);
		if (w->nodes[i].listener >= 0)
			close(w->nodes[i].listener);
	}
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* Whether the node's newest connection has received the text. */
static bool node_has(struct node *n, const char *text)
{
	struct client c;

	if (n->listener >= 0 && client_accept(&c, n->listener)) {
		client_close(&n->peer);
		n->peer = c;
		n->accepted++;
	}
	return n->peer.fd >= 0 && client_has(&n->peer, text);
}

/* Waits for the text, and answers. */
static void serve(struct world *w, int node, const char *text, const char *answer)
{
	struct node *n = &w->nodes[node];

	UNTIL(w->f, node_has(n, text));
	client_forget(&n->peer);
	client_send(&n->peer, answer);
}

static void node_dies(struct world *w, int node)
{
	struct node *n = &w->nodes[node];

	close(n->listener);
	n->listener = -1;
	client_close(&n->peer);
}

/* Slots up to `middle` belong to the first node, the others to the second. */
static char *slots(const struct world *w, int first, int middle, int second)
{
	return mem_printf("*2\r\n*3\r\n:0\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%s\r\n*3\r\n:%d\r\n:16383\r\n*2\r\n$"
			  "9\r\n127.0.0.1\r\n:%s\r\n",
		middle, w->nodes[first].port, middle + 1, w->nodes[second].port);
}

struct result {
	struct redisrouter_call *call;
	int calls;
	int64_t integer;
	char text[128];
	struct err err;
};

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct result *r = arg;

	assert_int_equal(reply == NULL, err != NULL);
	r->calls++;
	r->call = NULL;
	if (err) {
		r->err = *err;
		return;
	}
	r->integer = reply->integer;
	snprintf(r->text, sizeof(r->text), "%s", reply->text ? reply->text : "");
}

static void ask_for(struct result *r, struct world *w, struct redistopology *topology, const char *key,
	int64_t patience_ms)
{
	const char *const argv[] = { "LLEN", key };

	memset(r, 0, sizeof(*r));
	r->call = redisrouter_command(w->router, topology, key, strlen(key), 2, argv, NULL,
		loop_now_ms(w->f->loop) + patience_ms, on_reply, r);
	assert_non_null(r->call);
	assert_int_equal(r->calls, 0);
}

static void ask(struct result *r, struct world *w, struct redistopology *topology, const char *key)
{
	ask_for(r, w, topology, key, PATIENCE_MS);
}

static void wait_value(struct world *w, struct result *r, int64_t value)
{
	UNTIL(w->f, r->calls);
	if (r->err.kind != ERR_NONE)
		fail_msg("%s", r->err.msg);
	assert_int_equal(r->integer, value);
	assert_int_equal(r->calls, 1);
}

static void wait_error(struct world *w, struct result *r, enum err_kind kind, const char *text)
{
	UNTIL(w->f, r->calls);
	assert_int_equal(r->err.kind, kind);
	if (!strstr(r->err.msg, text))
		fail_msg("\"%s\" is not in: %s", text, r->err.msg);
	assert_int_equal(r->calls, 1);
}

/* A cluster with node 0 as its seed. "foo" is in slot 12182, "bar" in 5061. */
static struct redistopology *cluster(struct world *w)
{
	const char *seeds[] = { w->nodes[0].address };
	struct err err = { 0 };
	struct redistopology *topology = rediscluster_new(seeds, 1, &(struct redisendpoint_config){ .database = 0 },
		&err);

	if (!topology)
		fail_msg("%s", err.msg);
	return topology;
}

/* The same, with a map: "foo" belongs to node 1, "bar" to node 0. */
static struct redistopology *known_cluster(struct world *w)
{
	MEM_AUTO char *map = slots(w, 0, 9999, 1);
	struct redistopology *topology = cluster(w);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 0, "SLOTS", map);
	serve(w, 1, "LLEN", ":7\r\n");
	wait_value(w, &r, 7);
	return topology;
}

/* ---- Clusters ---- */

static void the_owner_is_asked(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	struct result a, b;

	ask(&a, w, topology, "bar");
	ask(&b, w, topology, "foo");
	serve(w, 0, "*2\r\n$4\r\nLLEN\r\n$3\r\nbar\r\n", ":2\r\n");
	serve(w, 1, "*2\r\n$4\r\nLLEN\r\n$3\r\nfoo\r\n", ":3\r\n");
	wait_value(w, &a, 2);
	wait_value(w, &b, 3);
	assert_int_equal(pool_connections(w->pool), 2); /* the seed is a node, too */
	assert_int_equal(w->nodes[0].accepted, 1);
	redistopology_unref(topology);
}

static void many_commands_share_one_refresh(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *map = slots(w, 0, 9999, 1);
	struct redistopology *topology = cluster(w);
	struct result all[20];

	for (size_t i = 0; i < 20; i++)
		ask(&all[i], w, topology, i % 2 ? "foo" : "bar");
	redisrouter_cancel(all[3].call);
	UNTIL(w->f, node_has(&w->nodes[0], "SLOTS"));
	assert_string_equal(buf_text(&w->nodes[0].peer.got), "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n");
	serve(w, 0, "SLOTS", map);
	serve(w, 0, "LLEN", ":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
	serve(w, 1, "LLEN", ":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n");
	for (size_t i = 0; i < 20; i++) {
		if (i != 3)
			wait_value(w, &all[i], 1);
	}
	assert_int_equal(all[3].calls, 0);
	redistopology_unref(topology);
}

static void moved_is_followed_and_remembered(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	MEM_AUTO char *moved = mem_printf("-MOVED 12182 :%s\r\n", w->nodes[2].port);
	MEM_AUTO char *map = slots(w, 0, 9999, 2);
	struct result r;
	int from = -1;

	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", moved);
	serve(w, 2, "LLEN", ":9\r\n");
	wait_value(w, &r, 9);
	UNTIL(w->f, node_has(&w->nodes[from = 0], "SLOTS") || node_has(&w->nodes[from = 1], "SLOTS"));
	serve(w, from, "SLOTS", map);
	fixture_linger(w->f, 20);
	ask(&r, w, topology, "foo");
	serve(w, 2, "LLEN", ":10\r\n");
	wait_value(w, &r, 10);
	redistopology_unref(topology);
}

static void ask_is_followed_and_forgotten(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	MEM_AUTO char *where = mem_printf("-ASK 12182 127.0.0.1:%s\r\n", w->nodes[2].port);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", where);
	serve(w, 2, "*1\r\n$6\r\nASKING\r\n*2\r\n$4\r\nLLEN\r\n$3\r\nfoo\r\n", "+OK\r\n:4\r\n");
	wait_value(w, &r, 4);
	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", where);
	serve(w, 2, "ASKING", "-ERR\r\n-NOPERM no\r\n"); /* like any other answer */
	UNTIL(w->f, r.calls);
	assert_string_equal(r.text, "NOPERM no");
	redistopology_unref(topology);
}

static void redirects_end(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	MEM_AUTO char *to_2 = mem_printf("-MOVED 1 127.0.0.1:%s\r\n", w->nodes[2].port);
	MEM_AUTO char *to_3 = mem_printf("-MOVED 1 127.0.0.1:%s\r\n", w->nodes[3].port);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", to_2);
	serve(w, 2, "LLEN", to_3);
	serve(w, 3, "LLEN", to_2);
	serve(w, 2, "LLEN", to_3);
	wait_error(w, &r, ERR_TEMPORARY, "redirected 4 times");
	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", "-MOVED 1\r\n");
	wait_error(w, &r, ERR_TEMPORARY, "redirected without an address");
	redistopology_unref(topology);
}

static void a_promoted_replica_is_found(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	MEM_AUTO char *map = slots(w, 0, 9999, 2);
	struct result r;

	fixture_linger(w->f, 300); /* since the last refresh */
	ask(&r, w, topology, "foo");
	UNTIL(w->f, node_has(&w->nodes[1], "LLEN"));
	node_dies(w, 1);
	serve(w, 0, "SLOTS", map);
	serve(w, 2, "LLEN", ":11\r\n");
	wait_value(w, &r, 11);
	redistopology_unref(topology);
}

static void a_dead_owner_is_reported(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = known_cluster(w);
	MEM_AUTO char *map = slots(w, 0, 9999, 1);
	struct result r;

	ask(&r, w, topology, "foo");
	UNTIL(w->f, node_has(&w->nodes[1], "LLEN"));
	node_dies(w, 1);
	serve(w, 0, "SLOTS", map); /* after the gap between two refreshes */
	wait_error(w, &r, ERR_TEMPORARY, w->nodes[1].address);
	redistopology_unref(topology);
}

static void without_a_map_commands_fail(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = cluster(w);
	struct result a, b;

	ask(&a, w, topology, "foo");
	serve(w, 0, "SLOTS", "-ERR This instance has cluster support disabled\r\n");
	wait_error(w, &a, ERR_INVALID, "not part of a cluster");
	ask_for(&b, w, topology, "foo", 30); /* before the back-off is over: the last error is reported */
	wait_error(w, &b, ERR_INVALID, "not part of a cluster");
	redistopology_unref(topology);
}

static void unassigned_slots_are_reported(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *map = mem_printf("*1\r\n*3\r\n:0\r\n:99\r\n*2\r\n$9\r\n127.0.0.1\r\n:%s\r\n", w->nodes[0].port);
	struct redistopology *topology = cluster(w);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 0, "SLOTS", map);
	wait_error(w, &r, ERR_TEMPORARY, "no node serves slot 12182");
	redistopology_unref(topology);
}

static void deadlines_hold(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = cluster(w);
	struct result r;
	int64_t begin_ms = loop_now_ms(w->f->loop);

	ask_for(&r, w, topology, "foo", 100);
	wait_error(w, &r, ERR_TEMPORARY, "none of them answered in time");
	assert_in_range(loop_now_ms(w->f->loop) - begin_ms, 95, 2000);
	redistopology_unref(topology);
}

static void cancelled_at_any_time(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *where = mem_printf("-ASK 12182 127.0.0.1:%s\r\n", w->nodes[2].port);
	struct redistopology *topology = known_cluster(w);
	struct result sent, asking, left;

	ask(&sent, w, topology, "foo");
	UNTIL(w->f, node_has(&w->nodes[1], "LLEN"));
	redisrouter_cancel(sent.call);
	client_forget(&w->nodes[1].peer);
	client_send(&w->nodes[1].peer, ":1\r\n");
	ask(&asking, w, topology, "foo");
	serve(w, 1, "LLEN", where);
	UNTIL(w->f, node_has(&w->nodes[2], "LLEN"));
	redisrouter_cancel(asking.call);
	redisrouter_cancel(NULL);
	ask(&left, w, topology, "foo"); /* the router is freed with it */
	fixture_linger(w->f, 10);
	assert_int_equal(sent.calls + asking.calls + left.calls, 0);
	redistopology_unref(topology);
}

/* ---- Following ---- */

struct told {
	int times;
	char address[64];
};

static void on_told(void *arg, struct redisendpoint *e)
{
	struct told *t = arg;

	t->times++;
	snprintf(t->address, sizeof(t->address), "%s", e->base.name);
}

static void followers_hear_of_each_owner(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *map = slots(w, 0, 9999, 1), *moved = slots(w, 0, 9999, 2),
		      *elsewhere = mem_printf("-MOVED 12182 :%s\r\n", w->nodes[2].port);
	struct redistopology *topology = cluster(w);
	struct result r;
	struct told foo = { 0 }, bar = { 0 }, late = { 0 };
	struct redisrouter_follower *a = redisrouter_follow(w->router, topology, "foo", 3, on_told, &foo),
				    *b = redisrouter_follow(w->router, topology, "bar", 3, on_told, &bar), *c;

	serve(w, 0, "SLOTS", map);
	UNTIL(w->f, foo.times && bar.times);
	assert_string_equal(foo.address, w->nodes[1].address);
	assert_string_equal(bar.address, w->nodes[0].address);
	c = redisrouter_follow(w->router, topology, "foo", 3, on_told, &late);
	assert_int_equal(late.times, 0);
	UNTIL(w->f, late.times);
	redisrouter_unfollow(c);
	ask(&r, w, topology, "foo");
	serve(w, 1, "LLEN", elsewhere);
	serve(w, 2, "LLEN", ":9\r\n");
	wait_value(w, &r, 9);
	for (bool asked = false; !asked; loop_turn(w->f->loop)) { /* any of the seeds */
		for (int i = 0; i < 2 && !asked; i++) {
			asked = node_has(&w->nodes[i], "SLOTS");
			if (asked)
				serve(w, i, "SLOTS", moved);
		}
	}
	UNTIL(w->f, foo.times == 2);
	assert_string_equal(foo.address, w->nodes[2].address);
	assert_int_equal(bar.times, 1);
	assert_int_equal(late.times, 1);
	redisrouter_unfollow(a);
	redisrouter_unfollow(NULL);
	(void)b; /* the router is freed with it */
	redistopology_unref(topology);
}

/* ---- Sentinels ---- */

static struct redistopology *sentinels(struct world *w, size_t count)
{
	const char *addresses[] = { w->nodes[0].address, w->nodes[1].address };
	struct redissentinel_config config = { .addresses = addresses,
		.count = count,
		.master = "mymaster",
		.password = "spw",
		.server = { .password = "mpw", .database = 2 } };
	struct err err = { 0 };
	struct redistopology *topology = redissentinel_new(&config, &err);

	if (!topology)
		fail_msg("%s", err.msg);
	return topology;
}

static char *master_is(const struct world *w, int node)
{
	return mem_printf("+OK\r\n*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(w->nodes[node].port),
		w->nodes[node].port);
}

#define GREETING  "*2\r\n$4\r\nAUTH\r\n$3\r\nmpw\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*1\r\n$4\r\nROLE\r\n"
#define IS_MASTER "+OK\r\n+OK\r\n*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"

static void the_master_is_asked(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = sentinels(w, 1);
	MEM_AUTO char *answer = master_is(w, 2);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 0,
		"*2\r\n$4\r\nAUTH\r\n$3\r\nspw\r\n*3\r\n$8\r\nSENTINEL\r\n$23\r\nget-master-addr-by-name\r\n$"
		"8\r\nmymaster\r\n",
		answer);
	serve(w, 2, GREETING "*2\r\n$4\r\nLLEN\r\n$3\r\nfoo\r\n", IS_MASTER ":5\r\n");
	wait_value(w, &r, 5);
	redistopology_unref(topology);
}

static void a_master_that_refuses_role_is_trusted(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = sentinels(w, 1);
	MEM_AUTO char *answer = master_is(w, 2);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 0, "SENTINEL", answer);
	serve(w, 2, "LLEN", "+OK\r\n+OK\r\n-NOPERM this user has no permissions to run the 'role' command\r\n:5\r\n");
	wait_value(w, &r, 5);
	redistopology_unref(topology);
}

static void a_replica_is_rejected(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = sentinels(w, 1);
	MEM_AUTO char *old = master_is(w, 2), *new = master_is(w, 3);
	struct result r;

	ask(&r, w, topology, "foo");
	serve(w, 0, "SENTINEL", old);
	serve(w, 2, "ROLE", "+OK\r\n+OK\r\n*1\r\n$5\r\nslave\r\n:9\r\n");
	serve(w, 0, "SENTINEL", strchr(new, '\n') + 1);
	serve(w, 3, "LLEN", IS_MASTER ":6\r\n");
	wait_value(w, &r, 6);
	fixture_linger(w->f, 300);
	ask(&r, w, topology, "foo");
	serve(w, 3, "LLEN", "-READONLY You can't write against a read only replica.\r\n");
	serve(w, 0, "SENTINEL", strchr(new, '\n') + 1);
	wait_error(w, &r, ERR_TEMPORARY, "READONLY");
	redistopology_unref(topology);
}

static void another_sentinel_is_asked(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = sentinels(w, 2);
	MEM_AUTO char *answer = master_is(w, 2);
	struct result r;
	int first = -1;

	ask(&r, w, topology, "foo");
	UNTIL(w->f, node_has(&w->nodes[first = 0], "SENTINEL") || node_has(&w->nodes[first = 1], "SENTINEL"));
	serve(w, first, "SENTINEL", "+OK\r\n*-1\r\n");
	serve(w, 1 - first, "SENTINEL", answer);
	serve(w, 2, "LLEN", IS_MASTER ":5\r\n");
	wait_value(w, &r, 5);
	redistopology_unref(topology);
}

static void a_silent_sentinel_costs_little_time(void **state)
{
	struct world *w = *state;
	struct redistopology *topology = sentinels(w, 2);
	MEM_AUTO char *answer = master_is(w, 2);
	struct result r;
	int first = -1;
	int64_t begin_ms = loop_now_ms(w->f->loop);

	ask(&r, w, topology, "foo");
	UNTIL(w->f, node_has(&w->nodes[first = 0], "SENTINEL") || node_has(&w->nodes[first = 1], "SENTINEL"));
	serve(w, 1 - first, "SENTINEL", answer);
	serve(w, 2, "LLEN", IS_MASTER ":5\r\n");
	wait_value(w, &r, 5);
	assert_in_range(loop_now_ms(w->f->loop) - begin_ms, 250, 2000);
	redistopology_unref(topology);
}

static void sentinels_without_an_answer(void **state)
{
	static const struct {
		const char *answer;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ "+OK\r\n*-1\r\n", ERR_MISSING, "knows no master \"mymaster\"" },
		{ "+OK\r\n-ERR unknown command 'SENTINEL'\r\n", ERR_INVALID, "is not a sentinel" },
		{ "+OK\r\n-NOPERM no\r\n", ERR_DENIED, "NOPERM no" },
		{ "-WRONGPASS invalid\r\n", ERR_DENIED, "AUTH failed: WRONGPASS invalid" },
		{ "+OK\r\n:5\r\n", ERR_TEMPORARY, "is not an address" },
		{ "+OK\r\n*2\r\n$1\r\nh\r\n$1\r\n0\r\n", ERR_TEMPORARY, "is not an address" },
		{ "+OK\r\n*2\r\n$1\r\nh\r\n$2\r\n6x\r\n", ERR_TEMPORARY, "is not an address" },
		{ "+OK\r\n*2\r\n$2\r\n/h\r\n$1\r\n1\r\n", ERR_TEMPORARY, "is not an address" },
		{ "+OK\r\n*2\r\n$3\r\na b\r\n$1\r\n1\r\n", ERR_INVALID, "must be host:port" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct redistopology *topology = sentinels(w, 1);
		struct result r;

		redisrouter_free(w->router);
		pool_free(w->pool);
		w->pool = redis_new(w->f->loop);
		w->router = redisrouter_new(w->f->loop, w->pool);
		ask(&r, w, topology, "foo");
		UNTIL(w->f, w->nodes[0].accepted == i + 1 || node_has(&w->nodes[0], "SENTINEL"));
		serve(w, 0, "SENTINEL", rows[i].answer);
		wait_error(w, &r, rows[i].kind, rows[i].message);
		redistopology_unref(topology);
	}
}

static void topologies_are_checked(void **state)
{
	const char *good[] = { "a:1" }, *bad[] = { "a:1", "b" };
	struct err err = { 0 };

	(void)state;
	assert_null(rediscluster_new(good, 1, &(struct redisendpoint_config){ .database = 1 }, &err));
	assert_null(rediscluster_new(good, 0, &(struct redisendpoint_config){ 0 }, &err));
	assert_null(rediscluster_new(bad, 2, &(struct redisendpoint_config){ 0 }, &err));
	assert_non_null(strstr(err.msg, "address \"b\""));
	assert_null(rediscluster_new(good, REDISTOPOLOGY_SEEDS_MAX + 1, &(struct redisendpoint_config){ 0 }, &err));
	assert_null(
		redissentinel_new(&(struct redissentinel_config){ .addresses = good, .count = 1, .master = "" }, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	redistopology_unref(NULL);
	redisrouter_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_owner_is_asked),
		TEST(many_commands_share_one_refresh),
		TEST(moved_is_followed_and_remembered),
		TEST(ask_is_followed_and_forgotten),
		TEST(redirects_end),
		TEST(a_promoted_replica_is_found),
		TEST(a_dead_owner_is_reported),
		TEST(without_a_map_commands_fail),
		TEST(unassigned_slots_are_reported),
		TEST(deadlines_hold),
		TEST(cancelled_at_any_time),
		TEST(followers_hear_of_each_owner),
		TEST(the_master_is_asked),
		TEST(a_master_that_refuses_role_is_trusted),
		TEST(a_replica_is_rejected),
		TEST(another_sentinel_is_asked),
		TEST(a_silent_sentinel_costs_little_time),
		TEST(sentinels_without_an_answer),
		cmocka_unit_test(topologies_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
