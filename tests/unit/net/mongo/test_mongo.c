/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Counts over loopback, against scripted servers: from the first byte to the number, members that
 * refer us to others, and faulty servers. For logins see test_mongologin.c, for the search
 * test_mongoset.c.
 */

#include "../dns/nameserver.h"
#include "../fixture.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "mongotext.h"
#include "net/mongo/mongo.h"

#define CONNECTIONS_MAX 8

/* ---- A server ---- */

struct fake {
	int listener;
	uint16_t port;
	struct client connections[CONNECTIONS_MAX];
	size_t count;
	/*
	 * A command and its answer: Extended JSON, or "!" and raw bytes, after which the server
	 * closes.
	 */
	const char *hello, *old_hello, *aggregate;
	int greetings, counts;
	char seen[512]; /* the last count, NULs as dots */
};

static void fake_start(struct fake *s)
{
	*s = (struct fake){ .hello = "{\"isWritablePrimary\": true, \"maxWireVersion\": 21, \"ok\": 1}",
		.aggregate = "{\"cursor\": {\"firstBatch\": [{\"_id\": 1, \"n\": 7}]}, \"ok\": 1}" };
	s->listener = fixture_listen(&s->port);
}

static void fake_stop(struct fake *s)
{
	for (size_t i = 0; i < s->count; i++)
		client_close(&s->connections[i]);
	close(s->listener);
}

static void put(int fd, const void *bytes, size_t len)
{
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
}

static void answer(struct client *c, const char *text)
{
	struct buf message = BUF_INIT(1 << 16);
	struct mongofilter made;

	if (!text)
		return; /* silence */
	if (*text == '!') {
		put(c->fd, text + 1, strlen(text + 1));
		shutdown(c->fd, SHUT_WR);
		return;
	}
	made = mongotext_make(text);
	mongowire_put(&message, 1, made.bytes, made.len);
	memcpy(message.data + 8, c->got.data + 4, 4);
	put(c->fd, message.data, message.len);
	mongofilter_done(&made);
	buf_done(&message);
}

static void serve_one(struct fake *s, struct client *c)
{
	struct err err;
	int64_t len;

	if (client_ended(c) || c->got.len == 0)
		return;
	len = mongowire_length((const uint8_t *)c->got.data, c->got.len, &err);
	assert_true(len >= 0);
	if (len == 0 || c->got.len < (size_t)len)
		return;
	for (size_t i = 0; i < sizeof(s->seen) - 1; i++)
		s->seen[i] = i < c->got.len && c->got.data[i] ? c->got.data[i] : i < c->got.len ? '.' : '\0';
	if (strstr(s->seen, "aggregate")) {
		s->counts++;
		answer(c, s->aggregate);
	} else {
		s->greetings++;
		answer(c, strstr(s->seen, "isMaster") ? s->old_hello : s->hello);
	}
	client_forget(c);
}

static bool serve(struct fake *s)
{
	if (s->count < CONNECTIONS_MAX && client_accept(&s->connections[s->count], s->listener))
		s->count++;
	for (size_t i = 0; i < s->count; i++)
		serve_one(s, &s->connections[i]);
	return true;
}

/* ---- Questions ---- */

struct world {
	struct fixture *f;
	struct pool *pool;
	struct fake one, two;
	struct mongo_count count;
};

struct outcome {
	int times;
	double count;
	struct err err;
};

static void on_count(void *arg, double count, const struct err *err)
{
	struct outcome *o = arg;

	o->times++;
	o->count = count;
	if (err)
		o->err = *err;
}

static struct pool_call *ask_at(struct world *w, const struct mongoendpoint_config *config, int64_t patience_ms,
	struct outcome *o)
{
	struct err err = { 0 };
	struct mongoendpoint *e = mongoendpoint_new(config, &err);
	struct pool_call *call;

