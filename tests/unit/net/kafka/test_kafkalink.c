/* SPDX-License-Identifier: Apache-2.0 */

/* A connection by itself: when its owner may free it. What it is for is tried by test_kafka. */

#include "../fixture.h"

#include "base/mem.h"
#include "net/identity/awsown.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkalink.h"
#include "net/web/webget.h"

struct told {
	struct kafkalink *link;
	int times;
	bool was_unused; /* in a callback */
};

static void on_answer(void *arg, struct kafkawire_reader *answer, const struct err *err)
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

/* One that failed is closed, and nothing waits for it; but those who did are told later. */
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
	kafkaendpoint_unref(terms.endpoint);
}

static void on_refused(void *arg, struct kafkawire_reader *answer, const struct err *err)
{
	struct err *out = arg;

	assert_null(answer);
	*out = *err;
}

/* What kscaled itself signs for MSK is shown to no broker that a cluster announces elsewhere. */
static void an_announced_stranger(void **state)
{
	static const char *const servers[] = { "b-1.shop.x.c2.kafka.eu-west-1.amazonaws.com:9098" };
	struct fixture *f = *state;
	struct webget *web = webget_new(f->loop, 5000);
	struct identity *own = awsown_new("eu-west-1");
	struct kafkaendpoint_config config = { .servers = servers,
		.count = 1,
		.tls = true,
		.mechanism = KAFKASASL_OAUTHBEARER,
		.identity = own,
		.region = "eu-west-1" };
	struct err err = { 0 };
	struct kafkalink_terms terms = { .loop = f->loop, .tokens = webget_tokens(web) };
	struct buf frame = BUF_INIT(1000);
	struct kafkalink *link;

	terms.endpoint = kafkaendpoint_new(&config, &err);
	assert_non_null(terms.endpoint);
	link = kafkalink_new(&terms, "127.0.0.1", fixture_dead_port());
	kafkamessages_put_coordinator(&frame, "g");
	kafkalink_ask(link, KAFKA_FIND_COORDINATOR, &frame, loop_now_ms(f->loop) + 5000, on_refused, &err);
	UNTIL(f, err.kind != ERR_NONE);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "127.0.0.1 is none of Amazon MSK's hosts"));
	kafkalink_free(link);
	kafkaendpoint_unref(terms.endpoint);
	config.servers = (const char *const[]){ "127.0.0.1:9" };
	assert_null(kafkaendpoint_new(&config, &err));
	buf_done(&frame);
	identity_unref(own);
	webget_free(web);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_announced_stranger, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("net/kafka/kafkalink", tests, NULL, NULL);
}
