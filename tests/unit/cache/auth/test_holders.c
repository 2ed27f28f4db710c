/* SPDX-License-Identifier: Apache-2.0 */
/* Who needs what: rounds, and things that go with their last holder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cache/auth/holders.h"

static struct holders h;
static char gone[200], told[200];

/* A thing that knows its own name, as its key is freed before. */
struct thing {
	struct held held;
	char name[16];
};

static void on_unheld(void *arg, struct held *held)
{
	assert_ptr_equal(arg, &h);
	strcat(gone, ((struct thing *)held)->name);
	strcat(gone, " ");
	free(held);
}

static void on_owner(void *arg, const char *owner)
{
	(void)arg;
	strcat(told, owner);
	strcat(told, " ");
}

static void take(const char *owner, const char *key)
{
	struct held *held = holders_find(&h, key);

	if (!held) {
		struct thing *thing = mem_zalloc(sizeof(*thing));

		strcpy(thing->name, key);
		held = &thing->held;
		holders_add(&h, held, key);
	}
	holders_take(&h, owner, held);
}

static int setup(void **state)
{
	(void)state;
	gone[0] = told[0] = '\0';
	holders_init(&h, on_unheld, &h);
	return 0;
}

static void what_is_not_asked_for_again_goes(void **state)
{
	(void)state;
	holders_begin(&h, "web");
	take("web", "a");
	take("web", "b");
	take("web", "b");
	holders_end(&h, "web");
	assert_string_equal(gone, "");
	holders_begin(&h, "web");
	take("web", "b");
	take("web", "c");
	holders_end(&h, "web");
	assert_string_equal(gone, "a ");
	assert_null(holders_find(&h, "a"));
	holders_begin(&h, "web");
	holders_end(&h, "web");
	assert_int_equal(strlen(gone), strlen("a b c "));
	assert_null(h.owners);
	assert_null(h.things);
	holders_done(&h);
}

static void a_thing_stays_while_somebody_holds_it(void **state)
{
	(void)state;
	take("web", "a");
	take("api", "a");
	take("api", "b");
	holders_tell(holders_find(&h, "a"), on_owner, NULL);
	assert_string_equal(told, "web api ");
	holders_release(&h, "web");
	holders_release(&h, "web");
	assert_string_equal(gone, "");
	told[0] = '\0';
	holders_tell(holders_find(&h, "a"), on_owner, NULL);
	assert_string_equal(told, "api ");
	holders_release(&h, "api");
	assert_int_equal(strlen(gone), strlen("a b "));
	take("web", "a");
	holders_done(&h);
	assert_null(h.things);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_not_asked_for_again_goes, setup),
		cmocka_unit_test_setup(a_thing_stays_while_somebody_holds_it, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
