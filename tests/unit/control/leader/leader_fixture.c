/* SPDX-License-Identifier: Apache-2.0 */
#include "leader_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timestamp.h"

struct leader_fixture t;

const struct leader_config leader_usual = {
	.elect = true,
	.namespace_ = "kscaled",
	.lease_name = "kscaled-test",
	.identity = "me",
	.lease_duration_ms = DURATION_MS,
	.renew_deadline_ms = DEADLINE_MS,
	.retry_period_ms = RETRY_MS,
	.keda_namespace = "",
};

static void on_change(void *arg, bool leading)
{
	assert_ptr_equal(arg, &t);
	assert_int_equal(leading, t.out.leading);
	if (leading)
		t.won++;
	else
		t.lost++;
}

static void on_released(void *arg)
{
	assert_ptr_equal(arg, &t);
	assert_false(t.out.leading);
	t.released++;
}

int leader_setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof t);
	fake_start();
	return 0;
}

int leader_teardown(void **state)
{
	(void)state;
	leader_free(t.leader);
	fake_end();
	return 0;
}

void leader_next_case(void)
{
	leader_teardown(NULL);
	leader_setup(NULL);
}

void leader_start_with(const struct leader_config *config)
{
	t.leader = leader_new(fake_kube(), config, &t.out, on_change, &t);
	assert_int_equal(t.won + t.lost, 0);
	assert_false(t.out.leading);
}

void leader_start(void)
{
	leader_start_with(&leader_usual);
}

void leader_lead(void)
{
	leader_start();
	fake_advance(100);
	assert_true(t.out.leading);
	assert_int_equal(t.won, 1);
}

void leader_release_now(int64_t deadline_ms)
{
	leader_release(t.leader, deadline_ms, on_released, &t);
	assert_false(t.out.leading);
	assert_int_equal(t.released, 0);
}

void put_lease(const char *path, const char *holder, int duration_s, int64_t renewed_unix_ms, int transitions)
{
	char stamp[TIMESTAMP_TEXT_MAX];
	MEM_AUTO char *text =
		mem_printf("{\"apiVersion\":\"coordination.k8s.io/"
			   "v1\",\"kind\":\"Lease\",\"metadata\":{\"labels\":{\"team\":\"a\"}},"
			   "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"renewTime\":\"%s\","
			   "\"acquireTime\":\"2025-12-31T00:00:00.000000Z\",\"leaseTransitions\":%d}}",
			holder, duration_s, timestamp_format_micro(renewed_unix_ms, stamp), transitions);

	fake_put(path, text);
}

void thief_takes_it(void)
{
	put_lease(LEASE, "thief", 15, fake_wall_ms(), 9);
}

void somebody_labels_the_lease(void)
{
	json_t *copy = json_deep_copy(fake_object(LEASE));

	json_object_set_new(json_object_get(copy, "metadata"), "annotations", json_pack("{s:s}", "note", "x"));
	fake_put_json(LEASE, copy);
}

void assert_holder(const char *holder)
{
	assert_string_equal(fake_text(LEASE, "spec", "holderIdentity"), holder);
}

int64_t lease_number(const char *field)
{
	return json_integer_value(json_object_get(json_object_get(fake_object(LEASE), "spec"), field));
}
