/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "leader_fixture.h"

/* ---- Acquiring ---- */

static void creates_the_lease(void **state)
{
	(void)state;
	leader_lead();
	assert_holder("me");
	assert_int_equal(lease_number("leaseTransitions"), 0);
	assert_int_equal(lease_number("leaseDurationSeconds"), 15);
	assert_string_equal(fake_text(LEASE, "spec", "acquireTime"), fake_text(LEASE, "spec", "renewTime"));
	assert_int_equal(fake_last_priority(), KUBE_URGENT);
	assert_string_equal(t.out.holder, "me");
	assert_string_equal(t.out.why_not, "");
	assert_int_equal(fake_logged("lease"), 1);
}

static void takes_a_free_lease_and_keeps_its_labels(void **state)
{
	(void)state;
	put_lease(LEASE, "", 1, fake_wall_ms(), 4);
	leader_lead();
	assert_holder("me");
	assert_int_equal(lease_number("leaseTransitions"), 5);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(json_object_get(fake_object(LEASE), "metadata"),
							    "labels"),
					    "team")),
		"a");
}

/* By our own clock since we first saw the record: its times may be of any clock. */
static void waits_until_the_record_has_not_changed_for_its_duration(void **state)
{
	(void)state;
	for (int ahead = -1; ahead <= 1; ahead++) {
		int64_t began;

		leader_next_case();
		put_lease(LEASE, "other", 20, fake_wall_ms() + ahead * 3600000, 2);
		leader_start();
		began = fake_now_ms();
		fake_advance(20000);
		assert_false(t.out.leading);
		assert_string_equal(t.out.holder, "other");
		assert_non_null(strstr(t.out.why_not, "other"));
		fake_advance(ROUND_MS + 100);
		assert_true(t.out.leading);
		assert_true(fake_now_ms() - began >= 20000);
		assert_int_equal(lease_number("leaseTransitions"), 3);
		assert_int_equal(fake_logged("other holds"), 1);
	}
}

static void a_renewed_lease_is_never_taken(void **state)
{
	(void)state;
	leader_start();
	for (int i = 0; i < 60; i++) {
		put_lease(LEASE, "other", 15, fake_wall_ms(), 2);
		fake_advance(2000);
	}
	assert_int_equal(t.won, 0);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE), 0);
	assert_true(fake_count(KUBE_GET, LEASE) >= 120000 / ROUND_MS);
	assert_true(fake_count(KUBE_GET, LEASE) <= 120000 / RETRY_MS + 1);
}

/* A change of something else (a label) is no renewal. */
static void a_new_version_alone_is_no_renewal(void **state)
{
	int64_t stamp = fake_wall_ms();

	(void)state;
	leader_start();
	for (int i = 0; i < 11; i++) {
		put_lease(LEASE, "other", 15, stamp, 2);
		fake_advance(2000);
	}
	assert_int_equal(t.won, 1);
}

static void somebody_takes_the_free_lease(void)
{
	put_lease(LEASE, "faster", 15, fake_wall_ms(), 3);
}

static void loses_the_race_for_a_free_lease(void **state)
{
	static const int verbs[] = { KUBE_UPDATE, KUBE_CREATE };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		leader_next_case();
		if (verbs[i] == KUBE_UPDATE)
			put_lease(LEASE, "", 1, fake_wall_ms(), 3);
		fake_just_before(verbs[i], LEASES, somebody_takes_the_free_lease);
		leader_start();
		fake_advance(ROUND_MS + 100);
		assert_int_equal(t.won, 0);
		assert_holder("faster");
		assert_string_equal(t.out.holder, "faster");
		assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	}
}

static void an_unreadable_lease_is_reported_once(void **state)
{
	(void)state;
	fake_fail(FAKE_REFUSE, KUBE_GET, LEASE, FAKE_ANY, 403);
	leader_start();
	fake_advance(60000);
	assert_int_equal(t.won, 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "reading the Lease failed"), 1);
	assert_non_null(strstr(t.out.why_not, "HTTP 403"));
	fake_heal();
	fake_advance(ROUND_MS + 100);
	assert_true(t.out.leading);
}

