/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Bytes of servers that are none. What a real one says is in test_mysqlpool.
 */

#include "../fixture.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/mysql/mysqlpool.h"

struct world {
	struct fixture *f;
	struct pool *pool;
	int listener;
	uint16_t port;
};

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	if (fixture_setup((void **)&w->f))
		return -1;
	w->pool = mysqlpool_new(w->f->loop);
	w->listener = fixture_listen(&w->port);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pool_free(w->pool);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

struct outcome {
	bool told;
	struct err err;
};

static void on_outcome(void *arg, const struct mysqlvalue *value, const struct err *err)
{
	struct outcome *o = arg;

	assert_null(value);
	o->told = true;
	o->err = *err;
}

static void ask(struct world *w, struct outcome *o)
{
	struct mysqlendpoint_config config = { .host = "127.0.0.1",
		.port = w->port,
		.user = "me",
		.database = "shop",
		.native_passwords = true };
	struct mysqlendpoint *e = mysqlendpoint_new(&config, NULL);

	*o = (struct outcome){ .told = false };
	assert_non_null(mysqlpool_ask(w->pool, e, "SELECT 1", loop_now_ms(w->f->loop) + 1000, on_outcome, o));
	mysqlendpoint_unref(e);
}

/* Says the bytes in two pieces, of which the first has `first`, and hangs up. */
static void greeted_with(struct world *w, const char *bytes, size_t len, size_t first, struct outcome *o)
{
	struct client server;

	ask(w, o);
	UNTIL(w->f, client_accept(&server, w->listener));
	assert_int_equal(send(server.fd, bytes, first, MSG_NOSIGNAL), (ssize_t)first);
	fixture_linger(w->f, 10);
	send(server.fd, bytes + first, len - first, MSG_NOSIGNAL);
	shutdown(server.fd, SHUT_WR);
	UNTIL(w->f, o->told);
	client_close(&server);
}

/* The connector would look for the version that a greeting has, behind a null pointer. */
static void progress_is_no_greeting(void **state)
{
	static const char bytes[] = "\x0c\0\0\0\xff\xff\xff\1\1\1\0\0\0\1\1x";
	struct world *w = *state;
	struct outcome o;

	for (size_t first = 0; first < 8; first += 5) {
		greeted_with(w, bytes, sizeof(bytes) - 1, first, &o);
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(o.err.msg, "the server does not greet"));
	}
}

static void reason_is_told(void **state)
{
	static const char bytes[] = "\x17\0\0\0\xff\x10\4Too many connections";
	struct world *w = *state;
	struct outcome o;

	greeted_with(w, bytes, sizeof(bytes) - 1, 5, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(o.err.msg, "Too many connections (error 1040)"));
}

/* Let in, its settings taken, the question what a reset leaves refused; then an answer that announces columns, has one,
 * and their end. */
#define LETS_IN                                                                                                        \
	"\x4a\0\0\0\x0a"                                                                                               \
	"8.0.30\0\5\0\0\0abcdefgh\0\xff\xf7\x2d\2\0\x7f\x80\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0"                     \
	"mysql_native_password\0\7\0\0\2\0\0\0\2\0\0\0\7\0\0\1\0\0\0\2\0\0\0"                                          \
	"\x0d\0\0\1\xff\x28\4#42000none"
#define COLUMN "\x17\0\0\2\3def\0\0\0\1n\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0"
#define END    "\5\0\0\3\xfe\0\0\2\0"

/*
 * The connector would want half a terabyte, and keep the columns for ever when it gets none. One
 * more, and where long has 32 bits it is the connector's sign for a file that is asked for.
 */
static void columns_without_number_are_refused(void **state)
{
	static const char most[] = LETS_IN "\x09\0\0\1\xfe\xfe\xff\xff\xff\0\0\0\0" COLUMN END;
	static const char many[] = LETS_IN "\3\0\0\1\xfc\1\x10" COLUMN END;
	struct world *w = *state;
	struct outcome o;

	greeted_with(w, most, sizeof(most) - 1, 0, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(o.err.msg, "asking: the answer announces more than 4096 columns (error 2027)"));
	greeted_with(w, many, sizeof(many) - 1, 0, &o);
	assert_non_null(strstr(o.err.msg, "the answer announces more than 4096 columns"));
}

/*
 * So many may be; that they are not there the connector finds out by itself, but has no number for
 * it. What is still to be read of such an answer is not the next query's.
 */
static void columns_that_are_not_there_end_the_connection(void **state)
{
	static const char bytes[] = LETS_IN "\3\0\0\1\xfc\0\x10" COLUMN END;
	struct world *w = *state;
	struct client first, second;
	struct outcome o;

	ask(w, &o);
	UNTIL(w->f, client_accept(&first, w->listener));
	assert_int_equal(send(first.fd, bytes, sizeof(bytes) - 1, MSG_NOSIGNAL), (ssize_t)sizeof(bytes) - 1);
	UNTIL(w->f, o.told);
	assert_non_null(strstr(o.err.msg, "asking: "));
	assert_null(strstr(o.err.msg, "columns"));
	ask(w, &o);
	UNTIL(w->f, client_accept(&second, w->listener) || o.told);
	assert_false(o.told);
	client_close(&second);
	client_close(&first);
	UNTIL(w->f, o.told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(progress_is_no_greeting, setup, teardown),
		cmocka_unit_test_setup_teardown(reason_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_without_number_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_that_are_not_there_end_the_connection, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
