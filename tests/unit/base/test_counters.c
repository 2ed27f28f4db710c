/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/counters.h"

#define LABELS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_LABELS   ((const char *const[]){ NULL })
#define DROPPED(n)                                                                                                     \
	"# HELP kscaled_metrics_series_dropped_total Samples dropped because the limit of series was "                 \
	"reached.\n"                                                                                                   \
	"# TYPE kscaled_metrics_series_dropped_total counter\n"                                                        \
	"kscaled_metrics_series_dropped_total " #n "\n"

static void assert_page(const struct counters *c, const char *expected)
{
	struct buf page = BUF_INIT((size_t)1 << 20);

	counters_write(c, &page);
	assert_string_equal(buf_text(&page), expected);
	buf_done(&page);
}

static void counts_and_writes(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *requests = counters_declare(c, COUNTERS_COUNTER, "requests_total", "Requests.",
		LABELS("verb", "code"));
	struct counters_family *objects = counters_declare(c, COUNTERS_GAUGE, "objects", "Objects\nknown \\ now.",
		NULL);
	counters_declare(c, COUNTERS_GAUGE, "untouched", "Nothing yet.", NO_LABELS);

	(void)state;
	counters_add(requests, LABELS("GET", "200"), 1);
	counters_add(requests, LABELS("PATCH", "409"), 2);
	counters_add(requests, LABELS("GET", "200"), 1);
	counters_set(objects, NO_LABELS, 2.5);
	assert_true(counters_get(requests, LABELS("GET", "200")) == 2);
	assert_true(counters_get(requests, LABELS("GET", "404")) == 0);
	assert_page(c,
		"# HELP requests_total Requests.\n"
		"# TYPE requests_total counter\n"
		"requests_total{verb=\"GET\",code=\"200\"} 2\n"
		"requests_total{verb=\"PATCH\",code=\"409\"} 2\n"
		"# HELP objects Objects\\nknown \\\\ now.\n"
		"# TYPE objects gauge\n"
		"objects 2.5\n" DROPPED(0));
	counters_free(c);
}

static void a_second_declaration_is_the_same(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *first = counters_declare(c, COUNTERS_COUNTER, "x_total", "X.", LABELS("a"));

	(void)state;
	assert_ptr_equal(counters_declare(c, COUNTERS_COUNTER, "x_total", "Other.", LABELS("a")), first);
	assert_ptr_not_equal(counters_declare(c, COUNTERS_COUNTER, "y_total", "Y.", LABELS("a")), first);
	counters_free(c);
	counters_free(NULL);
}

static void counters_never_go_down(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *total = counters_declare(c, COUNTERS_COUNTER, "x_total", "X.", NULL);
	struct counters_family *level = counters_declare(c, COUNTERS_GAUGE, "x", "X.", NULL);

	(void)state;
	counters_add(total, NO_LABELS, 5);
	counters_add(total, NO_LABELS, -2);
	counters_add(total, NO_LABELS, NAN);
	assert_true(counters_get(total, NO_LABELS) == 5);
	counters_add(level, NO_LABELS, 5);
	counters_add(level, NO_LABELS, -7);
	assert_true(counters_get(level, NO_LABELS) == -2);
	counters_free(c);
}

static void values_are_kept_apart(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_GAUGE, "x", "X.", LABELS("a", "b"));

	(void)state;
	counters_set(f, LABELS("ab", "c"), 1);
	counters_set(f, LABELS("a", "bc"), 2);
	counters_set(f, LABELS("", "abc"), 3);
	counters_set(f, LABELS("abc", ""), 4);
	assert_true(counters_get(f, LABELS("ab", "c")) == 1);
	assert_true(counters_get(f, LABELS("a", "bc")) == 2);
	assert_true(counters_get(f, LABELS("", "abc")) == 3);
	assert_true(counters_get(f, LABELS("abc", "")) == 4);
	counters_free(c);
}

static void escapes(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_GAUGE, "x", "Say \"x\".", LABELS("a"));

	(void)state;
	counters_set(f, LABELS("q\"b\\n\nz\xFF\xC3\xA9"), 1);
	assert_page(c,
		"# HELP x Say \"x\".\n"
		"# TYPE x gauge\n"
		"x{a=\"q\\\"b\\\\n\\nz\xEF\xBF\xBD\xC3\xA9\"} 1\n" DROPPED(0));
	counters_free(c);
}