static void a_broken_lease_is_not_taken(void **state)
{
	(void)state;
	fake_put(LEASE, "{\"spec\":{\"holderIdentity\":7}}");
	leader_start();
	fake_advance(30000);
	assert_int_equal(t.won, 0);
	assert_non_null(strstr(t.out.why_not, "holderIdentity"));
}

/* ---- Renewing ---- */

static void renews_each_retry_period(void **state)
{
	unsigned before;

	(void)state;
	leader_lead();
	before = fake_count(KUBE_UPDATE, LEASE);
	fake_advance(60000);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE) - before, 30);
	assert_int_equal(fake_count(KUBE_GET, LEASE), 1);
	assert_true(fake_last_deadline_ms() <= DEADLINE_MS / 2);
	assert_int_equal(lease_number("leaseTransitions"), 0);
	assert_string_not_equal(fake_text(LEASE, "spec", "acquireTime"), fake_text(LEASE, "spec", "renewTime"));
	assert_int_equal(t.won, 1);
	assert_int_equal(t.lost, 0);
	assert_int_equal(fake_logged(""), 1);
}

/*
 * Each other write ends inside the Lease, counted from the start of the last renewal that
 * succeeded.
 */
static void keeps_writes_inside_the_lease(void **state)
{
	int64_t limit;

	(void)state;
	leader_lead();
	limit = fake_write_limit_ms();
	assert_true(limit > fake_now_ms());
	assert_true(limit < fake_now_ms() + DURATION_MS);
	fake_advance(RETRY_MS + 100);
	assert_int_equal(fake_write_limit_ms(), limit + RETRY_MS);
	fake_fail(FAKE_REFUSE, KUBE_UPDATE, LEASE, FAKE_ANY, 500);
	fake_advance(5000);
	assert_int_equal(fake_write_limit_ms(), limit + RETRY_MS);
}

static void loses_by_the_deadline(void **state)
{
	static const enum fake_fault faults[] = { FAKE_REFUSE, FAKE_HANG };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int64_t last;

		leader_next_case();
		leader_lead();
		fake_advance(4000);
		last = fake_write_limit_ms() - DURATION_MS + 1000; /* the start of the last renewal */
		fake_fail(faults[i], FAKE_ANY, LEASE, FAKE_ANY, 0);
		fake_advance(last + DEADLINE_MS - 1 - fake_now_ms());
		assert_true(t.out.leading);
		assert_int_equal(fake_aborts(), 0);
		fake_advance(2);
		assert_false(t.out.leading);
		assert_int_equal(t.lost, 1);
		assert_int_equal(fake_aborts(), 1);
		assert_int_equal(fake_write_limit_ms(), 0);
		assert_int_equal(fake_logged_at(LOG_LEVEL_WARN,
					 "stopped leading: the Lease could not be renewed for 10000 ms"),
			1);
		assert_true(fake_now_ms() < last + DURATION_MS);

		/*
		 * A candidate again: the Lease is still ours, so it resumes at once when the server
		 * is back.
		 */
		fake_advance(5000);
		fake_heal();
		fake_advance(ROUND_MS + DEADLINE_MS / 2);
		assert_int_equal(t.won, 2);
		assert_int_equal(lease_number("leaseTransitions"), 0);
	}
}

/* Also when no try happens to end just then. */
static void loses_by_the_deadline_between_two_tries(void **state)
{
	struct leader_config config = leader_usual;

	(void)state;
	config.retry_period_ms = 3500;
	leader_start_with(&config);
	fake_advance(100);
	assert_true(t.out.leading);
	fake_fail(FAKE_REFUSE, FAKE_ANY, LEASE, FAKE_ANY, 500);
	fake_advance(DEADLINE_MS - 100 - FAKE_ANSWER_MS);
	assert_true(t.out.leading);
	fake_advance(2 * FAKE_ANSWER_MS);
	assert_false(t.out.leading);
}

/*
 * A retry period apart, and sooner only after a conflict: a server in trouble must not be hammered.
 */
