/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kube/denial.h"

static const struct err denied = { .kind = ERR_DENIED, .http_status = 403 }, other = { .kind = ERR_MISSING },
			lost = { .kind = ERR_TEMPORARY };

static void a_lasting_denial_is_believed(void **state)
{
	struct denial d = { 0 };

	(void)state;
	assert_true(denial_may_pass(&d, &denied, 1000));
	assert_true(denial_may_pass(&d, &denied, 1000 + DENIAL_GRACE_MS - 1));
	assert_false(denial_may_pass(&d, &denied, 1000 + DENIAL_GRACE_MS));
	assert_false(denial_may_pass(&d, &denied, 1000 + 10 * DENIAL_GRACE_MS));
}

static void an_answer_resets_it(void **state)
{
	const struct err *answers[] = { NULL, &other };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct denial d = { 0 };

		assert_true(denial_may_pass(&d, &denied, 0));
		assert_false(denial_may_pass(&d, answers[i], DENIAL_GRACE_MS));
		assert_true(denial_may_pass(&d, &denied, DENIAL_GRACE_MS + 1));
	}
}

static void no_answer_changes_nothing(void **state)
{
	struct denial d = { 0 };

	(void)state;
	assert_true(denial_may_pass(&d, &denied, 0));
	assert_false(denial_may_pass(&d, &lost, DENIAL_GRACE_MS / 2));
	assert_false(denial_may_pass(&d, &denied, DENIAL_GRACE_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lasting_denial_is_believed),
		cmocka_unit_test(an_answer_resets_it),
		cmocka_unit_test(no_answer_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
