/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/mongo/mongocommand.h"
#include "net/mongo/mongolink.h"
#include "net/mongo/mongologin.h"
#include "net/mongo/mongolookup.h"
#include "net/mongo/mongoset.h"
#include "net/sign/salter.h"

#define OPEN_MS      5000 /* for the whole search, and the login */
#define HOST_MS      1000 /* at least, per host, while time is left */
#define WAITING_MAX  10000
#define LIMIT_MS     100 /* least time limit of a count, as a shorter one would fail on a busy server */
#define LIMIT_TENTHS 9   /* of the time left, so that the server's error arrives before our deadline */

enum phase { LOOKING_UP, GREETING, GREETING_OLD, LOGGING_IN, SALTING, OPEN };

struct mongo_call {
	struct pool_call base;
	const struct mongo_count *what; /* borrowed until cancelled; a cancelled call is not sent */
	mongo_fn fn;
	void *arg;
	double count;
};

struct mongo_conn {
	struct pool_slot *slot;
	struct mongoendpoint *endpoint; /* borrowed */
	struct mongolookup *lookup;     /* of an endpoint with an SRV name, at first */
	struct mongoseeds seeds;        /* its result */
	struct mongoset *search;        /* after that, until the connection is open */
	struct mongologin *login;       /* while it logs in */
	struct salter_turn salting;     /* for login */
	struct mongolink *link;         /* to the host being tried, or the one found */
	struct loop_timer whole, one;   /* time-outs of opening, and of the current host */
	int64_t until_ms;
	enum phase phase;
	bool needs_preference; /* the member is not a primary */
};

/* ---- Opening: one host after the other ---- */

static const struct mongolink_events events;

static void give_up(struct mongo_conn *c)
{
	struct err err;

	mongoset_explain(c->search, &err);
	pool_lost(c->slot, &err);
}

/* Divides the time left equally among the remaining hosts. */
static int64_t share_ms(const struct mongo_conn *c)
{
	int64_t left_ms = c->until_ms - loop_now_ms(pool_slot_loop(c->slot));
	int64_t share = left_ms / (int64_t)(1 + mongoset_left(c->search));

	share = share > HOST_MS ? share : HOST_MS;
	if (c->endpoint->connect_ms > 0 && share > c->endpoint->connect_ms)
		share = c->endpoint->connect_ms;
	return share;
}

static void try_next(struct mongo_conn *c)
{
	const struct mongoendpoint_host *host = mongoset_next(c->search);
	int64_t limit_ms;

	mongolink_free(c->link);
	c->link = NULL;
	if (!host) {
		give_up(c);
		return;
	}
	limit_ms = share_ms(c);
	c->phase = GREETING;
	loop_timer_set(&c->one, limit_ms);
	c->link = mongolink_new(pool_slot_loop(c->slot), c->endpoint, host, limit_ms, &events, c);
}

static void skip_host(struct mongo_conn *c, const struct err *why)
{
	mongoset_failed(c->search, why);
	try_next(c);
}

static const char *step_name(const struct mongo_conn *c)
{
	const char *linking = c->link ? mongolink_doing(c->link) : "connecting";

	if (c->phase == LOOKING_UP)
		return "looking up the SRV and TXT records";
	if (c->phase == LOGGING_IN || c->phase == SALTING)
		return "logging in";
	return linking ? linking : "greeting";
}

static void on_host_timeout(void *arg)
{
	struct mongo_conn *c = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: timed out%s", step_name(c),
		strcmp(step_name(c), "greeting") == 0 ? " (is it a MongoDB server? is TLS needed here?)" : "");
	skip_host(c, &err);
}

static void on_whole_timeout(void *arg)
{
	struct mongo_conn *c = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: timed out", step_name(c));
	if (c->phase == LOGGING_IN || c->phase == LOOKING_UP) {
		pool_lost(c->slot, &err);
		return;
	}
	mongoset_failed(c->search, &err);
	give_up(c);
}

/* Explains a count that expires while this connection is opening. */
static int opening(const void *connection, struct err *err)
{
	const struct mongo_conn *c = connection;

	if (c->phase == LOOKING_UP)
		return err_set(err, ERR_TEMPORARY,
			"looking up the SRV and TXT records: timed out (do the name servers answer?)");
	if (c->phase == SALTING)
		return err_set(err, ERR_TEMPORARY,
			"logging in: computing SCRAM's iterations (fewer iterations take less time): timed out");
	return err_set(err, ERR_TEMPORARY, "%s: timed out", c->phase == LOGGING_IN ? "logging in" : "connecting");
}

/* ---- Greeting and login ---- */

static struct buf message_buf(void)
{
	struct buf message = BUF_INIT((size_t)4 << 20);

	return message;
}

static const char *source_of(const struct mongo_conn *c)
{
	return c->endpoint->seed ? c->seeds.source : c->endpoint->source;
}

static void wait_for_salt(struct mongo_conn *c);