static void a_failed_renewal_is_tried_again_after_the_retry_period(void **state)
{
	unsigned before;

	(void)state;
	leader_lead();
	before = fake_count(KUBE_UPDATE, LEASE);
	fake_fail(FAKE_REFUSE, KUBE_UPDATE, LEASE, FAKE_ANY, 500);
	fake_advance(3 * RETRY_MS + RETRY_MS / 2);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE) - before, 3);
	assert_true(t.out.leading);
	fake_heal();
	fake_advance(RETRY_MS);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE) - before, 4);
	assert_int_equal(t.lost, 0);
}

/* So is one that met another version, when that cannot be read either. */
static void a_conflict_that_cannot_be_looked_at_waits_for_the_retry_period(void **state)
{
	unsigned before;

	(void)state;
	leader_lead();
	before = fake_count(KUBE_UPDATE, LEASE);
	fake_fail(FAKE_REFUSE, KUBE_UPDATE, LEASE, FAKE_ANY, 409);
	fake_fail(FAKE_REFUSE, KUBE_GET, LEASE, FAKE_ANY, 500);
	fake_advance(3 * RETRY_MS + RETRY_MS / 2);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE) - before, 3);
}

/* A try that hangs leaves time for another. */
static void one_hanging_renewal_does_no_harm(void **state)
{
	(void)state;
	leader_lead();
	fake_fail(FAKE_HANG, KUBE_UPDATE, LEASE, 1, 0);
	fake_advance(20000);
	assert_true(t.out.leading);
	assert_int_equal(t.lost, 0);
	assert_int_equal(fake_logged(""), 1);
}

/* The write was done but its answer lost: the next one conflicts, and finds our own write. */
static void a_lost_answer_is_no_stolen_lease(void **state)
{
	(void)state;
	leader_lead();
	fake_fail(FAKE_LOSE, KUBE_UPDATE, LEASE, 1, 0);
	fake_advance(20000);
	assert_true(t.out.leading);
	assert_int_equal(t.lost, 0);
	assert_int_equal(fake_logged(""), 1);
}

static void a_lost_answer_while_taking_is_ours_too(void **state)
{
	static const int verbs[] = { KUBE_CREATE, KUBE_UPDATE };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		leader_next_case();
		if (verbs[i] == KUBE_UPDATE)
			put_lease(LEASE, "", 1, fake_wall_ms(), 0);
		fake_fail(FAKE_LOSE, verbs[i], LEASES, 1, 0);
		leader_start();
		fake_advance(DEADLINE_MS / 2 + ROUND_MS + 100);
		assert_true(t.out.leading);
		assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, ""), 0);
		assert_int_equal(lease_number("leaseTransitions"), verbs[i] == KUBE_UPDATE ? 1 : 0);
	}
}

static void a_label_does_no_harm(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, somebody_labels_the_lease);
	fake_advance(10000);
	assert_int_equal(t.lost, 0);
	assert_int_equal(fake_logged(""), 1);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(json_object_get(fake_object(LEASE), "metadata"),
							    "annotations"),
					    "note")),
		"x");
}

static void a_deleted_lease_is_recreated(void **state)
{
	(void)state;
	leader_lead();
	fake_remove(LEASE);
	fake_advance(5000);
	assert_int_equal(t.lost, 0);
	assert_holder("me");
}

static void steps_down_when_another_holds_it(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, thief_takes_it);
	fake_advance(RETRY_MS + 100);
	assert_false(t.out.leading);
	assert_int_equal(t.lost, 1);
	assert_int_equal(fake_aborts(), 1);
	assert_string_equal(t.out.holder, "thief");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "stopped leading: thief took the Lease"), 1);
	fake_advance(10000);
	assert_holder("thief");
}

static void somebody_empties_it(void)
{
	put_lease(LEASE, "", 1, fake_wall_ms(), 9);
}

static void an_emptied_lease_is_lost_and_taken_again(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, somebody_empties_it);
	fake_advance(RETRY_MS + 100);
	assert_int_equal(t.lost, 1);
	fake_advance(ROUND_MS + 100);
	assert_int_equal(t.won, 2);
}

/*
 * Timers that come late, because the process was stopped: nothing may be believed that was known
 * before.
 */
