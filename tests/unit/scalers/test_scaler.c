/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/scaler.h"

/* Active strictly above the threshold, by the quantity that the source reports. */
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

static void take_answer(void *arg, const struct answer *answer, const struct err *err)
{
	bool *good = arg;

	*good = answer != NULL;
	if (answer ? err != NULL : !err || err->kind != ERR_INVALID)
		fail_msg("an answer and an error, or none");
	if (err)
		assert_string_equal(err->msg, "a server: the value is not a finite number");
}

/* quantity_from_double would turn them into 0, which scales in. */
static void answers_must_be_finite(void **state)
{
	static const struct scaler_type type = { .name = "any" };
	static const struct {
		struct answer answer;
		bool good;
	} cases[] = {
		{ { .value = 1e308 }, true },
		{ { .value = -1 }, true },
		{ { .value = INFINITY }, false },
		{ { .value = -INFINITY }, false },
		{ { .value = NAN }, false },
		{ { .value = 1, .load = INFINITY, .activity = ACTIVITY_BY_LOAD }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct question *q = question_new(&type, mem_dup("a key"), mem_dup("a server"), NULL);
		bool good = !cases[i].good;

		scaler_ask_answer(scaler_ask_new(sizeof(struct scaler_ask),
					  &(struct scaler_ask){ .question = q, .fn = take_answer, .arg = &good }),
			&cases[i].answer, NULL);
		assert_int_equal(good, cases[i].good);
		question_unref(q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activity_is_judged_by_what_the_answer_says),
		cmocka_unit_test(answers_must_be_finite),
	};

	return cmocka_run_group_tests_name("scalers/scaler", tests, NULL, NULL);
}