static void numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1, "1" },
		{ -3, "-3" },
		{ 1e14, "100000000000000" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.5e300, "1.5e+300" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
		{ 1767323045.25, "1767323045.25" },
	};
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_GAUGE, "x", "X.", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf page = BUF_INIT(10000);
		char line[64];
		counters_set(f, NO_LABELS, rows[i].value);
		counters_write(c, &page);
		snprintf(line, sizeof(line), "\nx %s\n", rows[i].text);
		assert_non_null(strstr(buf_text(&page), line));
		buf_done(&page);
	}
	counters_free(c);
}

static void histograms(void **state)
{
	static const double bounds[] = { 0.25, 1 };
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare_histogram(c, "took_seconds", "How long.", LABELS("a"), bounds, 2),
			       *plain = counters_declare_histogram(c, "n", "N.", NULL, bounds, 1);

	(void)state;
	counters_observe(f, LABELS("x"), 0.25);
	counters_observe(f, LABELS("x"), 0.5);
	counters_observe(f, LABELS("x"), 7);
	counters_observe(f, LABELS("y"), -1);
	counters_observe(f, LABELS("gone"), 1);
	counters_remove(f, LABELS("gone"));
	counters_observe(plain, NO_LABELS, 3);
	assert_ptr_equal(counters_declare_histogram(c, "took_seconds", "Other.", LABELS("a"), bounds, 2), f);
	assert_true(counters_get(f, LABELS("x")) == 7.75);
	assert_page(c,
		"# HELP took_seconds How long.\n"
		"# TYPE took_seconds histogram\n"
		"took_seconds_bucket{a=\"x\",le=\"0.25\"} 1\n"
		"took_seconds_bucket{a=\"x\",le=\"1\"} 2\n"
		"took_seconds_bucket{a=\"x\",le=\"+Inf\"} 3\n"
		"took_seconds_sum{a=\"x\"} 7.75\n"
		"took_seconds_count{a=\"x\"} 3\n"
		"took_seconds_bucket{a=\"y\",le=\"0.25\"} 1\n"
		"took_seconds_bucket{a=\"y\",le=\"1\"} 1\n"
		"took_seconds_bucket{a=\"y\",le=\"+Inf\"} 1\n"
		"took_seconds_sum{a=\"y\"} -1\n"
		"took_seconds_count{a=\"y\"} 1\n"
		"# HELP n N.\n"
		"# TYPE n histogram\n"
		"n_bucket{le=\"0.25\"} 0\n"
		"n_bucket{le=\"+Inf\"} 1\n"
		"n_sum 3\n"
		"n_count 1\n" DROPPED(0));
	counters_free(c);
}

static void drops(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_GAUGE, "x", "X.",
		LABELS("namespace", "name", "metric"));

	(void)state;
	counters_set(f, LABELS("n1", "web", "a"), 1);
	counters_set(f, LABELS("n1", "web", "b"), 2);
	counters_set(f, LABELS("n2", "web", "a"), 3);
	counters_set(f, LABELS("n1", "api", "a"), 4);
	counters_drop(f, "nothing", "n1", NULL, NULL);
	counters_drop(f, "name", "web", "nothing", "x");
	counters_drop(f, "name", "we", NULL, NULL);
	assert_true(counters_get(f, LABELS("n1", "web", "a")) == 1);
	counters_drop(f, "name", "web", "namespace", "n1");
	assert_true(counters_get(f, LABELS("n1", "web", "a")) == 0);
	assert_true(counters_get(f, LABELS("n1", "web", "b")) == 0);
	assert_true(counters_get(f, LABELS("n2", "web", "a")) == 3);
	assert_true(counters_get(f, LABELS("n1", "api", "a")) == 4);
	counters_remove(f, LABELS("n1", "api", "b"));
	counters_remove(f, LABELS("n1", "api", "a"));
	assert_true(counters_get(f, LABELS("n1", "api", "a")) == 0);
	assert_true(counters_get(f, LABELS("n2", "web", "a")) == 3);
	counters_drop(f, "metric", "a", NULL, NULL);
	assert_page(c, DROPPED(0));
	counters_set(f, LABELS("n1", "web", "a"), 5);
	assert_true(counters_get(f, LABELS("n1", "web", "a")) == 5);
	counters_free(c);
}

