/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "leader_fixture.h"

static struct leader_config beside_keda(void)
{
	struct leader_config config = leader_usual;

	config.keda_namespace = "keda";
	return config;
}

static void start_beside_keda(void)
{
	struct leader_config config = beside_keda();

	leader_start_with(&config);
}

static void waits_for_keda(void **state)
{
	(void)state;
	put_lease(KEDA_LEASE, "keda-pod_1", 15, fake_wall_ms(), 1);
	start_beside_keda();
	fake_advance(10000);
	assert_int_equal(t.won, 0);
	assert_null(fake_object(LEASE)); /* nor is the Lease taken */
	assert_non_null(strstr(t.out.why_not, "keda-pod_1"));
	assert_int_equal(fake_logged("keda-pod_1"), 1);
	/* KEDA's operator is killed: it leaves its Lease behind. */
	fake_advance(DURATION_MS - 10000 + ROUND_MS + 100);
	assert_true(t.out.leading);
}

/* By changes, not by its times: our clock, or KEDA's, may be wrong. */
static void keda_lease_verdicts(void **state)
{
	static const struct {
		const char *holder;
		int64_t renewed_ago_ms;
		bool leads_at_once;
	} cases[] = {
		{ "keda", 0, false },
		{ "keda", 16000, false },
		{ "keda", 86400000, false },
		{ "keda", -3600000, false },
		{ "", 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		leader_next_case();
		put_lease(KEDA_LEASE, cases[i].holder, 15, fake_wall_ms() - cases[i].renewed_ago_ms, 1);
		start_beside_keda();
		fake_advance(DURATION_MS - 100);
		if (t.out.leading != cases[i].leads_at_once)
			fail_msg("case %zu: leading is %d", i, t.out.leading);
		fake_advance(ROUND_MS + 200);
		assert_true(t.out.leading);
	}
}

static void beside_keda_with_another_clock_it_never_leads(void **state)
{
	static const int64_t behind_ms[] = { -3600000, 0, 3600000, 400 * INT64_C(86400000) };

	(void)state;
	for (size_t i = 0; i < sizeof behind_ms / sizeof *behind_ms; i++) {
		leader_next_case();
		put_lease(KEDA_LEASE, "keda", 15, fake_wall_ms() - behind_ms[i], 1);
		start_beside_keda();
		for (int round = 0; round < 20; round++) {
			fake_advance(2000);
			put_lease(KEDA_LEASE, "keda", 15, fake_wall_ms() - behind_ms[i], 1);
			assert_int_equal(t.won, 0);
		}
	}
}

static void keda_comes_up_while_leading(void **state)
{
	(void)state;
	start_beside_keda();
	fake_advance(1000);
	assert_true(t.out.leading);
	put_lease(KEDA_LEASE, "keda", 15, fake_wall_ms(), 1);
	fake_advance(10000);
	assert_false(t.out.leading);
	assert_int_equal(t.lost, 1);
	assert_holder(""); /* released: the record is true */
	assert_int_equal(fake_logged("stopped leading: KEDA"), 1);
}

static void unblock(void)
{
	leader_set_blocked(t.leader, NULL);
}

static void freed_while_keda_is_looked_at_it_goes_on_with_one_round(void **state)
{
	(void)state;
	start_beside_keda();
	leader_set_blocked(t.leader, "for a reason");
	fake_just_before(KUBE_GET, KEDA_LEASE, unblock);
	fake_advance(100);
	assert_true(t.out.leading);
	assert_string_equal(t.out.holder, leader_usual.identity);
	assert_int_equal(fake_count(KUBE_GET, KEDA_LEASE), 1);
	assert_int_equal(fake_count(KUBE_GET, LEASE), 1);
}

static void keda_lease_that_is_missing_or_denied(void **state)
{
	(void)state;
	start_beside_keda(); /* missing */
	fake_advance(100);
	assert_true(t.out.leading);
	leader_next_case();
	fake_fail(FAKE_REFUSE, KUBE_GET, KEDA_LEASE, FAKE_ANY, 403);
	start_beside_keda();
	fake_advance(3000);
	assert_false(t.out.leading); /* the API server may have just started, and KEDA be at work */
	fake_advance(60000);
	assert_true(t.out.leading);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "keda"), 1);
}

static void an_unreadable_keda_lease_holds_back_but_takes_nothing_away(void **state)
{
	(void)state;
	fake_fail(FAKE_REFUSE, KUBE_GET, KEDA_LEASE, FAKE_ANY, 500);
	start_beside_keda();
	fake_advance(20000);
	assert_int_equal(t.won, 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 1);
	fake_heal();
	fake_advance(ROUND_MS + 100);
	assert_int_equal(t.won, 1);
	fake_fail(FAKE_REFUSE, KUBE_GET, KEDA_LEASE, FAKE_ANY, 500);
	fake_advance(60000);
	assert_int_equal(t.lost, 0);
}

static void takes_over_from_keda_with_the_option(void **state)
{
	struct leader_config config = beside_keda();

	(void)state;
	config.take_over = true;
	put_lease(KEDA_LEASE, "keda", 15, fake_wall_ms(), 1);
	leader_start_with(&config);
	fake_advance(100);
	assert_true(t.out.leading);
}

/* In KEDA's own namespace under KEDA's name it is one Lease, and the election covers it. */
static void the_same_lease_is_plain_election(void **state)
{
	struct leader_config config = beside_keda();

	(void)state;
	config.namespace_ = "keda";
	config.lease_name = "operator.keda.sh";
	leader_start_with(&config);
	fake_advance(30000);
	assert_true(t.out.leading);
	assert_int_equal(t.lost, 0);
	assert_int_equal(fake_count(KUBE_GET, KEDA_LEASE), 1);
}

static void without_election(void **state)
{
	struct leader_config config = beside_keda();

	(void)state;
	config.elect = false;
	leader_start_with(&config);
	fake_advance(100);
	assert_true(t.out.leading);
	assert_null(fake_object(LEASE));
	assert_int_equal(fake_write_limit_ms(), 0);
	put_lease(KEDA_LEASE, "keda", 15, fake_wall_ms(), 1);
	fake_advance(10100);
	assert_false(t.out.leading);
	fake_advance(DURATION_MS + ROUND_MS);
	assert_true(t.out.leading);
	leader_release_now(1000);
	assert_int_equal(t.released, 0);
	fake_advance(1);
	assert_int_equal(t.released, 1);
	assert_int_equal(fake_count(FAKE_ANY, LEASES), 0);
}

static void freed_in_any_state(void **state)
{
	(void)state;
	leader_free(NULL);
	for (int64_t ms = 0; ms < 12; ms++) {
		leader_next_case();
		start_beside_keda();
		fake_advance(ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(waits_for_keda),
		T(keda_lease_verdicts),
		T(beside_keda_with_another_clock_it_never_leads),
		T(keda_comes_up_while_leading),
		T(freed_while_keda_is_looked_at_it_goes_on_with_one_round),
		T(keda_lease_that_is_missing_or_denied),
		T(an_unreadable_keda_lease_holds_back_but_takes_nothing_away),
		T(takes_over_from_keda_with_the_option),
		T(the_same_lease_is_plain_election),
		T(without_election),
		T(freed_in_any_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