static void send_hello(struct mongo_conn *c)
{
	const struct mongoendpoint *e = c->endpoint;
	MEM_AUTO char *user = e->mechanism == MONGOENDPOINT_SCRAM ? mem_printf("%s.%s", source_of(c), e->username)
								  : NULL;
	struct buf message = message_buf();

	mongocommand_hello(&message, mongolink_number(c->link), c->phase == GREETING_OLD, user, e->app_name);
	mongolink_send(c->link, &message);
}

static void on_open(void *arg)
{
	send_hello(arg);
}

static void be_open(struct mongo_conn *c)
{
	loop_timer_cancel(&c->whole);
	loop_timer_cancel(&c->one);
	mongologin_free(c->login);
	c->login = NULL;
	mongoset_free(c->search);
	c->search = NULL;
	c->phase = OPEN;
	pool_opened(c->slot, 0);
}

static void log_in(struct mongo_conn *c, const struct mongoreply_hello *hello)
{
	struct buf message = message_buf();
	char nonce[2 * 16 + 1];

	loop_timer_cancel(&c->one);
	if (c->endpoint->mechanism == MONGOENDPOINT_NO_LOGIN) {
		be_open(c);
		return;
	}
	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, fingerprint_random(), fingerprint_random());
	c->login = mongologin_new(c->endpoint, source_of(c), hello, nonce);
	c->phase = LOGGING_IN;
	mongologin_start(c->login, mongolink_number(c->link), &message);
	mongolink_send(c->link, &message);
}

/* Servers before 4.4.2, and some compatible ones, only know the greeting's older name. */
static void take_greeting(struct mongo_conn *c, struct mongowire_document answer)
{
	struct mongoreply_status status;
	struct mongoreply_hello hello;
	struct err err;

	if (mongoreply_status(answer, &status, &err)) {
		skip_host(c, &err);
		return;
	}
	if (!status.ok && status.code == MONGOREPLY_UNKNOWN_COMMAND && c->phase == GREETING) {
		c->phase = GREETING_OLD;
		send_hello(c);
		return;
	}
	if (!status.ok) {
		mongoreply_refused(&status, "greeting", c->endpoint->password, &err);
		skip_host(c, &err);
		return;
	}
	mongoreply_hello(answer, &hello);
	if (mongoset_judge(c->search, &hello)) {
		c->needs_preference = !hello.is_primary;
		log_in(c, &hello);
	} else {
		try_next(c);
	}
	mongoreply_hello_done(&hello);
}

/* Continues the login after a step; rc is mongologin_step's. */
static void go_on(struct mongo_conn *c, int rc, struct buf *message, const struct err *err)
{
	if (rc == MONGOLOGIN_SALT)
		wait_for_salt(c);
	else if (rc > 0)
		mongolink_send(c->link, message);
	else if (rc == 0)
		be_open(c);
	else
		pool_lost(c->slot, err);
	buf_done(message);
}

static void on_salted(void *arg)
{
	struct mongo_conn *c = arg;
	struct buf message = message_buf();
	struct err err;

	c->phase = LOGGING_IN;
	loop_timer_set(&c->whole, OPEN_MS);
	go_on(c, mongologin_prove(c->login, mongolink_number(c->link), &message, &err), &message, &err);
}

/* Computing the proof does not count towards the time-out, which restarts afterwards. */
static void wait_for_salt(struct mongo_conn *c)
{
	c->phase = SALTING;
	loop_timer_cancel(&c->whole);
	c->salting.scram = mongologin_scram(c->login);
	c->salting.memory = &c->endpoint->memory;
	c->salting.fn = on_salted;
	c->salting.arg = c;
	salter_ask(pool_slot_arg(c->slot), &c->salting, endpoint_namespace(&c->endpoint->base));
}

static void take_login(struct mongo_conn *c, struct mongowire_document answer)
{
	struct buf message = message_buf();
	struct err err;
	int rc = mongologin_step(c->login, answer, mongolink_number(c->link), &message, &err);

	go_on(c, rc, &message, &err);
}

static void begin_search(struct mongo_conn *c)
{
	c->search = mongoset_new(c->endpoint, c->endpoint->seed ? &c->seeds : NULL);
	try_next(c); /* there is at least one host, so this cannot fail yet */
}

static void on_looked_up(void *arg, struct mongoseeds *seeds, const struct err *err)
{
	struct mongo_conn *c = arg;

	if (!seeds) {
		pool_lost(c->slot, err);
		return;
	}
	mongolookup_free(c->lookup);
	c->lookup = NULL;
	c->seeds = *seeds;
	begin_search(c);
}

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	struct mongo_conn *c = mem_zalloc(sizeof(*c));
	struct loop *loop = pool_slot_loop(slot);

	(void)first;
	c->slot = slot;
	c->endpoint = (struct mongoendpoint *)e;
	c->until_ms = loop_now_ms(loop) + OPEN_MS;
	loop_timer_init(&c->whole, loop, on_whole_timeout, c);
	loop_timer_init(&c->one, loop, on_host_timeout, c);
	loop_timer_set(&c->whole, OPEN_MS);
	c->phase = LOOKING_UP;
	if (c->endpoint->seed)
		c->lookup = mongolookup_new(loop, c->endpoint, on_looked_up, c);
	else
		begin_search(c);
	return c;
}