static void long_values(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_GAUGE, "x", "X.", LABELS("a", "b"));
	char text[3000];

	(void)state;
	memset(text, 'l', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t len = 0; len < sizeof(text); len += 37)
		counters_set(f, LABELS(text + len, "v"), (double)len);
	for (size_t len = 0; len < sizeof(text); len += 37)
		assert_true(counters_get(f, LABELS(text + len, "v")) == (double)len);
	counters_free(c);
}

/* A namespace's quota does not affect others, nor series without a namespace. */
static void series_have_shares(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_COUNTER, "x_total", "X.", LABELS("type", "namespace"));
	struct counters_family *g = counters_declare(c, COUNTERS_GAUGE, "y", "Y.", NULL);
	char name[16];
	int most = 0;

	(void)state;
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		counters_add(f, LABELS(name, "greedy"), 1);
		most += counters_get(f, LABELS(name, "greedy")) == 1;
	}
	assert_int_equal(most, 15000);
	counters_add(f, LABELS("redis", "modest"), 1);
	assert_true(counters_get(f, LABELS("redis", "modest")) == 1);
	counters_set(g, NO_LABELS, 1);
	assert_true(counters_get(g, NO_LABELS) == 1);
	counters_drop(f, "namespace", "greedy", NULL, NULL);
	counters_add(f, LABELS("redis", "greedy"), 1);
	assert_true(counters_get(f, LABELS("redis", "greedy")) == 1);
	counters_free(c);
}

/* Bytes of label values count, too: a hundred names of 1 MB are as many series as there may be. */
static void long_labels_count_for_more(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_COUNTER, "x_total", "X.", LABELS("type", "namespace"));
	static char name[100000];
	int most = 0;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	for (int round = 0; round < 2; round++) {
		most = 0;
		for (int i = 0; i < 1000; i++) {
			memcpy(name, (const char[]){ (char)('a' + i % 25), (char)('a' + i / 25) }, 2);
			counters_add(f, LABELS(name, "greedy"), 1);
			most += counters_get(f, LABELS(name, "greedy")) == 1;
		}
		assert_int_equal(most, 15000 / (1 + 100007 / 256));
		counters_drop(f, "namespace", "greedy", NULL, NULL); /* gives all of it back */
	}
	counters_free(c);
}

/* A registry holds at most 20,000 series; dropped ones make room again. */
static void series_are_capped(void **state)
{
	struct counters *c = counters_new();
	struct counters_family *f = counters_declare(c, COUNTERS_COUNTER, "x_total", "X.", LABELS("a"));
	struct counters_family *g = counters_declare(c, COUNTERS_GAUGE, "y", "Y.", NULL);
	struct buf page = BUF_INIT((size_t)4 << 20);
	char name[16];

	(void)state;
	for (int i = 0; i < 20010; i++) {
		snprintf(name, sizeof(name), "%d", i);
		counters_add(f, LABELS(name), 1);
	}
	counters_set(g, NO_LABELS, 1);
	assert_true(counters_get(f, LABELS("19999")) == 1);
	assert_true(counters_get(f, LABELS("20000")) == 0);
	assert_true(counters_get(g, NO_LABELS) == 0);
	counters_add(f, LABELS("5"), 1);
	assert_true(counters_get(f, LABELS("5")) == 2);
	counters_write(c, &page);
	assert_false(buf_failed(&page));
	assert_non_null(strstr(buf_text(&page), "\nkscaled_metrics_series_dropped_total 11\n"));
	counters_drop(f, "a", "7", NULL, NULL);
	counters_set(g, NO_LABELS, 1);
	assert_true(counters_get(g, NO_LABELS) == 1);
	buf_done(&page);
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_writes),
		cmocka_unit_test(a_second_declaration_is_the_same),
		cmocka_unit_test(counters_never_go_down),
		cmocka_unit_test(values_are_kept_apart),
		cmocka_unit_test(escapes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(histograms),
		cmocka_unit_test(drops),
		cmocka_unit_test(long_values),
		cmocka_unit_test(series_are_capped),
		cmocka_unit_test(series_have_shares),
		cmocka_unit_test(long_labels_count_for_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
