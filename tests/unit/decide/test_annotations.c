/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/annotations.h"

#include "../crd/given.h"

#define NONE          INT32_UNSET
#define A(key, value) "'autoscaling.keda.sh/" key "':'" value "'"

static int read_given(const char *annotations, struct annotations *out, struct err *err)
{
	char *text = mem_printf("{'metadata':{'name':'web','annotations':{%s}},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS
				"}}",
		annotations);
	struct scaledobject *so = given_scaledobject(text);
	int rc = annotations_read(so, out, err);

	scaledobject_free(so);
	free(text);
	return rc;
}

static void test_read(void **state)
{
	static const struct {
		const char *annotations;
		struct annotations wanted;
	} cases[] = {
		{ "", { false, NONE, false, false, false, false } },
		{ "'autoscaling.keda.sh/other':'x','paused':'true'", { false, NONE, false, false, false, false } },
		{ A("paused", "true"), { true, NONE, false, false, false, false } },
		{ A("paused", "false"), { false, NONE, false, false, false, false } },
		{ A("paused-replicas", "5"), { true, 5, false, false, false, false } },
		{ A("paused-replicas", "0"), { true, 0, false, false, false, false } },
		{ A("paused-replicas", "007"), { true, 7, false, false, false, false } },
		{ A("paused-replicas", "2147483647"), { true, INT32_MAX, false, false, false, false } },
		{ A("paused", "true") "," A("paused-replicas", "5"), { true, 5, false, false, false, false } },
		/* each is followed literally: KEDA would be paused */
		{ A("paused", "false") "," A("paused-replicas", "5"), { false, NONE, false, false, false, false } },
		{ A("paused-scale-in", "true"), { false, NONE, true, false, false, false } },
		{ A("paused-scale-out", "t"), { false, NONE, false, true, false, false } },
		{ A("paused-scale-in", "T") "," A("paused-scale-out", "1"), { false, NONE, true, true, false, false } },
		{ A("force-activation", "TRUE"), { false, NONE, false, false, true, false } },
		{ A("force-activation", "F"), { false, NONE, false, false, false, false } },
		{ "'scaledobject.keda.sh/transfer-hpa-ownership':'true'", { false, NONE, false, false, false, true } },
		{ "'scaledobject.keda.sh/transfer-hpa-ownership':'0'", { false, NONE, false, false, false, false } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct annotations *w = &cases[i].wanted;
		struct annotations d = { 0 };
		struct err err = { 0 };

		if (read_given(cases[i].annotations, &d, &err) < 0)
			fail_msg("%s: %s", cases[i].annotations, err.msg);
		if (d.paused != w->paused || d.paused_replicas != w->paused_replicas ||
			d.scale_in_paused != w->scale_in_paused || d.scale_out_paused != w->scale_out_paused ||
			d.force_active != w->force_active || d.transfer_hpa != w->transfer_hpa)
			fail_msg("%s: paused %d at %d, in %d, out %d, force %d, transfer %d", cases[i].annotations,
				d.paused, (int)d.paused_replicas, d.scale_in_paused, d.scale_out_paused, d.force_active,
				d.transfer_hpa);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *annotations, *message;
	} cases[] = {
		{ A("paused", "yes"),
			"metadata.annotations[autoscaling.keda.sh/paused]: \"yes\" is neither true nor false" },
		{ A("paused", ""), "metadata.annotations[autoscaling.keda.sh/paused]: \"\" is neither true nor false" },
		{ A("paused", "tRue"),
			"metadata.annotations[autoscaling.keda.sh/paused]: \"tRue\" is neither true nor false" },
		{ A("paused-scale-in", " true"),
			"metadata.annotations[autoscaling.keda.sh/paused-scale-in]: \" true\" is neither true nor "
			"false" },
		{ A("paused-scale-out", "2"),
			"metadata.annotations[autoscaling.keda.sh/paused-scale-out]: \"2\" is neither true nor false" },
		{ A("force-activation", "on"),
			"metadata.annotations[autoscaling.keda.sh/force-activation]: \"on\" is neither true nor "
			"false" },
		{ "'scaledobject.keda.sh/transfer-hpa-ownership':'y'",
			"metadata.annotations[scaledobject.keda.sh/transfer-hpa-ownership]: \"y\" is neither true nor "
			"false" },
		{ A("paused-replicas", ""),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"\" is not a whole number from 0 "
			"to 2147483647" },
		{ A("paused-replicas", "-1"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"-1\" is not a whole number from "
			"0 to 2147483647" },
		{ A("paused-replicas", "1.5"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"1.5\" is not a whole number from "
			"0 to 2147483647" },
		{ A("paused-replicas", "2147483648"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"2147483648\" is not a whole "
			"number from 0 to 2147483647" },
		{ A("paused-replicas", "99999999999999999999"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"99999999999999999999\" is not a "
			"whole number from 0 to 2147483647" },
		/* also where it would not count */
		{ A("paused", "false") "," A("paused-replicas", "x"),
			"metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"x\" is not a whole number from 0 "
			"to 2147483647" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct annotations d = { .paused_replicas = 77 };
		struct err err = { 0 };

		assert_int_equal(read_given(cases[i].annotations, &d, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
		assert_int_equal(d.paused_replicas, 77); /* untouched */
		assert_int_equal(read_given(cases[i].annotations, &d, NULL), -1);
	}
}

/* Of a ScaledJob this one annotation counts, and the others are not even read. */
static void test_read_paused(void **state)
{
	static const struct {
		const char *annotations;
		int rc;
		bool paused;
	} cases[] = {
		{ "", 0, false },
		{ A("paused", "true"), 0, true },
		{ A("paused", "1"), 0, true },
		{ A("paused", "False"), 0, false },
		{ A("paused-replicas", "5"), 0, false },
		{ A("paused", "true") "," A("paused-replicas", "x") "," A("paused-scale-in",
			  "y") "," A("force-activation", "z"),
			0, true },
		{ A("paused", "yes"), -1, false },
		{ A("paused", ""), -1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'work','annotations':{%s}}}", cases[i].annotations);
		struct scaledjob *sj = given_scaledjob(text);
		bool paused = true;
		struct err err = { 0 };

		if (annotations_read_paused(&sj->meta.annotations, &paused, &err) != cases[i].rc ||
			paused != cases[i].paused)
			fail_msg("%s: paused %d, %s", cases[i].annotations, paused, err.msg);
		if (cases[i].rc < 0) {
			assert_int_equal(err.kind, ERR_INVALID);
			assert_has(err.msg, "metadata.annotations[autoscaling.keda.sh/paused]: \"");
		}
		scaledjob_free(sj);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_read_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
