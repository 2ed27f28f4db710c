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
	static const struct { const char *a, *b; bool near; } cases[] = {
		{ "worker", "worker", true }, { "wroker", "worker", true }, { "workr", "worker", true }, { "workers", "worker", true }, { "warkar", "worker", true },
		{ "wbe", "web", true }, { "web", "api", false }, { "we", "api", false }, { "work", "worker", true }, { "order-worker", "worker", true },
		{ "worker", "payments", false }, { "abcdef", "abcxyz", false }, { "", "web", false },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (nearnames_near(cases[i].a, cases[i].b) != cases[i].near || nearnames_near(cases[i].b, cases[i].a) != cases[i].near)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	}
}

static void the_sentence(void **state)
{
	static const struct { const char *namespace_, *name, *text; bool gone, unsynced; } cases[] = {
		{ "shop", "wbe", "no ScaledObject \"shop/wbe\" is known; near it: shop/web", false, false },
		{ "bank", "web", "no ScaledObject \"bank/web\" is known; near it: shop/web", false, false },
		{ "bank", "api", "no ScaledObject \"bank/api\" is known; there are some in shop", false, false },
		{ "bank", "api", "no ScaledObject \"bank/api\" is known, nor any other", true, false },
		{ "bank", "api", "no ScaledObject \"bank/api\" is known; the ScaledObjects were not read yet: forbidden", true, true },
	};
	struct loop *loop = loop_new(NULL);
	struct fake_cache *fake = fake_cache_new(loop);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		fake->object_gone = cases[i].gone;
		fake->synced = !cases[i].unsynced;
		fake->trouble = cases[i].unsynced ? "forbidden" : NULL;
		nearnames_explain(NULL, cases[i].namespace_, cases[i].name, &out);
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
