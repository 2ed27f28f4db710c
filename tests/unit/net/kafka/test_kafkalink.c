/* SPDX-License-Identifier: Apache-2.0 */

/* A link by itself: when its owner may free it. test_kafka tests its use. */

#include "../fixture.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/identity/awsown.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkalink.h"
#include "net/kafka/kafkawire.h"
#include "net/sign/salter.h"
#include "net/web/webtoken.h"

struct told {
	struct kafkalink *link;
	int times;
	bool was_unused; /* in a callback */
};

static void on_answer(void *arg, struct wire *answer, const struct err *err)
{
	struct told *t = arg;

	assert_null(answer);
	assert_int_equal(err->kind, ERR_TEMPORARY);
	t->times++;
	t->was_unused |= kafkalink_is_unused(t->link);
}

static void ask(struct fixture *f, struct told *t)
{
	struct buf frame = BUF_INIT(1000);

	kafkamessages_put_coordinator(&frame, "g");
	kafkalink_ask(t->link, KAFKA_FIND_COORDINATOR, &frame, loop_now_ms(f->loop) + 5000, on_answer, t);
	buf_done(&frame);
}

/* A failed link is closed and has no requests, but callbacks are still due. */
static void unused(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct kafkalink_terms terms = { .loop = f->loop };
	uint16_t port = fixture_dead_port();
	struct told told = { 0 };

	terms.endpoint =
		kafkaendpoint_new(&(struct kafkaendpoint_config){ .servers = (const char *const[]){ "127.0.0.1:9" },
					  .count = 1 },
			&err);
	assert_non_null(terms.endpoint);
	told.link = kafkalink_new(&terms, "127.0.0.1", port);
	assert_true(kafkalink_is_unused(told.link));
	ask(f, &told);
	ask(f, &told);
	assert_false(kafkalink_is_unused(told.link));
	UNTIL(f, told.times == 2);
	assert_false(told.was_unused);
	assert_true(kafkalink_is_unused(told.link));
	kafkalink_free(told.link);
	endpoint_unref(terms.endpoint);
}

static void on_refused(void *arg, struct wire *answer, const struct err *err)
{
	struct err *out = arg;

	assert_null(answer);
	*out = *err;
}

/* kscaled's own signature for MSK is not sent to a broker advertised outside of MSK. */
static void own_credentials_stay_with_msk(void **state)
{
	static const char *const servers[] = { "b-1.shop.x.c2.kafka.eu-west-1.amazonaws.com:9098" };
	struct fixture *f = *state;
	struct webclient *web = webclient_new(f->loop, 5000);
	struct webtoken_store *tokens = webtoken_store_new(f->loop, web, NULL);
	struct identity *own = awsown_new("eu-west-1");
	struct kafkaendpoint_config config = { .servers = servers,
		.count = 1,
		.tls = true,
		.mechanism = KAFKASASL_OAUTHBEARER,
		.identity = own,
		.region = "eu-west-1" };
	struct err err = { 0 };
	struct kafkalink_terms terms = { .loop = f->loop, .tokens = tokens };
	struct buf frame = BUF_INIT(1000);
	struct kafkalink *link;

	terms.endpoint = kafkaendpoint_new(&config, &err);
	assert_non_null(terms.endpoint);
	link = kafkalink_new(&terms, "127.0.0.1", fixture_dead_port());
	kafkamessages_put_coordinator(&frame, "g");
	kafkalink_ask(link, KAFKA_FIND_COORDINATOR, &frame, loop_now_ms(f->loop) + 5000, on_refused, &err);
	UNTIL(f, err.kind != ERR_NONE);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "127.0.0.1 is not one of Amazon MSK's hosts"));
	kafkalink_free(link);
	endpoint_unref(terms.endpoint);
	config.servers = (const char *const[]){ "127.0.0.1:9" };
	assert_null(kafkaendpoint_new(&config, &err));
	buf_done(&frame);
	identity_unref(own);
	webtoken_store_free(tokens);
	webclient_free(web);
}

/* ---- A broker, by hand ---- */

struct broker {
	struct fixture *f;
	int listener;
	uint16_t port;
	struct client peer;
	struct kafkalink_terms terms;
	struct kafkalink *link;
};