	if (!e)
		fail_msg("%s", err.msg);
	*o = (struct outcome){ 0 };
	call = mongo_ask(w->pool, e, &w->count, loop_now_ms(w->f->loop) + patience_ms, on_count, o);
	assert_int_equal(o->times, 0);
	endpoint_unref(e);
	return call;
}

static struct pool_call *ask(struct world *w, uint16_t port, int64_t patience_ms, struct outcome *o)
{
	struct mongoendpoint_host host = { (char *)(uintptr_t) "127.0.0.1", port };

	return ask_at(w, &(struct mongoendpoint_config){ .hosts = &host, .count = 1 }, patience_ms, o);
}

static void asked(struct world *w, uint16_t port, struct outcome *o)
{
	ask(w, port, 4000, o);
	UNTIL(w->f, serve(&w->one) && serve(&w->two) && o->times);
	assert_int_equal(o->times, 1);
}

static void expect_count(struct world *w, uint16_t port, double count)
{
	struct outcome o;

	asked(w, port, &o);
	if (o.err.kind != ERR_NONE)
		fail_msg("%s", o.err.msg);
	assert_true(o.count == count);
}

static void expect_error(struct world *w, uint16_t port, const char *text)
{
	struct outcome o;

	asked(w, port, &o);
	if (o.err.kind == ERR_NONE || !strstr(o.err.msg, text))
		fail_msg("\"%s\", not \"%s\"", o.err.msg, text);
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	if (fixture_setup((void **)&w->f))
		return -1;
	w->pool = mongo_new(w->f->loop, NULL);
	w->count = (struct mongo_count){ mem_dup("shop"), mem_dup("jobs"), mongotext_make("{\"a\": 1}"), NULL };
	fake_start(&w->one);
	fake_start(&w->two);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	pool_free(w->pool);
	free(w->count.database);
	free(w->count.collection);
	mongofilter_done(&w->count.filter);
	fake_stop(&w->one);
	fake_stop(&w->two);
	fixture_teardown((void **)&w->f);
	mem_free_ptr(&w);
	return 0;
}

/* ---- Good servers ---- */

static void counts_over_one_connection(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3; i++)
		expect_count(w, w->one.port, 7);
	assert_int_equal(w->one.count, 1);
	assert_int_equal(w->one.greetings, 1);
	assert_int_equal(w->one.counts, 3);
	assert_non_null(strstr(w->one.seen, "maxTimeMS"));
	assert_null(strstr(w->one.seen, "$readPreference"));
}

static void older_greeting(void **state)
{
	struct world *w = *state;

	w->one.hello = "{\"ok\": 0, \"code\": 59, \"codeName\": \"CommandNotFound\", \"errmsg\": \"no such command\"}";
	w->one.old_hello = "{\"ismaster\": true, \"maxWireVersion\": 6, \"ok\": 1}";
	expect_count(w, w->one.port, 7);
	assert_int_equal(w->one.greetings, 2);
	w->two.hello = w->two.old_hello = w->one.hello;
	expect_error(w, w->two.port, "greeting: no such command (CommandNotFound, 59)");
}

/* A bad query is no fault of the connection. */
static void refused_count(void **state)
{
	struct world *w = *state;

	w->one.aggregate = "{\"ok\": 0, \"code\": 2, \"codeName\": \"BadValue\", \"errmsg\": \"unknown operator: $x\"}";
	expect_error(w, w->one.port, "counting: unknown operator: $x (BadValue, 2)");
	w->one.aggregate = "{\"cursor\": {\"firstBatch\": []}, \"ok\": 1}";
	expect_count(w, w->one.port, 0);
	assert_int_equal(w->one.count, 1);
}

/* ---- Replica sets ---- */

#define MEMBER                                                                                                         \
	"{\"secondary\": true, \"setName\": \"rs0\", \"maxWireVersion\": 21, \"primary\": \"127.0.0.1:%u\", \"ok\": "  \
	"1}"
#define PRIMARY "{\"isWritablePrimary\": true, \"setName\": \"rs0\", \"maxWireVersion\": 21, \"ok\": 1}"

