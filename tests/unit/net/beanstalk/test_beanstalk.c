/* SPDX-License-Identifier: Apache-2.0 */

/* Questions to a scripted server; tests/live/test_beanstalkd.py uses a real one. */

#include "../fixture.h"

#include <unistd.h>

#include "base/mem.h"
#include "net/beanstalk/beanstalk.h"

struct answer {
	bool told;
	struct tubestats stats;
	struct err err;
};

static void on_stats(void *arg, const struct tubestats *stats, const struct err *err)
{
	struct answer *a = arg;

	assert_false(a->told);
	a->told = true;
	if (stats)
		a->stats = *stats;
	else
		a->err = *err;
}

struct world {
	struct fixture *f;
	struct pool *pool;
	int listener;
	struct client peer;
	struct endpoint *endpoint;
};

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	MEM_AUTO char *server = NULL;
	struct err err;
	uint16_t port;
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = beanstalk_new(w->f->loop);
	w->listener = fixture_listen(&port);
	w->peer.fd = -1;
	server = mem_printf("127.0.0.1:%u", port);
	w->endpoint = beanstalk_endpoint("shop", server, &err);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pool_free(w->pool);
	endpoint_unref(w->endpoint);
	client_close(&w->peer);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

static struct pool_call *ask(struct world *w, const char *tube, int64_t ms, struct answer *a)
{
	*a = (struct answer){ 0 };
	return beanstalk_ask(w->pool, w->endpoint, tube, loop_now_ms(w->f->loop) + ms, on_stats, a);
}

#define STATS "OK 71\r\ncurrent-jobs-ready: 3\ncurrent-jobs-reserved: 1\ncurrent-jobs-delayed: 2\n\r\n"

static void questions_are_pipelined(void **state)
{
	struct world *w = *state;
	struct answer a, b, c, d;
	struct pool_call *cancelled;

	ask(w, "a", 5000, &a);
	cancelled = ask(w, "b", 5000, &b);
	ask(w, "c", 5000, &c);
	ask(w, "d", 5000, &d);
	UNTIL(w->f, client_accept(&w->peer, w->listener));
	UNTIL(w->f, client_has(&w->peer, "stats-tube a\r\nstats-tube b\r\nstats-tube c\r\nstats-tube d\r\n"));
	pool_cancel(cancelled);
	client_send(&w->peer, "OUT_OF_MEMORY\r\nNOT_FOUND\r\n" STATS "NOT_FOUND\r\n");
	UNTIL(w->f, d.told);
	assert_non_null(strstr(a.err.msg, "the server answered OUT_OF_MEMORY"));
	assert_non_null(strstr(a.err.msg, w->endpoint->name));
	assert_false(b.told);
	assert_int_equal(c.stats.ready, 3);
	assert_int_equal(c.stats.reserved, 1);
	assert_int_equal(c.stats.delayed, 2);
	assert_int_equal(d.stats.ready, 0);
	assert_int_equal(d.err.kind, ERR_NONE);
	assert_int_equal(pool_connections(w->pool), 1);
}

static void faults_are_explained(void **state)
{
	static const struct {
		const char *said; /* NULL: nothing; "": the end */
		const char *message;
	} faults[] = {
		{ NULL, "the server did not answer in time" },
		{ "", "the server closed the connection (is it a beanstalkd server?)" },
		{ "+OK\r\n", "the answer is not beanstalkd's (is it a beanstalkd server?)" },
		{ "OK 99999\r\n", "the answer is larger than 4096 bytes (is it a beanstalkd server?)" },
	};
	struct world *w = *state;
	struct answer a;

	for (size_t i = 0; i < MEM_COUNT(faults); i++) {
		ask(w, "jobs", faults[i].said ? 20000 : 300, &a);
		UNTIL(w->f, client_accept(&w->peer, w->listener));
		UNTIL(w->f, client_has(&w->peer, "stats-tube jobs\r\n"));
		if (faults[i].said && faults[i].said[0])
			client_send(&w->peer, faults[i].said);
		else if (faults[i].said)
			client_close(&w->peer);
		UNTIL(w->f, a.told);
		if (!strstr(a.err.msg, faults[i].message))
			fail_msg("\"%s\", not \"%s\"", a.err.msg, faults[i].message);
		client_close(&w->peer);
	}
}

static void servers(void **state)
{
	static const char *const bad[] = { "b", "b:0", ":11300", "b:x", "::1:11300", "beanstalkd://b:11300", "a b:1",
		"b:11300/x", "" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		struct endpoint *e = beanstalk_endpoint(NULL, bad[i], &err);

		if (e)
			fail_msg("\"%s\" was accepted", bad[i]);
		assert_int_equal(err.kind, ERR_INVALID);
	}
	for (int i = 0; i < 2; i++) {
		struct endpoint *e = beanstalk_endpoint(NULL, i ? "[::1]:11300" : "b:11300", &err);

		assert_string_equal(e->key, i ? "beanstalkd [::1]:11300" : "beanstalkd b:11300");
		endpoint_unref(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(questions_are_pipelined, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(faults_are_explained, world_setup, world_teardown),
		cmocka_unit_test(servers),
	};

	return cmocka_run_group_tests_name("net/beanstalk", tests, NULL, NULL);
}