static void broker_start(struct broker *b, struct fixture *f, enum kafkasasl_mechanism mechanism)
{
	struct err err = { 0 };

	*b = (struct broker){ .f = f, .terms = { .loop = f->loop } };
	b->listener = fixture_listen(&b->port);
	b->terms.salter = salter_new(f->loop);
	b->terms.endpoint =
		kafkaendpoint_new(&(struct kafkaendpoint_config){ .servers = (const char *const[]){ "127.0.0.1:9" },
					  .count = 1,
					  .mechanism = mechanism,
					  .username = "u",
					  .password = "p" },
			&err);
	assert_non_null(b->terms.endpoint);
	b->link = kafkalink_new(&b->terms, "127.0.0.1", b->port);
}

static void broker_end(struct broker *b)
{
	client_close(&b->peer);
	close(b->listener);
	kafkalink_free(b->link);
	salter_free(b->terms.salter);
	endpoint_unref(b->terms.endpoint);
}

static void broker_send(struct broker *b, const struct buf *bytes)
{
	assert_int_equal(send(b->peer.fd, bytes->data, bytes->len, MSG_NOSIGNAL), bytes->len);
}

/* A frame; body: what follows the correlation id. */
static void broker_answer(struct broker *b, int32_t correlation, struct buf *body)
{
	struct buf frame = BUF_INIT(10000);

	kafkawire_put_i32(&frame, (int32_t)body->len + 4);
	kafkawire_put_i32(&frame, correlation);
	buf_append(&frame, body->data, body->len);
	broker_send(b, &frame);
	buf_done(&frame);
	buf_done(body);
}

/* Finds the client's name in what has arrived, which contains NULs. NULL: not yet. */
static const char *broker_find(struct broker *b, const char *text)
{
	client_has(&b->peer, text);
	return b->peer.got.len > 0 ? memmem(b->peer.got.data, b->peer.got.len, text, strlen(text)) : NULL;
}

/* Waits for the next request; each contains the client's name. */
static void broker_hear(struct broker *b)
{
	UNTIL(b->f, broker_find(b, "kscaled"));
	client_forget(&b->peer);
}

static void broker_greet(struct broker *b, int32_t correlation)
{
	static const int16_t apis[] = { 18, 3, 10, 9, 2, 17, 36 };
	struct buf body = BUF_INIT(1000);

	UNTIL(b->f, client_accept(&b->peer, b->listener));
	broker_hear(b);
	kafkawire_put_i16(&body, 0);
	kafkawire_put_i32(&body, (int32_t)MEM_COUNT(apis));
	for (size_t i = 0; i < MEM_COUNT(apis); i++) {
		kafkawire_put_i16(&body, apis[i]);
		kafkawire_put_i16(&body, 0);
		kafkawire_put_i16(&body, 9);
	}
	broker_answer(b, correlation, &body);
	broker_hear(b);
}

struct heard {
	int times;
	struct err err;
};

static void on_heard(void *arg, struct wire *answer, const struct err *err)
{
	struct heard *h = arg;

	(void)answer;
	h->times++;
	h->err = err ? *err : (struct err){ 0 };
}

static void broker_be_asked_within(struct broker *b, struct heard *h, int64_t patience_ms)
{
	struct buf frame = BUF_INIT(1000);

	kafkamessages_put_coordinator(&frame, "g");
	*h = (struct heard){ 0 };
	kafkalink_ask(b->link, KAFKA_FIND_COORDINATOR, &frame, loop_now_ms(b->f->loop) + patience_ms, on_heard, h);
	buf_done(&frame);
}

static void broker_be_asked(struct broker *b, struct heard *h)
{
	broker_be_asked_within(b, h, PATIENCE_MS);
}

#define UNEXPECTED "the broker sent an unexpected answer"

/* Rejected early: one byte when no answer is due, eight bytes of another answer. */
static void unexpected_answers(void **state)
{
	struct buf body = BUF_INIT(100), bytes = BUF_INIT(100);
	struct broker b;
	struct heard h;

	broker_start(&b, *state, KAFKASASL_NONE);
	broker_be_asked(&b, &h);
	broker_greet(&b, 1);
	kafkawire_put_i32(&bytes, 4 << 20);
	kafkawire_put_i32(&bytes, 7); /* 2 was expected */
	broker_send(&b, &bytes);
	UNTIL(b.f, h.times);
	assert_non_null(strstr(h.err.msg, UNEXPECTED));

	client_close(&b.peer);
	broker_be_asked(&b, &h);
	broker_greet(&b, 3);
	kafkawire_put_i32(&body, 0);
	broker_answer(&b, 4, &body);
	UNTIL(b.f, h.times);
	assert_int_equal(h.err.kind, ERR_NONE);
	assert_true(b.link->state == KAFKALINK_OPEN);
	buf_reset(&bytes);
	kafkawire_put_i8(&bytes, 0);
	broker_send(&b, &bytes);
	UNTIL(b.f, b.link->state == KAFKALINK_CLOSED);
	buf_done(&bytes);
	broker_end(&b);
}