static void stops_leading_after_a_long_sleep(void **state)
{
	unsigned updates;

	(void)state;
	leader_lead();
	updates = fake_count(KUBE_UPDATE, LEASE);
	fake_jump(60000);
	put_lease(LEASE, "other", 15, fake_wall_ms(), 1);
	fake_advance(1);
	assert_false(t.out.leading);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE), updates);
	fake_advance(ROUND_MS + 100);
	assert_string_equal(t.out.holder, "other");
}

/* ---- The same identity ---- */

static void a_restart_resumes_at_once(void **state)
{
	(void)state;
	put_lease(LEASE, "me", 15, fake_wall_ms(), 7);
	leader_lead();
	assert_int_equal(lease_number("leaseTransitions"), 7);
	assert_string_equal(fake_text(LEASE, "spec", "acquireTime"), "2025-12-31T00:00:00.000000Z");
}

static void a_restart_resumes_later_when_it_could_not_at_first(void **state)
{
	(void)state;
	put_lease(LEASE, "me", 15, fake_wall_ms(), 7);
	fake_fail(FAKE_REFUSE, KUBE_UPDATE, LEASE, 1, 500);
	leader_start();
	fake_advance(ROUND_MS + 100);
	assert_true(t.out.leading);
}

static void a_twin_renews(void)
{
	put_lease(LEASE, "me", 15, fake_wall_ms() - 1234, 0);
}

static void steps_down_for_a_twin(void **state)
{
	(void)state;
	leader_lead();
	fake_just_before(KUBE_UPDATE, LEASE, a_twin_renews);
	fake_advance(RETRY_MS + 100);
	assert_false(t.out.leading);
	assert_int_equal(fake_aborts(), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, "--identity"), 1);
	/* The twin lives. */
	for (int i = 0; i < 20; i++) {
		fake_advance(2000);
		a_twin_renews();
	}
	assert_int_equal(t.won, 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, ""), 1);
	/* And dies. */
	fake_advance(DURATION_MS);
	assert_int_equal(t.won, 1);
	fake_advance(2 * ROUND_MS);
	assert_int_equal(t.won, 2);
}

/* A Lease that looks like our own from before a restart is renewed by another process. */
static void a_twin_that_runs_already(void **state)
{
	(void)state;
	put_lease(LEASE, "me", 15, fake_wall_ms(), 7);
	fake_just_before(KUBE_UPDATE, LEASE, a_twin_renews);
	leader_start();
	fake_advance(ROUND_MS);
	assert_int_equal(t.won, 0);
	assert_int_equal(fake_count(KUBE_UPDATE, LEASE), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, "--identity"), 1);
}

/*
 * Both start at once, the twin is faster: the record under our name is not from before our start.
 */
static void a_twin_that_is_faster_at_the_start(void **state)
{
	(void)state;
	fake_just_before(KUBE_CREATE, LEASES, a_twin_renews);
	leader_start();
	fake_advance(ROUND_MS + 100);
	assert_false(t.out.leading);
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, "--identity"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(creates_the_lease),
		T(takes_a_free_lease_and_keeps_its_labels),
		T(waits_until_the_record_has_not_changed_for_its_duration),
		T(a_renewed_lease_is_never_taken),
		T(a_new_version_alone_is_no_renewal),
		T(loses_the_race_for_a_free_lease),
		T(an_unreadable_lease_is_reported_once),
		T(a_broken_lease_is_not_taken),
		T(renews_each_retry_period),
		T(keeps_writes_inside_the_lease),
		T(loses_by_the_deadline),
		T(loses_by_the_deadline_between_two_tries),
		T(a_failed_renewal_is_tried_again_after_the_retry_period),
		T(a_conflict_that_cannot_be_looked_at_waits_for_the_retry_period),
		T(one_hanging_renewal_does_no_harm),
		T(a_lost_answer_is_no_stolen_lease),
		T(a_lost_answer_while_taking_is_ours_too),
		T(a_label_does_no_harm),
		T(a_deleted_lease_is_recreated),
		T(steps_down_when_another_holds_it),
		T(an_emptied_lease_is_lost_and_taken_again),
		T(stops_leading_after_a_long_sleep),
		T(a_restart_resumes_at_once),
		T(a_restart_resumes_later_when_it_could_not_at_first),
		T(steps_down_for_a_twin),
		T(a_twin_that_runs_already),
		T(a_twin_that_is_faster_at_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