static void members_lead_to_the_primary(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *member = mem_printf(MEMBER, w->two.port);

	w->one.hello = member;
	w->two.hello = PRIMARY;
	expect_count(w, w->one.port, 7);
	assert_int_equal(w->one.counts, 0);
	assert_int_equal(w->two.counts, 1);
}

/* The primary stepped down: the count goes to the new one, without an error. */
static void primary_steps_down(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *member = mem_printf(MEMBER, w->two.port);

	w->one.hello = PRIMARY;
	expect_count(w, w->one.port, 7);
	w->one.hello = member;
	w->one.aggregate = "{\"ok\": 0, \"code\": 13435, \"errmsg\": \"not primary and secondaryOk=false\"}";
	w->two.hello = PRIMARY;
	w->two.aggregate = "{\"cursor\": {\"firstBatch\": [{\"n\": 8}]}, \"ok\": 1}";
	expect_count(w, w->one.port, 8);
	/* Without a primary the count fails, and the error says what each host is. */
	w->two.hello = "{\"secondary\": true, \"setName\": \"rs0\", \"maxWireVersion\": 21, \"ok\": 1}";
	w->two.aggregate = w->one.aggregate;
	expect_error(w, w->one.port, "no primary found: 127.0.0.1:");
}

/* ---- SRV names ---- */

#define SEED "seed.db.test"

/* Records of the name server. */
struct zone {
	struct world *w;
	const char *text; /* TXT; NULL: none */
	const char *host; /* of both servers */
	unsigned srv_code, txt_code;
	bool srv_silent;
	int srv_asked;
};

static void on_question(void *arg, const char *name, unsigned type, struct nameserver_reply *reply)
{
	struct zone *z = arg;

	if (type == NAMESERVER_SRV) {
		assert_string_equal(name, "_mongodb._tcp." SEED);
		z->srv_asked++;
		reply->silent = z->srv_silent;
		reply->code = z->srv_code;
		nameserver_put_service(reply, 60, z->w->one.port, z->host);
		nameserver_put_service(reply, 60, z->w->two.port, z->host);
	} else if (type == NAMESERVER_TXT) {
		assert_string_equal(name, SEED);
		reply->code = z->txt_code;
		if (z->text)
			nameserver_put_text(reply, 60, z->text);
	} else if (type == NAMESERVER_A) {
		nameserver_put_address(reply, 60, (const unsigned char[]){ 127, 0, 0, 1 });
	}
	if (reply->code)
		reply->len = reply->count = 0;
}

static bool serve_names(struct world *w, struct nameserver *names)
{
	nameserver_serve(names);
	return serve(&w->one) && serve(&w->two);
}

/* The result of one count with these records; cached records are dropped first. */
static void ask_zone(struct world *w, struct zone *z, int64_t patience_ms, struct outcome *o)
{
	struct nameserver names;

	z->w = w;
	z->host = z->host ? z->host : "a.db.test";
	nameserver_start(&names, w->f, on_question, z);
	ask_at(w, &(struct mongoendpoint_config){ .seed = SEED }, patience_ms, o);
	UNTIL(w->f, serve_names(w, &names) && o->times);
	nameserver_stop(&names);
}

static void hosts_of_an_srv_name(void **state)
{
	struct world *w = *state;
	struct zone z = { .text = "replicaSet=rs0" };
	struct outcome o;

	/* The other server is the primary of another set, and must not be asked. */
	w->one.hello = "{\"isWritablePrimary\": true, \"setName\": \"rs1\", \"maxWireVersion\": 21, \"ok\": 1}";
	w->two.hello = PRIMARY;
	ask_zone(w, &z, 4000, &o);
	assert_int_equal(o.err.kind, ERR_NONE);
	assert_true(o.count == 7);
	assert_int_equal(w->one.counts, 0);
	assert_int_equal(w->two.counts, 1);
	/* An open connection needs no records. */
	z.srv_code = NAMESERVER_NO_NAME;
	ask_zone(w, &z, 4000, &o);
	assert_int_equal(o.err.kind, ERR_NONE);
	assert_int_equal(z.srv_asked, 1);
}

