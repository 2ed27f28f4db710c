/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/deleteorder.h"

static void assert_order(const char *text, const char *expected)
{
	char *got;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	assert_non_null(out);
	deleteorder_print(text, out);
	fclose(out);
	assert_string_equal(got, expected);
	free(got);
}

#define DOCUMENT(kind, name) "---\n# a comment\napiVersion: v1\nkind: " kind "\nmetadata:\n  name: " name "\n"

static void what_others_wait_for_goes_first(void **state)
{
	(void)state;
	assert_order(DOCUMENT("Namespace", "n") DOCUMENT("CustomResourceDefinition", "c") DOCUMENT("Role", "r")
			     DOCUMENT("RoleBinding", "b") DOCUMENT("APIService", "a")
				     DOCUMENT("ValidatingWebhookConfiguration", "w") DOCUMENT("Deployment", "d"),
		DOCUMENT("ValidatingWebhookConfiguration", "w") DOCUMENT("APIService", "a")
			DOCUMENT("CustomResourceDefinition", "c") DOCUMENT("Deployment", "d")
				DOCUMENT("RoleBinding", "b") DOCUMENT("Role", "r") DOCUMENT("Namespace", "n"));
}

static void of_one_kind_the_order_stays(void **state)
{
	(void)state;
	assert_order(DOCUMENT("Role", "b") DOCUMENT("Role", "a") DOCUMENT("RoleBinding", "c"),
		DOCUMENT("RoleBinding", "c") DOCUMENT("Role", "b") DOCUMENT("Role", "a"));
}

/* Nothing is lost, and a kind is one of a document, not of its parts. */
static void what_is_not_known_goes_last(void **state)
{
	static const char within[] = "---\nkind: Other\nspec:\n  names:\n    kind: Deployment\n";
	char text[512], expected[512];

	(void)state;
	snprintf(text, sizeof(text), "%s%s", within, DOCUMENT("Namespace", "n"));
	snprintf(expected, sizeof(expected), "%s%s", DOCUMENT("Namespace", "n"), within);
	assert_order(text, expected);
	assert_order("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_wait_for_goes_first),
		cmocka_unit_test(of_one_kind_the_order_stays),
		cmocka_unit_test(what_is_not_known_goes_last),
	};

	return cmocka_run_group_tests_name("cli/deleteorder", tests, NULL, NULL);
}
