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
		enum scaled_kind kind;
		const char *namespace_, *name, *text;
		bool no_object, has_job;
	} cases[] = {
		{ SCALED_OBJECT, "shop", "wbe", "no ScaledObject \"shop/wbe\" is known; near it: web", false, false },
		/* the other kind is not mentioned */
		{ SCALED_OBJECT, "shop", "wbe", "no ScaledObject \"shop/wbe\" is known; near it: web", false, true },
		{ SCALED_OBJECT, "shop", "wen",
			"no ScaledObject \"shop/wen\" is known, nor any other in this namespace", true, true },
		{ SCALED_JOB, "shop", "web", "no ScaledJob \"shop/web\" is known, nor any other in this namespace",
			false, false },
		{ SCALED_JOB, "shop", "we", "no ScaledJob \"shop/we\" is known; near it: wen", false, true },
		/* nor of another namespace, if it has one of this very name */
		{ SCALED_OBJECT, "bank", "web",
			"no ScaledObject \"bank/web\" is known, nor any other in this namespace", false, false },
		{ SCALED_OBJECT, "shop", "payments",
			"no ScaledObject \"shop/payments\" is known; others are, in this namespace", false, false },
	};
	struct loop *loop = loop_new(NULL);
	struct fake_cache *fake = fake_cache_new(loop);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		fake->object_gone = cases[i].no_object;
		fake->job = cases[i].has_job ? &sj : NULL;
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
