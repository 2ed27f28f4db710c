/* SPDX-License-Identifier: Apache-2.0 */
/* The five modes, and the management API's answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/rabbitmq/rabbitmqhttp.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"
#include "scalers/scaler.h"

#define LENGTH RABBITMQVALUE_QUEUE_LENGTH
#define RATE   RABBITMQVALUE_MESSAGE_RATE
#define GET    RABBITMQVALUE_DELIVER_GET_RATE
#define RATIO  RABBITMQVALUE_PUBLISHED_TO_DELIVERED
#define TIME   RABBITMQVALUE_CONSUMPTION_TIME

static const struct {
	enum rabbitmqvalue_mode mode;
	struct rabbitmqvalue_figures figures; /* messages, published, delivered */
	double activation;
	double value;
	bool active;
} rows[] = {
	{ LENGTH, { 0, 0, 0 }, 0, 0, false },
	{ LENGTH, { 5, 9, 9 }, 4, 5, true },
	{ LENGTH, { 5, 9, 9 }, 5, 5, false },
	{ RATE, { 0, 0, 0 }, 0, 0, false },
	{ RATE, { 0, 2.5, 9 }, 2, 2.5, true },
	{ RATE, { 3, 0.5, 9 }, 2, 0.5, true }, /* by the messages in the queue */
	{ RATE, { 2, 2, 9 }, 2, 2, false },
	{ GET, { 9, 9, 2 }, 2, 2, false },
	{ GET, { 9, 9, 2.5 }, 2, 2.5, true },
	{ RATIO, { 9, 0, 5 }, 0, 0, false },
	{ RATIO, { 9, 0, 0 }, 3, 0, false },
	{ RATIO, { 9, 2, 0 }, 3, 3, true }, /* no consumer */
	{ RATIO, { 9, 6, 2 }, 3, 3, false },
	{ RATIO, { 9, 6, 2 }, 2, 3, true },
	{ TIME, { 0, 0, 0 }, 0, 0, true }, /* an idle queue without consumers */
	{ TIME, { 9, 9, 0 }, 7, 7, true },
	{ TIME, { 8, 6, 2 }, 5, 6, true }, /* (6 - 2) / 2 + 8 / 2 */
	{ TIME, { 8, 6, 2 }, 6, 6, false },
	{ TIME, { 0, 1, 2 }, 0, -0.5, false },
};

static void modes(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct scaler s = { .activation = rows[i].activation };
		struct answer a = { 0 };
		struct reading r;

		rabbitmqvalue_judge(rows[i].mode, &rows[i].figures, rows[i].activation, &a);
		r = scaler_judge(&s, &a);
		if (r.value != rows[i].value || r.active != rows[i].active)
			fail_msg("row %zu: %g, %d", i, r.value, r.active);
	}
}

/* Only modes that are documented to do so depend on activationValue. */
static void only_two_modes_depend_on_activation(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct answer a = { 0 }, b = { 0 };

		rabbitmqvalue_judge(rows[i].mode, &rows[i].figures, rows[i].activation, &a);
		rabbitmqvalue_judge(rows[i].mode, &rows[i].figures, rows[i].activation + 1, &b);
		if (!rabbitmqvalue_depends_on_activation(rows[i].mode))
			assert_true(a.value == b.value && a.load == b.load && a.activity == b.activity);
	}
}

/* ---- Answers ---- */

#define STATS(p, d)                                                                                                    \
	",\"message_stats\":{\"publish\":7,\"publish_details\":{\"rate\":" p                                           \
	"},\"deliver_get\":7,\"deliver_get_details\":{\"rate\":" d "}}"
#define QUEUE(name, m, ready) "{\"name\":\"" name "\",\"messages\":" m ",\"messages_ready\":" ready

