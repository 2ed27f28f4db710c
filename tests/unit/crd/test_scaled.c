/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaled.h"

#include "given.h"

static void test_of_object(void **state)
{
	struct scaledobject *so = given_scaledobject(GIVEN_SO("",
		"'scaleTargetRef':{'name':'web','envSourceContainerName':'main'},'pollingInterval':7," GIVEN_TRIGGERS));
	struct scaled of = scaled_of_object(so);

	(void)state;
	assert_int_equal(of.kind, SCALED_OBJECT);
	assert_ptr_equal(of.meta, &so->meta);
	assert_ptr_equal(of.triggers, so->spec.triggers);
	assert_int_equal(of.trigger_count, 1);
	assert_string_equal(of.env_source_container, "main");
	assert_int_equal(of.polling_interval_s, 7);
	assert_ptr_equal(of.status, &so->status);
	assert_null(of.spec_err);
	assert_ptr_equal(of.so, so);
	assert_null(of.sj);
	scaledobject_free(so);
}

static void test_of_job(void **state)
{
	struct scaledjob *sj = given_scaledjob(
		GIVEN_SJ("", GIVEN_TEMPLATE ",'envSourceContainerName':'side','minReplicaCount':'x'," GIVEN_TRIGGERS));
	struct scaled of = scaled_of_job(sj);

	(void)state;
	assert_int_equal(of.kind, SCALED_JOB);
	assert_ptr_equal(of.meta, &sj->meta);
	assert_ptr_equal(of.triggers, sj->spec.triggers);
	assert_int_equal(of.trigger_count, 1);
	assert_string_equal(of.env_source_container, "side");
	assert_int_equal(of.polling_interval_s, 30);
	assert_ptr_equal(of.status, &sj->status);
	assert_non_null(of.spec_err);
	assert_ptr_equal(of.spec_err, sj->spec_err);
	assert_ptr_equal(of.sj, sj);
	assert_null(of.so);
	scaledjob_free(sj);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(scaled_kind_name(SCALED_OBJECT), "ScaledObject");
	assert_string_equal(scaled_kind_word(SCALED_OBJECT), "scaledobject");
	assert_string_equal(scaled_kind_resource(SCALED_OBJECT), "scaledobjects");
	assert_string_equal(scaled_kind_name(SCALED_JOB), "ScaledJob");
	assert_string_equal(scaled_kind_word(SCALED_JOB), "scaledjob");
	assert_string_equal(scaled_kind_resource(SCALED_JOB), "scaledjobs");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_of_object), cmocka_unit_test(test_of_job),
		cmocka_unit_test(test_words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
