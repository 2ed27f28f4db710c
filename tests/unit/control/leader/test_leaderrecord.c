/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "control/leader/leaderrecord.h"

static void records(void **state)
{
	struct leaderrecord r = { 0 };
	struct lease lease = { .holder = mem_dup("a"), .duration_s = 15, .renewed_unix_ms = 1000 };

	(void)state;
	assert_false(leaderrecord_held(&r));
	assert_true(leaderrecord_see(&r, &lease, 100));
	assert_true(leaderrecord_held_by(&r, "a"));
	assert_false(leaderrecord_held_by(&r, "ab"));
	assert_false(leaderrecord_expired(&r, 100 + 14999));
	assert_true(leaderrecord_alive(&r, 100 + 14999)); /* its times are of 1970 */
	assert_true(leaderrecord_expired(&r, 100 + 15000));
	assert_false(leaderrecord_alive(&r, 100 + 15000));
	lease = (struct lease){ .holder = mem_dup("a"),
		.duration_s = 15,
		.renewed_unix_ms = 1000,
		.resource_version = mem_dup("8") };
	assert_false(leaderrecord_see(&r, &lease, 5000));
	assert_true(leaderrecord_expired(&r, 100 + 15000));
	assert_true(leaderrecord_see(&r, NULL, 6000));
	assert_false(leaderrecord_held(&r));
	/* A duration that would overflow, and none at all. */
	lease = (struct lease){ .holder = mem_dup("a"), .duration_s = INT64_MAX };
	assert_true(leaderrecord_see(&r, &lease, 7000));
	assert_false(leaderrecord_expired(&r, 7000 + 86400000));
	lease = (struct lease){ .holder = mem_dup("a"), .duration_s = -5 };
	assert_true(leaderrecord_see(&r, &lease, 7000));
	assert_true(leaderrecord_expired(&r, 7000));
	leaderrecord_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