static void close_connection(void *connection)
{
	struct mongo_conn *c = connection;

	mongolink_free(c->link);
	salter_leave(&c->salting);
	mongologin_free(c->login);
	mongoset_free(c->search);
	mongolookup_free(c->lookup);
	mongoseeds_done(&c->seeds);
	loop_timer_done(&c->whole);
	loop_timer_done(&c->one);
	free(c);
}

/* ---- Asking ---- */

/* The read preference to send. A secondary needs one in the command even on a direct connection. */
static const char *preference_of(const struct mongo_conn *c)
{
	enum mongoendpoint_reads reads = c->endpoint->reads;

	if (reads == MONGOENDPOINT_PRIMARY && c->needs_preference && c->endpoint->direct)
		reads = MONGOENDPOINT_PRIMARY_PREFERRED;
	return reads == MONGOENDPOINT_PRIMARY ? NULL : mongoendpoint_reads_words[reads];
}

static int send_count(void *connection, struct pool_call *base, struct err *err)
{
	struct mongo_conn *c = connection;
	const struct mongo_call *call = (const struct mongo_call *)base;
	int64_t left_ms = base->deadline_ms - loop_now_ms(pool_slot_loop(c->slot));
	int64_t limit_ms = left_ms * LIMIT_TENTHS / 10;
	struct buf message = message_buf();

	mongocommand_count(&message, mongolink_number(c->link),
		&(struct mongocommand_count){
			.database = call->what->database,
			.collection = call->what->collection,
			.filter = &call->what->filter,
			.read_concern = call->what->read_concern,
			.read_preference = preference_of(c),
			.limit_ms = limit_ms > LIMIT_MS ? limit_ms : LIMIT_MS,
		});
	if (buf_failed(&message)) {
		buf_done(&message);
		return err_set(err, ERR_INVALID, "the query is too long");
	}
	mongolink_send(c->link, &message);
	return 0;
}

static void take_count(struct mongo_conn *c, struct mongowire_document answer)
{
	struct mongo_call *call = (struct mongo_call *)pool_slot_call(c->slot, 0);
	struct mongoreply_status status;
	struct err err;

	if (mongoreply_status(answer, &status, &err)) {
		pool_lost(c->slot, &err);
		return;
	}
	if (mongoreply_is_elsewhere(&status)) { /* lost, so that the count may be sent once more */
		mongoreply_refused(&status, "counting", c->endpoint->password, &err);
		pool_lost(c->slot, &err);
		return;
	}
	if (!status.ok) {
		mongoreply_refused(&status, "counting", c->endpoint->password, &err);
		err_keep(&call->base.err, &err);
	} else if (mongoreply_count(answer, &call->count, &err)) {
		err_keep(&call->base.err, &err);
	}
	pool_finished(&call->base, true);
}

/* A count changes nothing, so it may be sent twice. */
static bool again(struct pool_call *call)
{
	(void)call;
	return true;
}

/* ---- The link's events ---- */

static void on_answer(void *arg, struct mongowire_document answer)
{
	struct mongo_conn *c = arg;

	if (c->phase == OPEN)
		take_count(c, answer);
	else if (c->phase == LOGGING_IN)
		take_login(c, answer);
	else
		take_greeting(c, answer);
}

static void on_lost(void *arg, const struct err *why)
{
	struct mongo_conn *c = arg;
	struct err err = *why;

	if (c->phase == OPEN || c->phase == LOGGING_IN || c->phase == SALTING) {
		if (c->phase != OPEN)
			err_wrap(&err, "logging in");
		pool_lost(c->slot, &err);
	} else {
		skip_host(c, &err);
	}
}

static const struct mongolink_events events = { on_open, on_answer, on_lost };

/* ---- Users ---- */

static void tell(struct pool_call *base)
{
	struct mongo_call *call = (struct mongo_call *)base;

	call->fn(call->arg, base->err ? 0 : call->count, base->err);
}

static const struct pool_protocol protocol = {
	.name = "mongodb",
	.calls = "queries",
	.call_size = sizeof(struct mongo_call),
	.window = 1,
	.waiting_max = WAITING_MAX,
	.overdue = "no answer in time",
	.crowded = "no answer in time: other queries take too long",
	.open = open_connection,
	.opening = opening,
	.send = send_count,
	.close = close_connection,
	.again = again,
	.tell = tell,
};

struct pool *mongo_new(struct loop *loop, struct salter *salter)
{
	return pool_new(loop, &protocol, salter);
}

struct pool_call *mongo_ask(struct pool *p, struct mongoendpoint *e, const struct mongo_count *count,
	int64_t deadline_ms, mongo_fn fn, void *arg)
{
	struct mongo_call *call = mem_zalloc(sizeof(*call));

	call->what = count;
	call->fn = fn;
	call->arg = arg;
	pool_ask(p, &e->base, NULL, 0, deadline_ms, &call->base);
	return &call->base;
}
