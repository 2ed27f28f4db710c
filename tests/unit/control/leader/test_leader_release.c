/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "leader_fixture.h"

/* ---- Blocked ---- */

static void blocked_from_the_start(void **state)
{
	(void)state;
	leader_start();
	leader_set_blocked(t.leader, "the APIService points to keda/x");
	fake_advance(20000);
	assert_int_equal(t.won, 0);
	assert_null(fake_object(LEASE));
	assert_string_equal(t.out.why_not, "the APIService points to keda/x");
	assert_int_equal(fake_logged("keda/x"), 1);
	leader_set_blocked(t.leader, NULL);
	fake_advance(ROUND_MS + 100);
	assert_true(t.out.leading);
}

static void a_long_reason_is_logged_once_too(void **state)
{
	char why[400];

	(void)state;
	memset(why, 'x', sizeof why);
	why[sizeof why - 1] = '\0';
	leader_start();
	leader_set_blocked(t.leader, why);
	fake_advance(20000);
	assert_int_equal(fake_logged("xxx"), 1);
	why[0] = 'y';
	leader_set_blocked(t.leader, why);
	fake_advance(20000);
	assert_int_equal(fake_logged("yxx"), 1);
}

static void blocked_while_leading(void **state)
{
	(void)state;
	leader_lead();
	leader_set_blocked(t.leader, "for a reason");
	assert_false(t.out.leading);
	assert_int_equal(t.lost, 1);
	assert_int_equal(fake_aborts(), 1);
	fake_advance(100);
	assert_holder("");
	fake_advance(20000);
	assert_int_equal(t.won, 1);
	leader_set_blocked(t.leader, NULL);
	fake_advance(100);
	assert_true(t.out.leading);
}

static void blocked_while_taking(void **state)
{
	(void)state;
	leader_start();
	fake_advance(FAKE_ANSWER_MS + 1); /* read; the create is under way */
	assert_int_equal(fake_count(KUBE_CREATE, LEASES), 1);
	leader_set_blocked(t.leader, "for a reason");
	fake_advance(100);
	assert_int_equal(t.won, 0);
	assert_holder("");
}

/* ---- Releasing ---- */

static void releases(void **state)
{
	(void)state;
	leader_lead();
	leader_release_now(5000);
	assert_false(t.out.leading); /* at once */
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.released, 0);
	fake_advance(100);
	assert_int_equal(t.released, 1);
	assert_holder("");
	assert_int_equal(lease_number("leaseDurationSeconds"), 1);
	assert_int_equal(fake_aborts(), 1);
	fake_advance(60000);
	assert_int_equal(t.released, 1);
	assert_holder("");
}

static void releases_while_a_renewal_is_under_way(void **state)
{
	(void)state;
	for (int land = 0; land < 2; land++) {
		leader_next_case();
		fake_cancelled_land(land);
		leader_lead();
		fake_advance(RETRY_MS - 100 + FAKE_ANSWER_MS + 1);
		assert_int_equal(fake_count(KUBE_UPDATE, LEASE), 1);
		leader_release_now(5000);
		fake_advance(100);
		assert_int_equal(t.released, 1);
		assert_holder("");
	}
}

static void releases_under_another_version(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, somebody_labels_the_lease);
	leader_release_now(5000);
	fake_advance(100);
	assert_int_equal(t.released, 1);
	assert_holder("");
}

static void releases_a_lease_of_a_lost_answer(void **state)
{
	(void)state;
	fake_fail(FAKE_LOSE, KUBE_CREATE, LEASES, 1, 0);
	leader_start();
	fake_advance(100);
	assert_holder("me");
	assert_false(t.out.leading);
	leader_release_now(5000);
	fake_advance(100);
	assert_int_equal(t.released, 1);
	assert_holder("");
}

static void releases_within_its_deadline(void **state)
{
	(void)state;
	for (int leads = 0; leads < 2; leads++) {
		leader_next_case();
		if (leads)
			leader_lead();
		else
			leader_start(); /* it has read nothing */
		fake_fail(FAKE_HANG, FAKE_ANY, LEASE, FAKE_ANY, 0);
		leader_release_now(3000);
		fake_advance(2900);
		assert_int_equal(t.released, 0);
		fake_advance(101);
		assert_int_equal(t.released, 1);
	}
}

/* A former process ended without the API server; this one ends before it leads. */
static void releases_its_predecessors_lease(void **state)
{
	static const int64_t after_ms[] = { 0, FAKE_ANSWER_MS, 100 }; /* not read yet; read; kept from leading */

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		leader_next_case();
		put_lease(LEASE, "me", 15, fake_wall_ms(), 1);
		leader_start();
		leader_set_blocked(t.leader, "for a reason");
		fake_advance(after_ms[i]);
		leader_release_now(5000);
		fake_advance(100);
		assert_int_equal(t.released, 1);
		assert_int_equal(t.won, 0);
		assert_holder("");
	}
}

static void releases_nothing_of_others(void **state)
{
	(void)state;
	put_lease(LEASE, "other", 15, fake_wall_ms(), 1);
	leader_start();
	fake_advance(100);
	leader_release_now(5000);
	fake_advance(100);
	assert_int_equal(t.released, 1);
	assert_int_equal(t.lost, 0);
	assert_holder("other");
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE), 0);
}

static void releases_nothing_that_was_stolen_meanwhile(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, thief_takes_it);
	leader_release_now(5000);
	fake_advance(100);
	assert_int_equal(t.released, 1);
	assert_holder("thief");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(blocked_from_the_start),
		T(a_long_reason_is_logged_once_too),
		T(blocked_while_leading),
		T(blocked_while_taking),
		T(releases),
		T(releases_while_a_renewal_is_under_way),
		T(releases_under_another_version),
		T(releases_a_lease_of_a_lost_answer),
		T(releases_within_its_deadline),
		T(releases_its_predecessors_lease),
		T(releases_nothing_of_others),
		T(releases_nothing_that_was_stolen_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
