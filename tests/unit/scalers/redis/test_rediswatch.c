/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watched Redis key, against a scripted server: queries, subscriptions, and the report when push
 * is off. tests/live/test_push.py uses a real one.
 */
#include "../../net/fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "scalers/redis/redisparams.h"
#include "scalers/redis/rediswatch.h"
#include "scalers/scalerbuild.h"
#include "scalers/sources.h"

#define GET "$6\r\nCONFIG\r\n$3\r\nGET\r\n$22\r\nnotify-keyspace-events\r\n"
#define ALL "Kglszh"

struct world {
	struct fixture *f;
	struct scaler_sources sources;
	int listener;
	struct client query, sub; /* the connections, in order of arrival */
	struct redisendpoint *endpoint;
	char address[64];
	struct rediswatch *watch;
	unsigned looks;
};

static struct redisendpoint *endpoint(const char *address, int database)
{
	struct redisendpoint *e =
		redisendpoint_new(&(struct redisendpoint_config){ .address = address, .database = database }, NULL);

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
	w->sources.loop = w->f->loop;
	w->sources.redis = redis_new(w->f->loop);
	rediswatch_part.begin(&w->sources);
	w->listener = fixture_listen(&port);
	w->query.fd = w->sub.fd = -1;
	snprintf(w->address, sizeof(w->address), "127.0.0.1:%u", port);
	w->endpoint = endpoint(w->address, 2);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	rediswatch_stop(w->watch);
	if (w->sources.redis_watches)
		rediswatch_part.end(&w->sources);
	pool_free(w->sources.redis);
	endpoint_unref(w->endpoint);
	client_close(&w->query);
	client_close(&w->sub);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

static void on_look(void *arg)
{
	((struct world *)arg)->looks++;
}

static struct rediswatch *start(struct world *w, enum rediswatch_notify notify, enum rediswatch_classes classes)
{
	const struct rediswatch_config config = { .key = "jobs", .notify = notify, .classes = classes };

