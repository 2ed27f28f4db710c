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

static void blocking_objects_come_first(void **state)
{
	(void)state;
	assert_order(DOCUMENT("Namespace", "n") DOCUMENT("CustomResourceDefinition", "c") DOCUMENT("Role", "r")
			     DOCUMENT("RoleBinding", "b") DOCUMENT("APIService", "a")
				     DOCUMENT("ValidatingWebhookConfiguration", "w") DOCUMENT("Deployment", "d"),
		DOCUMENT("ValidatingWebhookConfiguration", "w") DOCUMENT("APIService", "a")
			DOCUMENT("CustomResourceDefinition", "c") DOCUMENT("Deployment", "d")
				DOCUMENT("RoleBinding", "b") DOCUMENT("Role", "r") DOCUMENT("Namespace", "n"));
}

static void keeps_the_order_within_a_kind(void **state)
{
	(void)state;
	assert_order(DOCUMENT("Role", "b") DOCUMENT("Role", "a") DOCUMENT("RoleBinding", "c"),
		DOCUMENT("RoleBinding", "c") DOCUMENT("Role", "b") DOCUMENT("Role", "a"));
}

/* Nothing is lost, and only the kind of the document itself counts. */
static void unknown_kinds_come_last(void **state)
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
		cmocka_unit_test(blocking_objects_come_first),
		cmocka_unit_test(keeps_the_order_within_a_kind),
		cmocka_unit_test(unknown_kinds_come_last),
	};

	return cmocka_run_group_tests_name("cli/deleteorder", tests, NULL, NULL);
}