static void bad_srv_names(void **state)
{
	static const struct {
		struct zone zone;
		const char *error;
		enum err_kind kind;
	} rows[] = {
		{ { .srv_code = NAMESERVER_NO_NAME },
			"mongodb at " SEED ": looking up the SRV record of _mongodb._tcp." SEED
			": Domain name not found (with mongodb+srv it names the members: is the host right?",
			ERR_TEMPORARY },
		{ { .txt_code = NAMESERVER_BROKEN }, "looking up the TXT record of " SEED ": ", ERR_TEMPORARY },
		{ { .text = "ssl=false" }, "the TXT record of " SEED " has an option \"ssl\"", ERR_INVALID },
		{ { .host = "a.other.test" }, "names the host a.other.test, which is not below db.test", ERR_INVALID },
		{ { .host = "" }, "the name server's answer is malformed", ERR_TEMPORARY },
	};
	struct world *w = *state;
	struct outcome o;

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct zone z = rows[i].zone;

		pool_free(w->pool); /* whose back-off grows */
		w->pool = mongo_new(w->f->loop, NULL);
		ask_zone(w, &z, 4000, &o);
		if (o.err.kind != rows[i].kind || !strstr(o.err.msg, rows[i].error))
			fail_msg("%zu: \"%s\", not \"%s\"", i, o.err.msg, rows[i].error);
		assert_int_equal(w->one.count + w->two.count, 0); /* nobody was connected to */
	}
}

static void silent_name_server(void **state)
{
	struct outcome o;

	ask_zone(*state, &(struct zone){ .srv_silent = true }, 200, &o);
	assert_non_null(
		strstr(o.err.msg, "looking up the SRV and TXT records: timed out (do the name servers answer?)"));
}

/* Errors name the host itself, as the endpoint has another name. */
static void errors_name_the_host(void **state)
{
	struct world *w = *state;
	struct zone z = { 0 };
	struct outcome o;
	MEM_AUTO char *text = mem_printf("mongodb at " SEED ": no primary found: a.db.test:%u: it is older",
		w->one.port);

	w->one.hello = w->two.hello = "{\"ok\": 1, \"maxWireVersion\": 5}";
	ask_zone(w, &z, 4000, &o);
	if (!strstr(o.err.msg, text))
		fail_msg("\"%s\", not \"%s\"", o.err.msg, text);
}

static void cancelled_while_looking_up(void **state)
{
	struct world *w = *state;
	struct zone z = { .w = w, .host = "a.db.test", .srv_silent = true };
	struct nameserver names;
	struct outcome o, left;
	struct pool_call *call;

	nameserver_start(&names, w->f, on_question, &z);
	call = ask_at(w, &(struct mongoendpoint_config){ .seed = SEED }, 4000, &o);
	UNTIL(w->f, serve_names(w, &names) && z.srv_asked > 0);
	pool_cancel(call);
	ask_at(w, &(struct mongoendpoint_config){ .seed = SEED }, 4000, &left); /* until the pool is freed */
	fixture_linger(w->f, 20);
	nameserver_stop(&names);
	assert_int_equal(o.times + left.times, 0);
}

/* ---- Faulty servers ---- */

static void nobody_there(void **state)
{
	struct world *w = *state;
	uint16_t port = fixture_dead_port();
	struct outcome o;
	MEM_AUTO char *text = mem_printf("mongodb at 127.0.0.1:%u: connecting: Connection refused", port);

	asked(w, port, &o);
	assert_string_equal(o.err.msg, text);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
}

