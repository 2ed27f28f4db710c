/* SPDX-License-Identifier: Apache-2.0 */
/* How many begin in one turn of the loop, and whose are next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeloop.h"
#include "base/mem.h"
#include "cache/readings/turns.h"

#define MANY 300

static struct {
	struct turns *turns;
	struct one {
		struct turns_wait wait;
		const char *namespace_;
		bool begun;
	} all[MANY];
	size_t count, begun;
	char order[MANY + 1];
} t;

static void on_begun(void *arg)
{
	struct one *one = arg;

	assert_false(one->begun);
	one->begun = true;
	t.order[t.begun++] = one->namespace_[0];
}

static struct one *want(const char *namespace_)
{
	struct one *one = &t.all[t.count++];

	*one = (struct one){ .namespace_ = namespace_, .wait = { .fn = on_begun, .arg = one } };
	if (turns_begin(t.turns, &one->wait, namespace_))
		on_begun(one);
	return one;
}

static void want_many(size_t count, const char *namespace_)
{
	for (size_t i = 0; i < count; i++)
		want(namespace_);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.turns = turns_new(fakeloop_start());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	turns_free(t.turns);
	fakeloop_end();
	return 0;
}

static void few_begin_at_once(void **state)
{
	(void)state;
	want_many(TURNS_BEGIN_MAX, "a");
	assert_int_equal(t.begun, TURNS_BEGIN_MAX);
	assert_false(want("b")->begun);
	fakeloop_advance(0);
	assert_int_equal(t.begun, TURNS_BEGIN_MAX + 1);
	assert_true(want("b")->begun);
}

static void namespaces_take_turns(void **state)
{
	(void)state;
	want_many(TURNS_BEGIN_MAX + 4, "a");
	want_many(3, "b");
	want_many(1, "c");
	assert_int_equal(t.begun, TURNS_BEGIN_MAX);
	fakeloop_advance(0);
	assert_string_equal(t.order + TURNS_BEGIN_MAX, "abcababa");
}

static void the_rest_takes_as_many_turns_as_it_needs(void **state)
{
	unsigned before;

	(void)state;
	want_many(4 * TURNS_BEGIN_MAX, "a");
	before = fakeloop_turns();
	fakeloop_advance(0);
	assert_int_equal(t.begun, 4 * TURNS_BEGIN_MAX);
	assert_in_range(fakeloop_turns() - before, 3, 4);
}

/* A newcomer is not served before waiting ones, even if the turn has room. */
static void no_one_is_overtaken(void **state)
{
	struct one *first, *second;

	(void)state;
	want_many(TURNS_BEGIN_MAX, "a");
	first = want("a");
	second = want("a");
	turns_give_up(&first->wait);
	turns_give_up(&first->wait);
	fakeloop_advance(0);
	assert_false(first->begun);
	assert_true(second->begun);
	turns_give_up(&second->wait);
}

static void a_waiter_at_the_end_gets_no_callback(void **state)
{
	(void)state;
	want_many(TURNS_BEGIN_MAX + 2, "a");
	want("b");
	turns_free(t.turns);
	t.turns = NULL;
	fakeloop_advance(1);
	assert_int_equal(t.begun, TURNS_BEGIN_MAX);
}

#define IN_SETUP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SETUP(few_begin_at_once),
		IN_SETUP(namespaces_take_turns),
		IN_SETUP(the_rest_takes_as_many_turns_as_it_needs),
		IN_SETUP(no_one_is_overtaken),
		IN_SETUP(a_waiter_at_the_end_gets_no_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
