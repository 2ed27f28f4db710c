/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/traffic.h"

static void requests_are_counted_by_kind(void **state)
{
	struct counters *c = counters_new();
	const struct traffic t = traffic_declare(c);
	struct buf out = BUF_INIT(65536);

	(void)state;
	traffic_count(&t, ROUTE_SECURE, ROUTE_KIND_METRIC, "GET", 200, 100);
	traffic_count(&t, ROUTE_SECURE, ROUTE_KIND_METRIC, "GET", 200, 700);
	traffic_count(&t, ROUTE_SECURE, ROUTE_KIND_METRIC, "PATCH", 405, 5000001);
	traffic_count(&t, ROUTE_STATUS, ROUTE_KIND_PROBE, "HEAD", 299, 1);
	counters_write(c, &out);
	assert_non_null(strstr(buf_text(&out),
		"kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"GET\",code=\"200\"} 2\n"));
	assert_non_null(strstr(buf_text(&out),
		"kscaled_http_requests_total{port=\"secure\",path=\"metric\",verb=\"other\",code=\"405\"} 1\n"));
	assert_non_null(strstr(buf_text(&out),
		"kscaled_http_requests_total{port=\"status\",path=\"probe\",verb=\"HEAD\",code=\"299\"} 1\n"));
	assert_null(strstr(buf_text(&out), "code=\"503\""));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"0.00025\"} 1\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"0.001\"} 2\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"3\"} 2\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_bucket{path=\"metric\",le=\"+Inf\"} 3\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_count{path=\"metric\"} 3\n"));
	assert_non_null(strstr(buf_text(&out), "duration_seconds_sum{path=\"metric\"} 5.000801"));
	buf_done(&out);
	counters_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_counted_by_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