static void bad_answers(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *hello, *error;
	} rows[] = {
		{ "!", "the server closed the connection (is TLS needed here?" },
		{ "!HTTP/1.1 400 Bad Request\r\n\r\n", "makes no sense (is it a MongoDB server" },
		{ "!\xff\xff\xff\x7f"
		  "\1\1\1\1"
		  "\1\1\1\1"
		  "\xdd\x07",
			"the server closed the connection" },
		{ "{\"hello\": \"you\"}", "it has no \"ok\"" },
		{ "{\"ok\": 1, \"maxWireVersion\": 5}", "older than MongoDB 3.6" },
		{ "{\"ok\": 0, \"errmsg\": \"too many connections\"}", "greeting: too many connections" },
	};

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		w->one.hello = rows[i].hello;
		expect_error(w, w->one.port, rows[i].error);
	}
	w->one.hello = w->two.hello;
	/* A count is tried twice before it fails because of a connection. */
	w->one.aggregate = "!";
	expect_error(w, w->one.port, "the server closed the connection");
	assert_int_equal(w->one.counts, 2);
}

static void more_than_one_answer(void **state)
{
	struct world *w = *state;
	struct outcome o;

	w->one.aggregate = NULL;
	ask(w, w->one.port, 4000, &o);
	UNTIL(w->f, serve(&w->one) && w->one.counts == 1);
	put(w->one.connections[0].fd,
		"\0\0\20\0"
		"\1\1\1\1"
		"\1\1\1\1"
		"\xdd\7\0\0",
		16);
	UNTIL(w->f, serve(&w->one) && o.times);
	assert_non_null(strstr(o.err.msg, "larger than 256 KiB"));
}

/* An unexpected byte is rejected without waiting for more. */
static void unexpected_answers(void **state)
{
	struct world *w = *state;

	expect_count(w, w->one.port, 7);
	put(w->one.connections[0].fd, "!", 1);
	UNTIL(w->f, pool_connections(w->pool) == 0);
	expect_count(w, w->one.port, 7);
}

static void no_answer(void **state)
{
	struct world *w = *state;
	struct outcome o;

	w->one.aggregate = NULL;
	ask(w, w->one.port, 200, &o);
	UNTIL(w->f, serve(&w->one) && o.times);
	assert_non_null(strstr(o.err.msg, "no answer in time"));
	w->two.hello = NULL;
	ask(w, w->two.port, 200, &o);
	UNTIL(w->f, serve(&w->two) && o.times);
	assert_non_null(strstr(o.err.msg, "connecting: timed out"));
}

/* The server closes an idle connection, which the next count does not notice. */
static void idle_connection_closed(void **state)
{
	struct world *w = *state;

	expect_count(w, w->one.port, 7);
	client_close(&w->one.connections[0]);
	w->one.count = 0;
	UNTIL(w->f, pool_connections(w->pool) == 0);
	expect_count(w, w->one.port, 7);
}

static void cancelled(void **state)
{
	struct world *w = *state;
	struct outcome queued, sent, other;
	struct pool_call *call;

	w->one.aggregate = NULL;
	pool_cancel(ask(w, w->one.port, 4000, &queued));
	call = ask(w, w->one.port, 4000, &sent);
	UNTIL(w->f, serve(&w->one) && w->one.counts == 1);
	pool_cancel(call);
	pool_cancel(NULL);
	ask(w, w->one.port, 4000, &other); /* still waiting when the pool is freed */
	fixture_linger(w->f, 20);
	assert_int_equal(queued.times + sent.times + other.times, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_over_one_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(older_greeting, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_count, setup, teardown),
		cmocka_unit_test_setup_teardown(members_lead_to_the_primary, setup, teardown),
		cmocka_unit_test_setup_teardown(primary_steps_down, setup, teardown),
		cmocka_unit_test_setup_teardown(hosts_of_an_srv_name, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_srv_names, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_name_server, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_name_the_host, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_while_looking_up, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_there, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_one_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(unexpected_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_connection_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled, setup, teardown),
	};

	return cmocka_run_group_tests_name("net/mongo/mongo", tests, NULL, NULL);
}
