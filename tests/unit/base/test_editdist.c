/* SPDX-License-Identifier: Apache-2.0 */
/* How far names are apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/editdist.h"

static void letters_are_counted(void **state)
{
	static const struct {
		const char *a, *b;
		size_t apart;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "web", "web", 0 },
		{ "web", "WEB", 0 },
		{ "web", "wbe", 1 },
		{ "web", "we", 1 },
		{ "web", "webs", 1 },
		{ "web", "wob", 1 },
		{ "pollingIntervall", "pollingInterval", 1 },
		{ "kitten", "sitting", 3 },
		{ "abc", "xyz", 3 },
		{ "ca", "abc", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(editdist_between(cases[i].a, cases[i].b), cases[i].apart);
		assert_int_equal(editdist_between(cases[i].b, cases[i].a), cases[i].apart);
	}
}

static void long_names_are_far(void **state)
{
	char name[EDITDIST_LENGTH_MAX + 2] = { 0 };

	(void)state;
	memset(name, 'a', EDITDIST_LENGTH_MAX);
	assert_int_equal(editdist_between(name, name), 0);
	name[EDITDIST_LENGTH_MAX] = 'a';
	assert_true(editdist_between(name, "a") == EDITDIST_FAR);
	assert_true(editdist_between("a", name) == EDITDIST_FAR);
}

/* editdist_near computes fewer cells, with the same result as the whole table. */
static void near_agrees_with_the_distance(void **state)
{
	static const char letters[] = "aAbc";
	char a[12], b[12];
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		char *const words[] = { a, b };
		size_t lengths[2], apart, most;

		for (int w = 0; w < 2; w++) {
			seed = seed * 1664525 + 1013904223;
			lengths[w] = (seed >> 16) % 10;
			for (size_t i = 0; i < lengths[w]; i++) {
				seed = seed * 1664525 + 1013904223;
				words[w][i] = letters[(seed >> 16) % 4];
			}
			words[w][lengths[w]] = '\0';
		}
		apart = editdist_between(a, b);
		most = (lengths[0] < lengths[1] ? lengths[0] : lengths[1]) < 5 ? 1 : 2;
		if (editdist_near(a, b) != (apart <= most ? apart : EDITDIST_FAR))
			fail_msg("%s %s", a, b);
	}
}

static void one_rule_for_near(void **state)
{
	static const struct {
		const char *a, *b;
		bool near;
	} cases[] = {
		{ "web", "wbe", true },
		{ "host", "port", false },
		{ "host", "hosts", true },
		{ "worker", "warkar", true },
		{ "kitten", "sitting", false },
		{ "a", "", true },
		{ "ab", "", false },
		{ "listName", "LISTNAME", true },
		{ "count", "cout", true },
		{ "four", "fuor5", false },
	};
	static const char *const names[] = { "pollingInterval", "triggers", "trigger", "advanced" };
	struct editdist_best best = editdist_best_of("triggre");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if ((editdist_near(cases[i].a, cases[i].b) != EDITDIST_FAR) != cases[i].near)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		editdist_offer(&best, names[i]);
	assert_string_equal(best.name, "trigger");
	best = editdist_best_of("replicas");
	assert_false(editdist_offer(&best, names[0]));
	assert_null(best.name);
	editdist_offer(&best, names[0]);
	assert_null(best.name);
}

static void one_begins_or_ends_with_the_other(void **state)
{
	static const struct {
		const char *a, *b;
		size_t more;
	} cases[] = {
		{ "address", "redisAddress", 5 },
		{ "cooldown", "cooldownPeriod", 6 },
		{ "queueURL", "awsQueueUrl", 3 },
		{ "same", "SAME", 0 },
		{ "url", "serverUrl", EDITDIST_FAR },
		{ "name", "nameless", 4 },
		{ "dress", "addressed", EDITDIST_FAR },
		{ "", "", EDITDIST_FAR },
	};
	struct editdist_best best = editdist_best_of("Name");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct editdist_best one = editdist_best_of(cases[i].a), other = editdist_best_of(cases[i].b);

		editdist_offer(&one, cases[i].b);
		editdist_offer(&other, cases[i].a);
		assert_true(one.affix == cases[i].more);
		assert_true(other.affix == cases[i].more);
	}
	/* The least more, and a similar one goes before all of these. */
	assert_true(editdist_offer(&best, "metricName"));
	assert_true(editdist_offer(&best, "listName"));
	assert_false(editdist_offer(&best, "otherName"));
	assert_string_equal(best.name, "listName");
	assert_true(editdist_offer(&best, "names"));
	assert_false(editdist_offer(&best, "aName"));
	assert_false(editdist_offer(&best, "xxName"));
	assert_string_equal(best.name, "names");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_counted),
		cmocka_unit_test(near_agrees_with_the_distance),
		cmocka_unit_test(one_rule_for_near),
		cmocka_unit_test(one_begins_or_ends_with_the_other),
		cmocka_unit_test(long_names_are_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