/* Size limits of answers: this during the login, 4 MiB afterwards. */
static void answer_size_limits(void **state)
{
	struct buf bytes = BUF_INIT(100);
	struct broker b;
	struct heard h;

	broker_start(&b, *state, KAFKASASL_NONE);
	broker_be_asked(&b, &h);
	UNTIL(b.f, client_accept(&b.peer, b.listener));
	broker_hear(&b);
	kafkawire_put_i32(&bytes, 65537);
	broker_send(&b, &bytes);
	UNTIL(b.f, h.times);
	assert_non_null(strstr(h.err.msg, "larger than 64 KiB"));

	client_close(&b.peer);
	broker_be_asked(&b, &h);
	broker_greet(&b, 2);
	buf_reset(&bytes);
	kafkawire_put_i32(&bytes, (4 << 20) + 1);
	broker_send(&b, &bytes);
	UNTIL(b.f, h.times);
	assert_non_null(strstr(h.err.msg, "larger than 4096 KiB"));
	buf_done(&bytes);
	broker_end(&b);
}

/*
 * The oldest request has more time: only the younger one fails, and its answer is still expected.
 */
static void a_younger_request_is_overdue(void **state)
{
	struct buf body = BUF_INIT(100);
	struct heard oldest, hasty, last;
	struct broker b;

	broker_start(&b, *state, KAFKASASL_NONE);
	broker_be_asked(&b, &oldest);
	broker_greet(&b, 1);
	broker_be_asked_within(&b, &hasty, 20);
	broker_be_asked(&b, &last);
	UNTIL(b.f, hasty.times);
	assert_non_null(strstr(hasty.err.msg, ": no answer in time"));
	for (int32_t correlation = 2; correlation <= 4; correlation++) {
		kafkawire_put_i32(&body, 0);
		broker_answer(&b, correlation, &body);
	}
	UNTIL(b.f, last.times);
	assert_int_equal(oldest.times, 1);
	assert_int_equal(oldest.err.kind, ERR_NONE);
	assert_int_equal(hasty.times, 1);
	assert_int_equal(last.err.kind, ERR_NONE);
	assert_true(b.link->state == KAFKALINK_OPEN);
	broker_end(&b);
}

/*
 * While the password is being salted no answer is expected, not even with the last correlation id.
 */
static void unexpected_answers_while_salting(void **state)
{
	struct buf body = BUF_INIT(10000);
	MEM_AUTO char *first = NULL;
	struct broker b;
	struct heard h;
	const char *nonce;

	broker_start(&b, *state, KAFKASASL_SCRAM_SHA256);
	broker_be_asked(&b, &h);
	broker_greet(&b, 1);
	kafkawire_put_i16(&body, 0); /* SaslHandshake */
	kafkawire_put_i32(&body, 0);
	broker_answer(&b, 2, &body);
	UNTIL(b.f, (nonce = broker_find(&b, ",r=")) != NULL);
	first = mem_printf("r=%.32sx,s=c2FsdA==,i=%d", nonce + 3, SCRAM_ITERATIONS_MAX);
	for (int i = 0; i < 2; i++) {
		kafkawire_put_i16(&body, 0);
		kafkawire_put_text(&body, "");
		kafkawire_put_bytes(&body, first, strlen(first));
		broker_answer(&b, 3, &body);
	}
	UNTIL(b.f, h.times);
	assert_non_null(strstr(h.err.msg, "SaslAuthenticate: computing SCRAM's iterations"));
	assert_non_null(strstr(h.err.msg, UNEXPECTED));
	broker_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(own_credentials_stay_with_msk, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(answer_size_limits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unexpected_answers, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_younger_request_is_overdue, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unexpected_answers_while_salting, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("net/kafka/kafkalink", tests, NULL, NULL);
}
