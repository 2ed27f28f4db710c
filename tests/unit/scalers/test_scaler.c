/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "scalers/scaler.h"

/* Strictly more than the activation threshold, of whatever the source says is to be compared. */
static void activity_is_judged_by_what_the_answer_says(void **state)
{
	static const struct {
		struct answer answer;
		bool active;
	} cases[] = {
		{ { .value = 5 }, false },
		{ { .value = 5.001 }, true },
		{ { .value = 9, .load = 5, .activity = ACTIVITY_BY_LOAD }, false },
		{ { .value = 0, .load = 6, .activity = ACTIVITY_BY_LOAD }, true },
		{ { .value = 0, .activity = ACTIVITY_ACTIVE }, true },
		{ { .value = 9, .load = 9, .activity = ACTIVITY_INACTIVE }, false },
	};
	const struct scaler s = { .activation = 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading = scaler_judge(&s, &cases[i].answer);

		assert_true(reading.value == cases[i].answer.value);
		assert_int_equal(reading.active, cases[i].active);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activity_is_judged_by_what_the_answer_says),
	};

	return cmocka_run_group_tests_name("scalers/scaler", tests, NULL, NULL);
}
