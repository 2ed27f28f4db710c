/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions, against a scripted server; tests/live/test_push.py uses a real one. */
#include "../fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redissub.h"

struct world {
	struct fixture *f;
	struct redissub_pool *pool;
	int listener;
	struct client peer; /* the last accepted */
	char address[64];
	struct redisendpoint *endpoint;
};

struct ear {
	struct world *w;
	struct redissub *sub;
	unsigned joined, messages;
	char last[64];
	bool stop, free_pool; /* what it does on a message */
};

static struct redisendpoint *endpoint(struct world *w, int database, const char *password)
{
	struct redisendpoint *e = redisendpoint_new(&(struct redisendpoint_config){ .address = w->address,
							    .database = database,
							    .password = password },
		NULL);

	assert_non_null(e);
	return e;
}

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	uint16_t port;
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = redissub_pool_new(w->f->loop);
	w->listener = fixture_listen(&port);
	w->peer.fd = -1;
	snprintf(w->address, sizeof(w->address), "127.0.0.1:%u", port);
	w->endpoint = endpoint(w, 0, NULL);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	redissub_pool_free(w->pool);
	endpoint_unref(w->endpoint);
	client_close(&w->peer);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

static void on_word(void *arg, const char *message, size_t len)
{
	struct ear *ear = arg;

	if (message) {
		ear->messages++;
		assert_int_equal(strlen(message), len);
		snprintf(ear->last, sizeof(ear->last), "%s", message);
	} else {
		ear->joined++;
	}
	if (ear->stop) {
		redissub_stop(ear->sub);
		ear->sub = NULL;
	}
	if (ear->free_pool) {
		redissub_pool_free(ear->w->pool);
		ear->w->pool = NULL;
	}
}

static void listen_to(struct world *w, struct ear *ear, struct redisendpoint *e, const char *channel)
{
	*ear = (struct ear){ .w = w };
	ear->sub = redissub_start(w->pool, e, channel, strlen(channel), on_word, ear);
	assert_int_equal(ear->joined, 0);
}

static void accept_peer(struct world *w)
{
	client_close(&w->peer);
	UNTIL(w->f, client_accept(&w->peer, w->listener));
}

static void expect_sent(struct world *w, const char *text)
{
	UNTIL(w->f, client_has(&w->peer, text));
	client_forget(&w->peer);
}

static void say(struct world *w, const char *channel, const char *message)
{
	MEM_AUTO char *text = mem_printf("*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(channel),
		channel, strlen(message), message);

	client_send(&w->peer, text);
}

static void confirm(struct world *w, const char *verb, const char *channel)
{
	MEM_AUTO char *text = mem_printf("*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:1\r\n", strlen(verb), verb,
		strlen(channel), channel);

	client_send(&w->peer, text);
}

static void expect_state(const struct ear *ear, enum redissub_state state, const char *why)
{
	const char *text;

	assert_int_equal(redissub_state(ear->sub, &text), state);
	if (!strstr(text, why))
		fail_msg("\"%s\" lacks \"%s\"", text, why);
}

