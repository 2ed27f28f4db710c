/* SPDX-License-Identifier: Apache-2.0 */
/* Holders and things: rounds, and release with the last holder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeobjects.h"

#include "base/mem.h"
#include "cache/auth/holders.h"

static struct holders h;
static char gone[200], told[200];

/* A thing with its own name, as its key is freed before it. */
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

static void on_owner(void *arg, struct object *o, unsigned changes)
{
	(void)arg;
	assert_int_equal(changes, OBJECT_NEEDS);
	strcat(told, o->key);
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
	holdings_take(fakeobject(owner), held);
}

static int setup(void **state)
{
	(void)state;
	gone[0] = told[0] = '\0';
	holders_init(&h, on_unheld, &h);
	holders_listen(&h, on_owner, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fakeobjects_end();
	return 0;
}

static void unrequested_things_are_released(void **state)
{
	(void)state;
	holdings_begin(fakeobject("shop/web"));
	take("shop/web", "a");
	take("shop/web", "b");
	take("shop/web", "b");
	holdings_end(fakeobject("shop/web"));
	assert_string_equal(gone, "");
	holdings_begin(fakeobject("shop/web"));
	take("shop/web", "b");
	take("shop/web", "c");
	holdings_end(fakeobject("shop/web"));
	assert_string_equal(gone, "a ");
	assert_null(holders_find(&h, "a"));
	holdings_begin(fakeobject("shop/web"));
	holdings_end(fakeobject("shop/web"));
	assert_int_equal(strlen(gone), strlen("a b c "));
	assert_null(fakeobject("shop/web")->holdings.holds);
	assert_null(h.things);
	holders_done(&h);
}

static void a_thing_stays_while_held(void **state)
{
	(void)state;
	take("shop/web", "a");
	take("shop/api", "a");
	take("shop/api", "b");
	holders_notify(holders_find(&h, "a"));
	assert_string_equal(told, "shop/web shop/api ");
	holdings_release(fakeobject("shop/web"));
	holdings_release(fakeobject("shop/web"));
	assert_string_equal(gone, "");
	told[0] = '\0';
	holders_notify(holders_find(&h, "a"));
	assert_string_equal(told, "shop/api ");
	holdings_release(fakeobject("shop/api"));
	assert_int_equal(strlen(gone), strlen("a b "));
	take("shop/web", "a");
	holders_done(&h);
	assert_null(h.things);
}

/* A Secret's keys change together: a holder of a thousand is notified once. */
static void holders_of_many_are_notified_once(void **state)
{
	(void)state;
	take("shop/web", "a");
	take("shop/web", "b");
	take("shop/api", "b");
	holders_notify_begin(&h);
	holders_notify(holders_find(&h, "a"));
	holders_notify(holders_find(&h, "b"));
	holders_notify_end(&h);
	assert_string_equal(told, "shop/web shop/api ");
	told[0] = '\0';
	holders_notify_begin(&h);
	holders_notify(holders_find(&h, "a"));
	holders_notify_end(&h);
	holders_notify(holders_find(&h, "a"));
	assert_string_equal(told, "shop/web shop/web ");
	holdings_release(fakeobject("shop/web"));
	holdings_release(fakeobject("shop/api"));
	holders_done(&h);
}

/*
 * A thousand triggers request the same thousand things: each is found without searching the
 * object's list, which is hidden here.
 */
static void the_last_taken_is_found_at_once(void **state)
{
	struct object *o = fakeobject("shop/web");
	struct hold *all;

	(void)state;
	holdings_begin(o);
	take("shop/web", "a");
	take("shop/web", "b");
	all = o->holdings.holds;
	o->holdings.holds = NULL;
	take("shop/web", "a");
	assert_null(o->holdings.holds);
	o->holdings.holds = all;
	assert_int_equal(o->holdings.count, 2);
	holdings_end(o);
	take("shop/api", "a");
	take("shop/web", "a"); /* through the list: another one was taken last */
	assert_int_equal(o->holdings.count, 2);
	holdings_release(o);
	take("shop/api", "a");
	assert_int_equal(fakeobject("shop/api")->holdings.count, 1);
	holdings_release(fakeobject("shop/api"));
	holders_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unrequested_things_are_released, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thing_stays_while_held, setup, teardown),
		cmocka_unit_test_setup_teardown(holders_of_many_are_notified_once, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_taken_is_found_at_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
