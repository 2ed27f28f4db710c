/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/nearnames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cache.h"

static void slips_are_near_and_others_are_not(void **state)
{
	static const struct {
		const char *a, *b;
		bool near;
	} cases[] = {
		{ "worker", "worker", true },
		{ "wroker", "worker", true },
		{ "workr", "worker", true },
		{ "workers", "worker", true },
		{ "warkar", "worker", true },
		{ "wbe", "web", true },
		{ "web", "api", false },
		{ "we", "api", false },
		{ "work", "worker", true },
		{ "order-worker", "worker", true },
		{ "worker", "payments", false },
		{ "abcdef", "abcxyz", false },
		{ "", "web", false },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (nearnames_near(cases[i].a, cases[i].b) != cases[i].near ||
			nearnames_near(cases[i].b, cases[i].a) != cases[i].near)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	}
}

static void the_sentence(void **state)
{
	static char shop[] = "shop", wen[] = "wen";
	static const struct scaledjob sj = { .meta = { .namespace_ = shop, .name = wen } };
	static const struct {
		enum nearnames_kind kind;
		const char *namespace_, *name, *text;
		bool no_object, has_job, unsynced, jobs_unsynced;
	} cases[] = {
		{ NEARNAMES_SCALEDOBJECT, "shop", "wbe", "no ScaledObject \"shop/wbe\" is known; near it: shop/web",
			false, false, false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "web", "no ScaledObject \"bank/web\" is known; near it: shop/web",
			false, false, false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "api",
			"no ScaledObject \"bank/api\" is known; there are some in shop", false, false, false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "api", "no ScaledObject \"bank/api\" is known, nor any other", true,
			false, false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "api",
			"no ScaledObject \"bank/api\" is known; the ScaledObjects were not read yet: forbidden", true,
			false, true, true },
		{ NEARNAMES_ANY, "shop", "wbe", "no ScaledObject or ScaledJob \"shop/wbe\" is known; near it: shop/web",
			false, false, false, false },
		{ NEARNAMES_ANY, "shop", "we",
			"no ScaledObject or ScaledJob \"shop/we\" is known; near it: shop/web, ScaledJob shop/wen",
			false, true, false, false },
		{ NEARNAMES_ANY, "shop", "wne",
			"no ScaledObject or ScaledJob \"shop/wne\" is known; near it: ScaledJob shop/wen", true, true,
			false, false },
		{ NEARNAMES_SCALEDJOB, "shop", "we",
			"no ScaledJob \"shop/we\" is known; near it: ScaledObject shop/web, shop/wen", false, true,
			false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "wen",
			"no ScaledObject \"bank/wen\" is known; near it: ScaledJob shop/wen", true, true, false,
			false },
		{ NEARNAMES_SCALEDJOB, "shop", "web",
			"no ScaledJob \"shop/web\" is known; near it: ScaledObject shop/web", false, false, false,
			false },
		/* Namespaces that have some of what was asked for. */
		{ NEARNAMES_ANY, "bank", "api",
			"no ScaledObject or ScaledJob \"bank/api\" is known; there are some in shop", true, true, false,
			false },
		{ NEARNAMES_SCALEDJOB, "bank", "api", "no ScaledJob \"bank/api\" is known; there are some in shop",
			false, true, false, false },
		{ NEARNAMES_SCALEDJOB, "bank", "api", "no ScaledJob \"bank/api\" is known, nor any other", false, false,
			false, false },
		{ NEARNAMES_SCALEDOBJECT, "bank", "api", "no ScaledObject \"bank/api\" is known, nor any other", true,
			true, false, false },
		/* Each kind is read for itself. */
		{ NEARNAMES_SCALEDOBJECT, "bank", "api",
			"no ScaledObject \"bank/api\" is known; there are some in shop", false, false, false, true },
		{ NEARNAMES_SCALEDJOB, "bank", "api", "no ScaledJob \"bank/api\" is known; there are some in shop",
			true, true, true, false },
		{ NEARNAMES_SCALEDJOB, "bank", "api",
			"no ScaledJob \"bank/api\" is known; the ScaledJobs were not read yet: no such resource", false,
			false, false, true },
		{ NEARNAMES_ANY, "bank", "api",
			"no ScaledObject or ScaledJob \"bank/api\" is known; the ScaledJobs were not read yet: no such "
			"resource",
			false, false, false, true },
		{ NEARNAMES_ANY, "bank", "api",
			"no ScaledObject or ScaledJob \"bank/api\" is known; the ScaledObjects were not read yet: "
			"forbidden",
			true, false, true, true },
	};
	struct loop *loop = loop_new(NULL);
	struct fake_cache *fake = fake_cache_new(loop);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		fake->object_gone = cases[i].no_object;
		fake->job = cases[i].has_job ? &sj : NULL;
		fake->synced = !cases[i].unsynced;
		fake->trouble = cases[i].unsynced ? "forbidden" : NULL;
		fake->jobs_unsynced = cases[i].jobs_unsynced;
		fake->scaledjobs_trouble = cases[i].jobs_unsynced ? "no such resource" : NULL;
		nearnames_explain(NULL, cases[i].kind, cases[i].namespace_, cases[i].name, &out);
		assert_string_equal(buf_text(&out), cases[i].text);
		buf_done(&out);
	}
	fake_cache_free(fake);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_are_near_and_others_are_not),
		cmocka_unit_test(the_sentence),
	};

	return cmocka_run_group_tests_name("serve/nearnames", tests, NULL, NULL);
}