static void one_connection_for_all(void **state)
{
	struct world *w = *state;
	struct redisendpoint *other = endpoint(w, 7, NULL); /* channels have no database */
	struct ear a, b, c, late;

	listen_to(w, &a, w->endpoint, "a");
	listen_to(w, &b, w->endpoint, "b");
	listen_to(w, &c, other, "a");
	assert_int_equal(fixture_descriptors(w->f), 0); /* not before the turn is over */
	expect_state(&a, REDISSUB_STARTING, "");
	accept_peer(w);
	UNTIL(w->f,
		client_has(&w->peer, "$9\r\nSUBSCRIBE\r\n$1\r\na\r\n") &&
			client_has(&w->peer, "$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n"));
	client_forget(&w->peer);
	confirm(w, "subscribe", "a");
	confirm(w, "subscribe", "b");
	UNTIL(w->f, a.joined == 1 && b.joined == 1 && c.joined == 1);
	expect_state(&a, REDISSUB_ON, "");
	say(w, "a", "rpush");
	say(w, "b", "lpush");
	UNTIL(w->f, b.messages == 1);
	assert_int_equal(a.messages, 1);
	assert_int_equal(c.messages, 1);
	assert_string_equal(b.last, "lpush");
	listen_to(w, &late, w->endpoint, "b");
	UNTIL(w->f, late.joined == 1);
	assert_int_equal(b.joined, 1);
	redissub_stop(late.sub);
	redissub_stop(b.sub);
	expect_sent(w, "$11\r\nUNSUBSCRIBE\r\n$1\r\nb\r\n");
	/*
	 * A message in transit is dropped once the channel is left; a new listener gets only later
	 * ones.
	 */
	say(w, "b", "lpush");
	listen_to(w, &b, w->endpoint, "b");
	expect_sent(w, "$9\r\nSUBSCRIBE\r\n$1\r\nb\r\n");
	confirm(w, "unsubscribe", "b");
	confirm(w, "subscribe", "b");
	UNTIL(w->f, b.joined == 1);
	assert_int_equal(b.messages, 0);
	assert_int_equal(fixture_descriptors(w->f), 1);
	redissub_stop(a.sub);
	redissub_stop(b.sub);
	redissub_stop(c.sub);
	endpoint_unref(other);
}

static void the_connection_comes_back(void **state)
{
	struct world *w = *state;
	struct ear a, b;

	listen_to(w, &a, w->endpoint, "a");
	listen_to(w, &b, w->endpoint, "b");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 1);
	client_close(&w->peer);
	UNTIL(w->f, fixture_descriptors(w->f) == 0);
	expect_state(&a, REDISSUB_FAILING, "the server closed the connection");
	redissub_stop(b.sub);
	accept_peer(w);
	expect_sent(w, "$9\r\nSUBSCRIBE\r\n$1\r\na\r\n");
	assert_false(client_has(&w->peer, "$1\r\nb\r\n"));
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 2);
	expect_state(&a, REDISSUB_ON, "");
	redissub_stop(a.sub);
}

static void passwords_come_first_and_are_not_shown(void **state)
{
	struct world *w = *state;
	struct redisendpoint *locked = endpoint(w, 3, "s3cret");
	struct ear a;

	listen_to(w, &a, locked, "a");
	accept_peer(w);
	expect_sent(w, "*2\r\n$4\r\nAUTH\r\n$6\r\ns3cret\r\n*2\r\n$9\r\nSUBSCRIBE");
	client_send(&w->peer, "-ERR unknown command 'AUTH', with args beginning with: 's3cret'\r\n");
	UNTIL(w->f, fixture_descriptors(w->f) == 0);
	expect_state(&a, REDISSUB_FAILING, "AUTH failed; the server's reply repeats the password");
	fixture_linger(w->f, 1000);
	client_close(&w->peer);
	assert_false(client_accept(&w->peer, w->listener)); /* some servers lock accounts for more attempts */
	redissub_stop(a.sub);
	endpoint_unref(locked);
	locked = endpoint(w, 3, "other");
	listen_to(w, &a, locked, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	/* it takes any */
	client_send(&w->peer, "-ERR AUTH <password> called without any password configured for the default user.\r\n");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 1);
	redissub_stop(a.sub);
	endpoint_unref(locked);
}

static void a_refused_channel_is_reported_and_others_work(void **state)
{
	struct world *w = *state;
	struct ear a, b;

	listen_to(w, &a, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "$1\r\na\r\n");
	listen_to(w, &b, w->endpoint, "b");
	expect_sent(w, "$1\r\nb\r\n");
	client_send(&w->peer,
		"-NOPERM this user has no permissions to access one of the channels used as arguments\r\n");
	confirm(w, "subscribe", "b");
	UNTIL(w->f, b.joined == 1);
	expect_state(&a, REDISSUB_REFUSED, "NOPERM this user");
	expect_state(&b, REDISSUB_ON, "");
	redissub_stop(a.sub);
	redissub_stop(b.sub);
}

