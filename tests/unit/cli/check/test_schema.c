/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/editdist.h"
#include "base/json.h"
#include "cli/check/crdschema.h"
#include "cli/check/schema.h"

static void on_message(void *arg, const char *path, const char *message)
{
	struct buf *out = arg;

	buf_printf(out, "%s%s: %s", out->len > 0 ? "\n" : "", path, message);
}

static void each_rule_has_its_message(void **state)
{
	static const struct {
		const char *schema, *value, *messages;
	} cases[] = {
		{ "{\"type\":\"string\"}", "\"a\"", "" },
		{ "{\"type\":\"string\"}", "5", ": must be a string, not a number: put it in quotes" },
		{ "{\"type\":\"string\"}", "true", ": must be a string, not true: put it in quotes" },
		{ "{\"type\":\"string\"}", "[]", ": must be a string, not a list" },
		{ "{\"type\":\"string\"}", "null", ": must be a string, not null" },
		{ "{\"type\":\"string\",\"nullable\":true}", "null", "" },
		{ "{\"type\":\"integer\"}", "\"5\"", ": must be a whole number, not a string: remove the quotes" },
		{ "{\"type\":\"integer\"}", "5.0", "" },
		{ "{\"type\":\"integer\"}", "5.5", ": must be a whole number, not a number" },
		{ "{\"type\":\"integer\",\"format\":\"int32\"}", "2147483648",
			": 2147483648 is out of range: from -2147483648 to 2147483647" },
		{ "{\"type\":\"integer\",\"format\":\"int32\"}", "2147483647", "" },
		{ "{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}", "0", ": 0 is too small: at least 1" },
		{ "{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}", "4", ": 4 is too big: at most 3" },
		{ "{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}", "3", "" },
		{ "{\"type\":\"boolean\"}", "\"true\"", ": must be true or false, not a string: remove the quotes" },
		{ "{\"type\":\"object\"}", "[]", ": must be an object, not a list" },
		{ "{\"type\":\"array\"}", "{}", ": must be a list, not an object" },
		{ "{\"type\":\"string\",\"minLength\":1}", "\"\"", ": must not be empty" },
		{ "{\"type\":\"string\",\"minLength\":3}", "\"\xC3\xA4\xC3\xB6\"", ": has 2 characters: at least 3" },
		{ "{\"type\":\"string\",\"maxLength\":1}", "\"ab\"", ": has 2 characters: at most 1" },
		{ "{\"type\":\"array\",\"minItems\":1}", "[]", ": must not be empty" },
		{ "{\"type\":\"string\",\"enum\":[\"gradual\",\"immediate\",\"\"]}", "\"gradua\"",
			": \"gradua\" is not one of gradual, immediate: did you mean gradual?" },
		{ "{\"type\":\"string\",\"enum\":[\"gradual\",\"immediate\"]}", "\"never\"",
			": \"never\" is not one of gradual, immediate" },
		{ "{\"type\":\"string\",\"enum\":[\"gradual\",\"\"]}", "\"\"", "" },
		{ "{\"x-kubernetes-int-or-string\":true}", "5", "" },
		{ "{\"x-kubernetes-int-or-string\":true}", "\"5\"", "" },
		{ "{\"x-kubernetes-int-or-string\":true}", "5.5",
			": must be a string or a whole number, not a number" },
		{ "{\"type\":\"object\",\"properties\":{\"abc\":{\"type\":\"string\"}},\"required\":[\"abc\",\"d\"]}",
			"{\"abd\":1,\"zzzz\":2}",
			"abc: missing\nd: missing\nabd: unknown field: did you mean abc?\nzzzz: unknown field" },
		{ "{\"type\":\"object\",\"properties\":{\"a\":{}},\"x-kubernetes-preserve-unknown-fields\":true}",
			"{\"b\":1}", "" },
		{ "{\"type\":\"object\"}", "{\"b\":1}", "" },
		{ "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", "{\"b\":\"x\",\"c.d/e\":1}",
			"[c.d/e]: must be a string, not a number: put it in quotes" },
		{ "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}}",
			"[{\"a\":1},{\"a\":\"x\"},5]",
			"[1].a: must be a whole number, not a string: remove the quotes\n[2]: must be an object, "
			"not a number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *schema = json_parse(cases[i].schema, strlen(cases[i].schema), NULL),
		       *value = json_parse(cases[i].value, strlen(cases[i].value), NULL);
		struct buf out = BUF_INIT(65536);

		assert_non_null(schema);
		assert_non_null(value);
		schema_check(schema, value, on_message, &out);
		assert_string_equal(buf_text(&out), cases[i].messages);
		buf_done(&out);
		json_decref(schema);
		json_decref(value);
	}
}

/* A misplaced password is not shown. */
static void values_are_not_shown(void **state)
{
	static const char schema_text[] = "{\"type\":\"object\",\"properties\":{\"token\":{\"type\":\"integer\"},"
					  "\"other\":{\"type\":\"string\",\"maxLength\":3}}}";
	static const char value_text[] = "{\"token\":\"hunter2\",\"other\":\"hunter2\"}";
	json_t *schema = json_parse(schema_text, strlen(schema_text), NULL),
	       *value = json_parse(value_text, strlen(value_text), NULL);
	struct buf out = BUF_INIT(65536);

	(void)state;
	schema_check(schema, value, on_message, &out);
	assert_non_null(strstr(buf_text(&out), "token"));
	assert_non_null(strstr(buf_text(&out), "other"));
	assert_null(strstr(buf_text(&out), "hunter2"));
	buf_done(&out);
	json_decref(schema);
	json_decref(value);
}

static void schemas_are_embedded(void **state)
{
	static const char *const kinds[] = { "ScaledObject", "ScaledJob", "TriggerAuthentication",
		"ClusterTriggerAuthentication" };
	struct crdschema *s = crdschema_new();

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *spec = json_object_get(json_object_get(crdschema_get(s, kinds[i]), "properties"), "spec");

		assert_true(json_object_size(json_object_get(spec, "properties")) > 5);
		assert_ptr_equal(crdschema_get(s, kinds[i]), crdschema_get(s, kinds[i]));
	}
	assert_null(crdschema_get(s, "Deployment"));
	crdschema_free(s);
}

static void similar_names(void **state)
{
	static const struct {
		const char *wanted, *best;
	} cases[] = {
		{ "pollingIntervall", "pollingInterval" },
		{ "pollinginterval", "pollingInterval" },
		{ "poolingInterval", "pollingInterval" },
		{ "triggres", "triggers" },
		{ "trigger", "triggers" },
		{ "maxReplicas", NULL },
		{ "x", NULL },
		{ "", NULL },
		{ "advanecd", "advanced" },
	};
	static const char *const names[] = { "pollingInterval", "triggers", "advanced", "maxReplicaCount" };
	char lengthy[200];
	struct editdist_best n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = editdist_best_of(cases[i].wanted);
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			editdist_offer(&n, names[j]);
		if (cases[i].best)
			assert_string_equal(n.name, cases[i].best);
		else
			assert_null(n.name);
	}
	memset(lengthy, 'a', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	n = editdist_best_of(lengthy);
	editdist_offer(&n, lengthy);
	assert_null(n.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_has_its_message),
		cmocka_unit_test(values_are_not_shown),
		cmocka_unit_test(schemas_are_embedded),
		cmocka_unit_test(similar_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
