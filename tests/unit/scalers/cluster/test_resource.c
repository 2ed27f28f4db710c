/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the cpu and memory triggers (doc/keda.md 8.15): the metric in the HPA, and refusals
 * with their message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "scalers/scaler.h"

static int build(const char *type, const char *metric_type, const char *metadata, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = type, .index = 1, .name = "load", .metric_type = metric_type };

	return pairs_build(&params, metadata, NULL, NULL, out, err);
}

static void accepted(void **state)
{
	static const struct {
		const char *type, *metric_type, *metadata;
		enum metric_kind kind;
		const char *container;
		enum metric_target_type target_type;
		const char *target;
	} cases[] = {
		{ "cpu", "Utilization", "value=50", METRIC_RESOURCE, NULL, METRIC_UTILIZATION, "50" },
		/* as parsed by Go's strconv */
		{ "cpu", "Utilization", "value=+80", METRIC_RESOURCE, NULL, METRIC_UTILIZATION, "80" },
		{ "memory", "Utilization", "value=080", METRIC_RESOURCE, NULL, METRIC_UTILIZATION, "80" },
		{ "cpu", "AverageValue", "value=+080", METRIC_RESOURCE, NULL, METRIC_AVERAGE_VALUE, "80" },
		{ "cpu", "AverageValue", "value= 500m ", METRIC_RESOURCE, NULL, METRIC_AVERAGE_VALUE, "500m" },
		{ "memory", "AverageValue", "value=1Gi|containerName=", METRIC_RESOURCE, NULL, METRIC_AVERAGE_VALUE,
			"1Gi" },
		{ "memory", "Utilization", "value=2147483647|containerName=app", METRIC_CONTAINER_RESOURCE, "app",
			METRIC_UTILIZATION, "2147483647" },
		{ "cpu", "AverageValue", "value=1.5|containerName= side ", METRIC_CONTAINER_RESOURCE, "side",
			METRIC_AVERAGE_VALUE, "1500m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metric_spec metric;
		struct scaler s;
		struct err err = { 0 };
		char text[QUANTITY_TEXT_MAX];

		if (build(cases[i].type, cases[i].metric_type, cases[i].metadata, &s, &err))
			fail_msg("%s: %s", cases[i].metadata, err.msg);
		metric = scaler_metric_spec(&s);
		assert_int_equal(metric.kind, cases[i].kind);
		assert_string_equal(metric.name, cases[i].type); /* the HPA controller's name, not one of ours */
		assert_int_equal(metric.target_type, cases[i].target_type);
		assert_string_equal(quantity_format(metric.target, text), cases[i].target);
		if (cases[i].container)
			assert_string_equal(metric.container, cases[i].container);
		else
			assert_null(metric.container);
		assert_null(s.question);
		assert_string_equal(s.trigger_name, "load");
		scaler_done(&s);
	}
}

static void rejected(void **state)
{
	static const struct {
		const char *type, *metric_type, *metadata, *message;
	} cases[] = {
		{ "cpu", NULL, "value=50",
			"trigger 1 (cpu): unknown metric type: \"\", allowed values are 'Utilization' or "
			"'AverageValue'" },
		{ "memory", "Value", "value=50",
			"trigger 1 (memory): unknown metric type: Value, allowed values are 'Utilization' or "
			"'AverageValue'" },
		{ "cpu", "Utilization", "value=50|type=Utilization",
			"trigger 1 (cpu): scaler cpu info: The 'type' setting is DEPRECATED and is removed in v2.18 - "
			"Use 'metricType' instead." },
		{ "memory", NULL, "value=50|type=Utilization",
			"trigger 1 (memory): scaler memory info: The 'type' setting is DEPRECATED and is removed in "
			"v2.18 - Use 'metricType' instead." },
		{ "cpu", "Utilization", "containerName=a",
			"trigger 1 (cpu): missing required parameter \"value\" in [triggerMetadata]" },
		{ "cpu", "AverageValue", "value=  |containerName=a",
			"trigger 1 (cpu): missing required parameter \"value\" in [triggerMetadata]" },
		{ "cpu", "Utilization", "value=50%",
			"trigger 1 (cpu): unable to set param \"value\" value \"50%\": must be a whole number" },
		{ "cpu", "Utilization", "value=0",
			"trigger 1 (cpu): parameter \"value\": 0 is not a percentage from 1 to 2147483647" },
		{ "cpu", "Utilization", "value=2147483648",
			"trigger 1 (cpu): parameter \"value\": 2147483648 is not a percentage from 1 to 2147483647" },
		{ "memory", "AverageValue", "value=lots",
			"trigger 1 (memory): parameter \"value\": \"lots\" is not a quantity like 5, 1.5, 100m or "
			"2Gi" },
		{ "memory", "AverageValue", "value=-1",
			"trigger 1 (memory): parameter \"value\": \"-1\" must be more than 0" },
		/* the value is not taken from the environment */
		{ "memory", "AverageValue", "valueFromEnv=X",
			"trigger 1 (memory): missing required parameter \"value\" in [triggerMetadata]; no parameter "
			"is named "
			"\"valueFromEnv\" (did you mean \"value\"?)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(cases[i].type, cases[i].metric_type, cases[i].metadata, &s, &err) == 0)
			fail_msg("%s was accepted", cases[i].metadata);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
