/* SPDX-License-Identifier: Apache-2.0 */
/* Names, modes and aggregations of gcp-pubsub, and the query letter for letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/google/pubsubquery.h"

#define LETTERS_50  "abcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxy"
#define LETTERS_255 LETTERS_50 LETTERS_50 LETTERS_50 LETTERS_50 LETTERS_50 "abcde"

static void names(void **state)
{
	static const struct {
		const char *name, *project, *id, *error;
	} rows[] = {
		{ "orders", NULL, "orders", NULL },
		{ "Or-d_e.r~s+1%2", NULL, "Or-d_e.r~s+1%2", NULL },
		{ LETTERS_255, NULL, LETTERS_255, NULL },
		{ "projects/my-Project-1/subscriptions/orders", "my-Project-1", "orders", NULL },
		{ "projects/my-project/topics/orders", "my-project", "orders", NULL },
		{ "or", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ LETTERS_255 "f", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "1orders", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "goog-orders", NULL, NULL, "names cannot start with \"goog\"" },
		{ "Google", NULL, NULL, "names cannot start with \"goog\"" },
		{ "projects/p1/subscriptions/goog1", NULL, NULL, "names cannot start with \"goog\"" },
		{ "projects/p1/subscriptions/", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "projects/p1/subscriptions/a/b", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "projects/p/subscriptions/orders", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "projects/my-/subscriptions/orders", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "projects/1p/subscriptions/orders", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "projects/p1/snapshots/orders", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
		{ "a' || resource.project_id != 'b", NULL, NULL, "invalid Pub/Sub resource name: it is a letter" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		char *project, *id;
		int rc = pubsubquery_name(rows[i].name, &project, &id, &err);

		if (rc != (rows[i].error ? -1 : 0) || (rows[i].error && !strstr(err.msg, rows[i].error)))
			fail_msg("%s: %d %s", rows[i].name, rc, err.msg);
		if (rows[i].project)
			assert_string_equal(project, rows[i].project);
		else
			assert_null(project);
		if (rows[i].id)
			assert_string_equal(id, rows[i].id);
		free(project);
		free(id);
	}
}

static void modes(void **state)
{
	/* odd capitals, as KEDA's regular expressions in Go treat them */
	static const char *const rows[][2] = {
		{ "SubscriptionSize", "num_undelivered_messages" },
		{ "NumUndeliveredMessages", "num_undelivered_messages" },
		{ "OldestUnackedMessageAge", "oldest_unacked_message_age" },
		{ "oldest_unacked_message_age", "oldest_unacked_message_age" },
		{ "subscriptionSize", "subscription_size" },
		{ "HTTPCode", "http_code" },
		{ "AbcDeFg", "abc_de_fg" },
		{ "ABc", "a_bc" },
		{ "A", "a" },
		{ "Size2Big", "size2_big" },
		{ "sizeXL", "size_xl" },
		{ "aBcDe", "a_bc_de" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct pubsubquery q = { .mode = rows[i][0], .id = "s" };
		MEM_AUTO char *text = pubsubquery_text(&q, "p"),
			      *wanted = mem_printf(
				      "fetch pubsub_subscription | metric 'pubsub.googleapis.com/subscription/%s' | "
				      "filter (resource.project_id == 'p' && resource.subscription_id == 's') | "
				      "within 2m0s",
				      rows[i][1]);

		assert_int_equal(pubsubquery_check(&q, NULL), 0);
		assert_string_equal(text, wanted);
	}
}

static void whole_queries(void **state)
{
	static const struct {
		struct pubsubquery q;
		const char *end;
	} rows[] = {
		{ { .horizon_ms = 0 }, "2m0s" },
		{ { .horizon_ms = 1 }, "1ms" },
		{ { .horizon_ms = 250 }, "250ms" },
		{ { .horizon_ms = 1500 }, "1.5s" },
		{ { .horizon_ms = 1050 }, "1.05s" },
		{ { .horizon_ms = 61005 }, "1m1.005s" },
		{ { .horizon_ms = 3600000 }, "1h0m0s" },
		{ { .horizon_ms = 90061000 }, "25h1m1s" },
		{ { .aggregation = "count" }, "5m0s | align delta(3m0s) | every 3m0s | group_by [], count(value)" },
		{ { .aggregation = "mean", .horizon_ms = 30000 },
			"30s | align delta(3m0s) | every 3m0s | group_by [], mean(value)" },
		{ { .aggregation = "percentile99" },
			"5m0s | align delta(3m0s) | every 3m0s | group_by [], percentile(value, 99)" },
		{ { .aggregation = "percentile+05" },
			"5m0s | align delta(3m0s) | every 3m0s | group_by [], percentile(value, 5)" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct pubsubquery q = rows[i].q;
		MEM_AUTO char *text = NULL,
			      *wanted = mem_printf("fetch pubsub_topic | metric 'pubsub.googleapis.com/topic/"
						   "message_sizes' | filter (resource.project_id == 'my-p' && "
						   "resource.topic_id == 'orders') | within %s",
				      rows[i].end);

		q.topic = true;
		q.mode = "MessageSizes";
		q.id = "orders";
		assert_int_equal(pubsubquery_check(&q, NULL), 0);
		text = pubsubquery_text(&q, "my-p");
		assert_string_equal(text, wanted);
	}
}

static void invalid_queries(void **state)
{
	static const struct {
		const char *mode, *aggregation, *error;
	} rows[] = {
		{ "A' | x", NULL, "mode \"A' | x\" is not a metric" },
		{ "Size", "avg", "unsupported aggregation function: avg" },
		{ "Size", "Mean", "unsupported aggregation function: Mean" },
		{ "Size", "percentile", "invalid percentile value: " },
		{ "Size", "percentile101", "invalid percentile value: 101" },
		{ "Size", "percentile-1", "invalid percentile value: -1" },
		{ "Size", "percentile9x", "invalid percentile value: 9x" },
		{ "Size", "percentile99999999999999999999", "invalid percentile value: 9999" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct pubsubquery q = { .mode = rows[i].mode, .aggregation = rows[i].aggregation, .id = "s" };
		struct err err = { 0 };

		assert_int_equal(pubsubquery_check(&q, &err), -1);
		if (!strstr(err.msg, rows[i].error))
			fail_msg("%zu: %s", i, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(modes),
		cmocka_unit_test(whole_queries),
		cmocka_unit_test(invalid_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
