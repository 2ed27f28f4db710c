/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/metric.h"

static void names(void **state)
{
	(void)state;
	assert_string_equal(metric_target_type_name(METRIC_AVERAGE_VALUE), "AverageValue");
	assert_string_equal(metric_target_type_name(METRIC_VALUE), "Value");
	assert_string_equal(metric_target_type_name(METRIC_UTILIZATION), "Utilization");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