static const struct {
	struct rabbitmqhttp_question question;
	const char *body;
	struct rabbitmqvalue_figures figures;
	const char *message; /* NULL: the figures */
} answers[] = {
	{ { .queue = "q" }, QUEUE("q", "5", "3") "}", { 5, 0, 0 }, NULL },
	{ { .queue = "q", .ready_only = true }, QUEUE("q", "5", "3") "}", { 3, 0, 0 }, NULL },
	{ { .queue = "q", .rates = true }, QUEUE("q", "5", "3") STATS("1.5", "2") "}", { 5, 1.5, 2 }, NULL },
	/* Nothing was ever published, so the counters are missing. */
	{ { .queue = "q", .rates = true }, QUEUE("q", "0", "0") "}", { 0, 0, 0 }, NULL },
	{ { .queue = "q", .rates = true }, QUEUE("q", "0", "0") ",\"message_stats\":{\"publish\":7}}", { 0, 0, 0 },
		"queue \"q\": the server keeps no rates" },
	{ { .queue = "q", .rates = true }, QUEUE("q", "0", "0") STATS("\"1\"", "2") "}", { 0, 0, 0 },
		"its rate is not a number" },
	{ { .queue = "q", .rates = true }, QUEUE("q", "0", "0") STATS("1", "-2") "}", { 0, 0, 0 },
		"its rate is not a number" },
	{ { .queue = "q" }, "{\"name\":\"q\"}", { 0, 0, 0 }, "queue \"q\": it has no statistics" },
	{ { .queue = "q" }, "{\"messages\":-1}", { 0, 0, 0 }, "its number of messages is not a number from 0 on" },
	{ { .queue = "q" }, "{\"messages\":null}", { 0, 0, 0 }, "its number of messages is not a number from 0 on" },
	{ { .queue = "q" }, "[]", { 0, 0, 0 }, "the answer is not an object" },
	{ { .queue = "q" }, "{\"messages\":1", { 0, 0, 0 }, "the answer is not RabbitMQ's" },
	{ { .queue = "q" }, "<html>", { 0, 0, 0 }, "the answer is not RabbitMQ's" },
	{ { .queue = "^q", .regex = true }, "{\"items\":[],\"page_count\":0}", { 0, 0, 0 }, NULL },
	/* one was just declared, or its node is down */
	{ { .queue = "^q", .regex = true, .operation = RABBITMQHTTP_AVG },
		"{\"page_count\":1,\"items\":[{\"name\":\"new\"}," QUEUE("a", "5", "3") "}," QUEUE("b", "3",
			"3") "},{\"name\":\"down\"}]}",
		{ 4, 0, 0 }, NULL },
	{ { .queue = "^q", .regex = true, .ready_only = true },
		"{\"page_count\":1,\"items\":[{\"name\":\"new\"}," QUEUE("a", "5", "3") "}]}", { 3, 0, 0 }, NULL },
	{ { .queue = "^q", .regex = true }, "{\"page_count\":1,\"items\":[{\"name\":\"new\"},{\"name\":\"down\"}]}",
		{ 0, 0, 0 }, "queue \"down\": it has no statistics" },
	{ { .queue = "^q", .regex = true },
		"{\"page_count\":1,\"items\":[{\"name\":\"a\",\"messages\":null}," QUEUE("b", "2", "2") "}]}",
		{ 0, 0, 0 }, "queue \"a\": its number of messages is not a number from 0 on" },
	{ { .queue = "^q", .regex = true, .rates = true },
		"{\"page_count\":1,\"items\":[" QUEUE("a", "5", "3") STATS("1", "2") "}," QUEUE("b", "2", "2")
			STATS("3", "5") "}]}",
		{ 7, 4, 7 }, NULL },
	{ { .queue = "^q", .regex = true, .rates = true, .operation = RABBITMQHTTP_AVG },
		"{\"page_count\":1,\"items\":[" QUEUE("a", "5", "3") STATS("1", "2") "}," QUEUE("b", "2", "2")
			STATS("3", "5") "}]}",
		{ 3, 2, 3.5 }, NULL },
	{ { .queue = "^q", .regex = true, .rates = true, .operation = RABBITMQHTTP_MAX, .ready_only = true },
		"{\"page_count\":1,\"items\":[" QUEUE("a", "5", "3") STATS("1", "5") "}," QUEUE("b", "2", "2")
			STATS("3", "2") "}]}",
		{ 3, 3, 5 }, NULL },
	{ { .queue = "^q", .regex = true }, "{\"page_count\":2,\"items\":[" QUEUE("a", "5", "3") "}]}", { 0, 0, 0 },
		"regex \"^q\" matches more queues than can be recovered at once (raise pageSize" },
	{ { .queue = "^q", .regex = true }, QUEUE("q", "5", "3") "}", { 0, 0, 0 }, "the answer has no list of queues" },
	{ { .queue = "^q", .regex = true },
		"{\"page_count\":1,\"items\":[" QUEUE("a", "1e308", "3") "}," QUEUE("b", "1e308", "2") "}]}",
		{ 0, 0, 0 }, "queue \"^q\": the sum over the matching queues is not finite" },
	/* A Kubernetes list is not an empty page, nor is an answer without page_count. */
	{ { .queue = "^q", .regex = true }, "{\"kind\":\"List\",\"items\":[]}", { 0, 0, 0 },
		"queue \"^q\": the answer has no number of pages" },
	{ { .queue = "^q", .regex = true }, "{\"items\":[" QUEUE("q", "5", "3") "}],\"page_count\":\"2\"}", { 0, 0, 0 },
		"the answer has no number of pages" },
	{ { .queue = "^q", .regex = true }, "{\"items\":[3],\"page_count\":1}", { 0, 0, 0 },
		"the answer is not an object" },
};

static void answers_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(answers); i++) {
		struct rabbitmqvalue_figures f;
		struct err err = { 0 };
		int rc = rabbitmqhttp_read(&answers[i].question, answers[i].body, strlen(answers[i].body), &f, &err);

		if ((rc != 0) != (answers[i].message != NULL))
			fail_msg("row %zu: %s", i, err.msg);
		if (rc != 0 && !strstr(err.msg, answers[i].message))
			fail_msg("row %zu: %s", i, err.msg);
		if (rc == 0 &&
			(f.messages != answers[i].figures.messages || f.published != answers[i].figures.published ||
				f.delivered != answers[i].figures.delivered))
			fail_msg("row %zu: %g %g %g", i, f.messages, f.published, f.delivered);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes),
		cmocka_unit_test(only_two_modes_depend_on_activation),
		cmocka_unit_test(answers_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