	return rediswatch_start(w->sources.redis_watches, &config, on_look, w);
}

static void expect_report(struct world *w, enum watch_state state, const char *why)
{
	struct watch_report report = rediswatch_report(w->watch);

	if (report.state != state || (*why ? !strstr(report.why, why) : *report.why))
		fail_msg("%d \"%s\", not %d \"%s\"", report.state, report.why, state, why);
}

/* Waits for the query, and answers it. */
static void answer_setting(struct world *w, const char *reply)
{
	if (w->query.fd < 0) {
		UNTIL(w->f, client_accept(&w->query, w->listener));
		client_send(&w->query, "+OK\r\n"); /* to SELECT */
	}
	UNTIL(w->f, client_has(&w->query, GET));
	client_forget(&w->query);
	client_send(&w->query, reply);
}

static void answer_flags(struct world *w, const char *flags)
{
	MEM_AUTO char *reply = mem_printf("*2\r\n$22\r\nnotify-keyspace-events\r\n$%zu\r\n%s\r\n", strlen(flags),
		flags);

	answer_setting(w, reply);
}

static void begin(struct world *w, enum rediswatch_notify notify, enum rediswatch_classes classes)
{
	w->watch = start(w, notify, classes);
	rediswatch_set_endpoint(w->watch, w->endpoint);
	expect_report(w, WATCH_STARTING, "");
}

static void join(struct world *w)
{
	UNTIL(w->f, client_accept(&w->sub, w->listener));
	UNTIL(w->f, client_has(&w->sub, "$9\r\nSUBSCRIBE\r\n$19\r\n__keyspace@2__:jobs\r\n"));
	client_send(&w->sub, "*3\r\n$9\r\nsubscribe\r\n$19\r\n__keyspace@2__:jobs\r\n:1\r\n");
	UNTIL(w->f, w->looks > 0);
	w->looks = 0;
}

static void say(struct world *w, const char *event)
{
	MEM_AUTO char *text = mem_printf("*3\r\n$7\r\nmessage\r\n$19\r\n__keyspace@2__:jobs\r\n$%zu\r\n%s\r\n",
		strlen(event), event);

	client_send(&w->sub, text);
}

static void push_is_used_where_enabled(void **state)
{
	struct world *w = *state;

	begin(w, REDISWATCH_QUIET, REDISWATCH_LENGTHS);
	answer_flags(w, "AK");
	join(w);
	expect_report(w, WATCH_ON, "");
	say(w, "lpop");
	say(w, "expired");
	say(w, "rpush");
	UNTIL(w->f, w->looks > 0);
	fixture_linger(w->f, 20);
	assert_int_equal(w->looks, 1);
	say(w, "a-new-one"); /* rather once too many */
	UNTIL(w->f, w->looks == 2);
}

static void missing_flags_are_reported(void **state)
{
	static const struct {
		enum rediswatch_classes classes;
		const char *flags, *says;
	} rows[] = {
		{ REDISWATCH_LENGTHS, "",
			"(notify-keyspace-events is \"\"); enable them with: CONFIG SET notify-keyspace-events Kglszh "
			"(" },
		{ REDISWATCH_LENGTHS, "AE",
			"(notify-keyspace-events is \"AE\"); enable them with: CONFIG SET notify-keyspace-events "
			"KglszhAE (" },
		{ REDISWATCH_LENGTHS, "Kx", "CONFIG SET notify-keyspace-events Kglszhx (" },
		{ REDISWATCH_STREAM, "Klszh", "CONFIG SET notify-keyspace-events Kgtlszh (" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		w->looks = 0;
		begin(w, REDISWATCH_AUTO, rows[i].classes);
		answer_flags(w, rows[i].flags);
		UNTIL(w->f, rediswatch_report(w->watch).state == WATCH_OFF);
		expect_report(w, WATCH_OFF, rows[i].says);
		assert_true(rediswatch_report(w->watch).tell);
		assert_int_equal(w->looks, 1);                     /* so that it is reported soon */
		assert_false(client_accept(&w->sub, w->listener)); /* nothing subscribes */
		rediswatch_stop(w->watch);
		w->watch = NULL;
		fixture_linger(w->f, 5);
	}
}

static void some_flags_are_missing(void **state)
{
	struct world *w = *state;

	begin(w, REDISWATCH_AUTO, REDISWATCH_LENGTHS);
	answer_flags(w, "Kl");
	join(w);
	expect_report(w, WATCH_ON,
		"only some of the keyspace notifications needed (notify-keyspace-events is \"Kl\"); all of them need "
		"Kglszh");
}

/* A managed server, or a user without the right to CONFIG GET. */
static void a_server_that_refuses_config_get(void **state)
{
	struct world *w = *state;

	begin(w, REDISWATCH_QUIET, REDISWATCH_LENGTHS);
	answer_setting(w, "-NOPERM this user has no permissions to run the 'config|get' command\r\n");
	UNTIL(w->f, rediswatch_report(w->watch).state == WATCH_OFF);
	expect_report(w, WATCH_OFF,
		"does not reveal notify-keyspace-events (CONFIG GET: NOPERM this user has no permissions to run the ); "
		"if "
		"it has at least Kglszh, set notify: \"auto\"");
	assert_int_equal(w->looks, 0);
	assert_false(client_accept(&w->sub, w->listener)); /* nothing subscribes */
	rediswatch_stop(w->watch);
	fixture_linger(w->f, 5);
	begin(w, REDISWATCH_AUTO, REDISWATCH_LENGTHS);
	answer_setting(w, "-ERR unknown command 'CONFIG'\r\n");
	join(w);
	expect_report(w, WATCH_OFF, "and has sent no keyspace notification yet");
	say(w, "rpush");
	UNTIL(w->f, w->looks == 1);
	expect_report(w, WATCH_ON, "");
}

static void a_user_that_may_not_subscribe(void **state)
{
	struct world *w = *state;

	begin(w, REDISWATCH_AUTO, REDISWATCH_LENGTHS);
	answer_flags(w, ALL);
	UNTIL(w->f, client_accept(&w->sub, w->listener));
	UNTIL(w->f, client_has(&w->sub, "SUBSCRIBE"));
	client_send(&w->sub,
		"-NOPERM this user has no permissions to access one of the channels used as arguments\r\n");
	UNTIL(w->f, rediswatch_report(w->watch).state == WATCH_OFF);
	expect_report(w, WATCH_OFF, "allow it with: ACL SETUSER <user> &__keyspace@2__:*");
}

static void one_query_for_all_watches(void **state)
{
	struct world *w = *state;
	struct rediswatch *more[50];

	begin(w, REDISWATCH_QUIET, REDISWATCH_LENGTHS);
	for (size_t i = 0; i < 50; i++) {
		more[i] = start(w, REDISWATCH_QUIET, REDISWATCH_LENGTHS);
		rediswatch_set_endpoint(more[i], w->endpoint);
	}
	answer_flags(w, ALL);
	join(w);
	assert_false(client_has(&w->query, "CONFIG"));
	for (size_t i = 0; i < 50; i++) {
		assert_int_equal(rediswatch_report(more[i]).state, WATCH_ON);
		rediswatch_stop(more[i]);
	}
}

static void the_key_moves_to_another_server(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *dead = mem_printf("127.0.0.1:%u", fixture_dead_port());
	struct redisendpoint *other = endpoint(dead, 2), *same = endpoint(w->address, 2);

	w->watch = start(w, REDISWATCH_QUIET, REDISWATCH_LENGTHS);
	expect_report(w, WATCH_STARTING, ""); /* no server is known yet */
	rediswatch_set_endpoint(w->watch, other);
	UNTIL(w->f, rediswatch_report(w->watch).state == WATCH_FAILING);
	expect_report(w, WATCH_FAILING, dead);
	rediswatch_set_endpoint(w->watch, w->endpoint);
	expect_report(w, WATCH_STARTING, "");
	answer_flags(w, ALL);
	join(w);
	rediswatch_set_endpoint(w->watch, same);
	expect_report(w, WATCH_ON, ""); /* nothing has changed */
	assert_false(client_ended(&w->sub));
	rediswatch_set_endpoint(w->watch, other);
	UNTIL(w->f, client_ended(&w->sub));
	UNTIL(w->f, rediswatch_report(w->watch).state == WATCH_FAILING);
	endpoint_unref(other);
	endpoint_unref(same);
}

static void words_of_notify(void **state)
{
	static const struct {
		const char *word;
		enum rediswatch_notify notify;
	} rows[] = {
		{ "", REDISWATCH_QUIET },
		{ "auto", REDISWATCH_AUTO },
		{ "off", REDISWATCH_OFF },
	};
	struct world *w = *state;
	struct strmap metadata = { 0 };
	const struct scaler_params params = { .type = "redis", .metadata = &metadata };
	struct scaler s;
	struct err err = { 0 };

	strmap_set(&metadata, "address", "a:1");
	strmap_set(&metadata, "listName", "jobs");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strmap_set(&metadata, "notify", rows[i].word);
		assert_int_equal(scaler_build(&params, &s, NULL), 0);
		assert_int_equal(((const struct redisserver_question *)s.question->data)->notify, rows[i].notify);
		scaler_done(&s);
	}
	strmap_set(&metadata, "notify", "on");
	assert_int_equal(scaler_build(&params, &s, &err), -1);
	assert_string_equal(err.msg,
		"trigger 0 (redis): unable to set param \"notify\" value \"on\": must be one of auto, off");
	strmap_done(&metadata);
	assert_null(start(w, REDISWATCH_OFF, REDISWATCH_LENGTHS));
	rediswatch_part.end(&w->sources);
	w->sources.redis_watches = NULL;
	assert_null(start(w, REDISWATCH_AUTO, REDISWATCH_LENGTHS)); /* `kscaled check` */
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(push_is_used_where_enabled),
		CASE(missing_flags_are_reported),
		CASE(some_flags_are_missing),
		CASE(a_server_that_refuses_config_get),
		CASE(a_user_that_may_not_subscribe),
		CASE(one_query_for_all_watches),
		CASE(the_key_moves_to_another_server),
		CASE(words_of_notify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