static void unexpected_messages_end_the_connection(void **state)
{
	struct world *w = *state;
	struct ear a;

	listen_to(w, &a, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 1);
	say(w, "z", "whatever");
	UNTIL(w->f, fixture_descriptors(w->f) == 0);
	expect_state(&a, REDISSUB_FAILING, "a channel that is not subscribed to");
	redissub_stop(a.sub);
}

/* In a storm the channel is left and rejoined; messages in between may be missed. */
static void a_storm_mutes_the_channel(void **state)
{
	struct world *w = *state;
	struct ear a;

	listen_to(w, &a, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 1);
	for (int i = 0; i < 2 * REDISSUB_STORM; i++)
		say(w, "a", "rpush");
	expect_sent(w, "UNSUBSCRIBE");
	fixture_linger(w->f, 10);
	assert_in_range(a.messages, REDISSUB_STORM, REDISSUB_STORM + 1);
	expect_state(&a, REDISSUB_ON, "");
	confirm(w, "unsubscribe", "a");
	expect_sent(w, "$9\r\nSUBSCRIBE");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 2);
	say(w, "a", "rpush");
	UNTIL(w->f, a.messages > REDISSUB_STORM + 1 || strcmp(a.last, "rpush") == 0);
	redissub_stop(a.sub);
}

static void nonsense_ends_the_connection(void **state)
{
	static const char *const nonsense[] = { "what?\r\n", "*3\r\n$7\r\nmessage\r\n$999999999\r\n",
		"+OK\r\n+OK\r\n" };
	struct world *w = *state;
	struct ear a;

	listen_to(w, &a, w->endpoint, "a");
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		accept_peer(w);
		expect_sent(w, "SUBSCRIBE");
		client_send(&w->peer, nonsense[i]);
		UNTIL(w->f, fixture_descriptors(w->f) == 0);
		expect_state(&a, REDISSUB_FAILING, "redis at 127.0.0.1:");
	}
	/* Odd, but harmless. */
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	client_send(&w->peer, "*3\r\n$7\r\nmessage\r\n:1\r\n*0\r\n");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined > 0);
	redissub_stop(a.sub);
}

static void a_silent_close_suggests_tls(void **state)
{
	struct world *w = *state;
	struct ear a;

	listen_to(w, &a, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	client_close(&w->peer);
	UNTIL(w->f, fixture_descriptors(w->f) == 0);
	expect_state(&a, REDISSUB_FAILING, "(is TLS needed? set enableTLS)");
	redissub_stop(a.sub);
}

static void a_silent_server_is_noticed(void **state)
{
	struct world *w = *state;
	struct ear a;

	listen_to(w, &a, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	UNTIL(w->f, fixture_descriptors(w->f) == 0);
	expect_state(&a, REDISSUB_FAILING, "did not answer in time");
	redissub_stop(a.sub);
}

static void callbacks_may_stop_and_free(void **state)
{
	struct world *w = *state;
	struct ear a, b;

	listen_to(w, &a, w->endpoint, "a");
	listen_to(w, &b, w->endpoint, "a");
	accept_peer(w);
	expect_sent(w, "SUBSCRIBE");
	confirm(w, "subscribe", "a");
	UNTIL(w->f, a.joined == 1);
	a.stop = true;
	say(w, "a", "rpush");
	say(w, "a", "rpush");
	UNTIL(w->f, b.messages == 2);
	assert_int_equal(a.messages, 1);
	b.free_pool = true;
	say(w, "a", "rpush");
	say(w, "a", "rpush");
	UNTIL(w->f, client_ended(&w->peer));
	assert_int_equal(b.messages, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(one_connection_for_all),
		CASE(the_connection_comes_back),
		CASE(passwords_come_first_and_are_not_shown),
		CASE(a_refused_channel_is_reported_and_others_work),
		CASE(unexpected_messages_end_the_connection),
		CASE(a_storm_mutes_the_channel),
		CASE(nonsense_ends_the_connection),
		CASE(a_silent_close_suggests_tls),
		CASE(a_silent_server_is_noticed),
		CASE(callbacks_may_stop_and_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
