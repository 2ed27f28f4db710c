/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/exposition.h"
#include "serve/traffic.h"

static void samples_are_written_as_prometheus_reads_them(void **state)
{
	static const char *const names[] = { "namespace", "metric", NULL };
	static const struct { double value; const char *text; } values[] = {
		{ 0, "0" }, { 1.5, "1.5" }, { 12345678901, "12345678901" }, { -3, "-3" }, { INFINITY, "+Inf" }, { -INFINITY, "-Inf" }, { NAN, "NaN" },
	};
	struct buf out = BUF_INIT(4096);

	(void)state;
	exposition_sample(&out, "m", names, (const char *const[]){ "a\"b", "c\\d\ne" }, 2);
	assert_string_equal(buf_text(&out), "m{namespace=\"a\\\"b\",metric=\"c\\\\d\\ne\"} 2\n");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		buf_reset(&out);
		exposition_sample(&out, "m", NULL, NULL, values[i].value);
		assert_memory_equal(buf_text(&out), "m ", 2);
		assert_memory_equal(buf_text(&out) + 2, values[i].text, strlen(values[i].text));
	}
	buf_done(&out);
}

static void requests_are_counted_by_what_they_were(void **state)
{
	struct traffic *t = traffic_new();
	struct buf out = BUF_INIT(65536);

	(void)state;
	traffic_count(t, ROUTE_SECURE, ROUTE_KIND_METRIC, "GET", 200, 100);
	traffic_count(t, ROUTE_SECURE, ROUTE_KIND_METRIC, "GET", 200, 700);
	traffic_count(t, ROUTE_SECURE, ROUTE_KIND_METRIC, "PATCH", 405, 5000001);
	traffic_count(t, ROUTE_STATUS, ROUTE_KIND_PROBE, "HEAD", 299, 1);
	traffic_write(t, &out);
	assert_non_null(strstr(buf_text(&out), "kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"GET\",code=\"200\"} 2\n"));
	assert_non_null(strstr(buf_text(&out), "kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"other\",code=\"405\"} 1\n"));
	assert_non_null(strstr(buf_text(&out), "kscaled_http_requests_total{port=\"status\",path=\"probe\",verb=\"HEAD\",code=\"other\"} 1\n"));
	assert_null(strstr(buf_text(&out), "code=\"503\""));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"0.00025\"} 1\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"0.001\"} 2\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"3\"} 2\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"+Inf\"} 3\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_count{path=\"metric\"} 3\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_sum{path=\"metric\"} 5.000801\n"));
	buf_done(&out);
	traffic_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_written_as_prometheus_reads_them),
		cmocka_unit_test(requests_are_counted_by_what_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
