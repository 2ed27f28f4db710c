/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/ownership.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static json_t *object_of(const char *metadata)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{%s}}", metadata);
	json_t *object;

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	object = json_parse(text, strlen(text), NULL);
	assert_non_null(object);
	return object;
}

#define OURS "'app.kubernetes.io/name':'kscaled'"

static void owner_of_an_object(void **state)
{
	static const struct {
		const char *metadata, *others; /* NULL: ours */
	} rows[] = {
		{ "'labels':{" OURS "}", NULL },
		{ "'labels':{" OURS ",'app.kubernetes.io/managed-by':'kscaled'}", NULL },
		{ "'labels':{" OURS "},'annotations':{'note':'x'},'ownerReferences':[]", NULL },
		{ "", "no label app.kubernetes.io/name=kscaled" },
		{ "'labels':{'app.kubernetes.io/name':'keda-operator'}", "no label app.kubernetes.io/name=kscaled" },
		{ "'labels':7,'annotations':[],'ownerReferences':{}", "no label app.kubernetes.io/name=kscaled" },
		/* Our label, left by `kubectl apply` over another's object. */
		{ "'labels':{" OURS "},'annotations':{'meta.helm.sh/release-name':'it','meta.helm.sh/"
		  "release-namespace':'keda'}",
			"Helm release keda/it made it" },
		{ "'labels':{" OURS ",'app.kubernetes.io/managed-by':'Helm'}", "it is managed by Helm" },
		{ "'labels':{" OURS "},'ownerReferences':[{'kind':'KedaController','name':'keda'}]",
			"KedaController keda owns it" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *object = object_of(rows[i].metadata);
		MEM_AUTO char *others = ownership_of_others(object);

		if (!rows[i].others != !others || (others && !strstr(others, rows[i].others)))
			fail_msg("row %zu: %s", i, others ? others : "ours");
		json_decref(object);
	}
}

static void respects_the_existing_object(void **state)
{
	json_t *wanted = object_of("'name':'x','labels':{" OURS "}"), *ours = object_of("'labels':{" OURS "}"),
	       *theirs = object_of("'labels':{}");

	(void)state;
	ownership_respect(wanted, NULL);
	ownership_respect(wanted, ours);
	assert_true(json_equal(json_object_get(json_object_get(wanted, "metadata"), "labels"),
		json_object_get(json_object_get(ours, "metadata"), "labels")));
	ownership_respect(wanted, theirs);
	assert_null(json_object_get(json_object_get(wanted, "metadata"), "labels"));
	assert_true(json_str_is(json_object_get(wanted, "metadata"), "name", "x"));
	json_decref(wanted);
	json_decref(ours);
	json_decref(theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owner_of_an_object),
		cmocka_unit_test(respects_the_existing_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
