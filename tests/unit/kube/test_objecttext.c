/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/objecttext.h"

#define FIELDS                                                                                                         \
	"\"managedFields\":[{\"manager\":\"a]\\\"b\",\"fieldsV1\":{\"f:x\":{\".\":{},\"k:{\\\"}\\\"}\":[[]]}}},{}]"

static void check(const char *json, const char *expected)
{
	MEM_AUTO char *room = mem_alloc(strlen(json) + 1);
	struct objecttext text;

	objecttext_read(&text, json, strlen(json), room);
	assert_ptr_equal(text.json, room);
	room[text.len] = '\0';
	assert_string_equal(room, expected);
}

static void stripped(void **state)
{
	static const struct {
		const char *json, *expected;
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"x\"," FIELDS "},\"spec\":{}}",
			"{\"metadata\":{\"name\":\"x\"},\"spec\":{}}" },
		{ "{\"metadata\":{" FIELDS ",\"name\":\"x\"}}", "{\"metadata\":{\"name\":\"x\"}}" },
		{ "{\"metadata\":{\"a\":1," FIELDS ",\"name\":\"x\"}}", "{\"metadata\":{\"a\":1,\"name\":\"x\"}}" },
		{ "{\"metadata\":{" FIELDS "}}", "{\"metadata\":{}}" },
		{ "{\"metadata\":{\"managedFields\":[],\"managedFields\":[]}}", "{\"metadata\":{}}" },
		{ "{\"metadata\":{\"a\":\"\",\"managedFields\":[],\"managedFields\":[],\"b\":\"\"}}",
			"{\"metadata\":{\"a\":\"\",\"b\":\"\"}}" },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"," FIELDS "}}}",
			"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}" },
		{ "{\"status\":{\"currentMetrics\":[{}],\"x\":1}}", "{\"status\":{\"x\":1}}" },
		{ "{\"type\":\"ADDED\",\"object\":{\"status\":{\"currentReplicas\":1,\"currentMetrics\":[[]]}}}",
			"{\"type\":\"ADDED\",\"object\":{\"status\":{\"currentReplicas\":1}}}" },
		{ "{\"items\":[{\"metadata\":{\"name\":\"x\"," FIELDS "}},{\"metadata\":{" FIELDS "}}]}",
			"{\"items\":[{\"metadata\":{\"name\":\"x\"}},{\"metadata\":{}}]}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(rows[i].json, rows[i].expected);
}

static void left_alone(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"{\"metadata\":{\"name\":\"x\"}}",
		/* A label, a key of data, a text: no array of the metadata itself. */
		"{\"metadata\":{\"labels\":{\"managedFields\":\"x\"},\"name\":\"managedFields\"}}",
		"{\"metadata\":{\"managedFields\":\"x\"}}",
		"{\"data\":{" FIELDS "}}",
		"{\"status\":{" FIELDS "}}",
		"{\"metadata\":{\"currentMetrics\":[]}}",
		"{\"spec\":{\"status\":{\"currentMetrics\":[]}}}",
		"{\"metadata\":{\"annotations\":{\"x\":\"{\\\"managedFields\\\":[]}\"}}}",
		"{\"metadata\":{\"labels\":{" FIELDS "}}}",
		/* Another object's, inside this one. */
		"{\"spec\":{\"template\":{\"metadata\":{" FIELDS "}}}}",
		"{\"spec\":{\"metadata\":{" FIELDS "}}}",
		"{\"object\":{\"spec\":{\"metadata\":{" FIELDS "}}}}",
		"{\"items\":[{\"spec\":{\"metadata\":{" FIELDS "}}}]}",
		/* No JSON. */
		"{\"metadata\":{\"name\":\"x\",\"managedFields\":[{\"a\":\"b",
		"{\"metadata\":{\"name\":\"x\",\"managedFields\":[",
		"{\"metadata\":{\"name\":\"x\\",
		"]]}}\"managedFields\":[]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(texts[i], texts[i]);
}

#define EVENT(type, metadata, rest)                                                                                    \
	"{\"type\":\"" type "\",\"object\":{\"kind\":\"X\",\"metadata\":{" metadata "}" rest "}}"
#define META(version) "\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u-1\",\"resourceVersion\":\"" version "\""

/* room: as many bytes as json has */
static uint64_t read(const char *json, struct objecttext *text, char *room)
{
	objecttext_read(text, json, strlen(json), room);
	return text->print;
}

static void an_event_names_its_object(void **state)
{
	char room[512];
	struct objecttext t;

	(void)state;
	assert_true(read(EVENT("ADDED", FIELDS "," META("12"), ",\"status\":{\"name\":\"other\"}"), &t, room));
	assert_true(objecttext_says(&t.name, "web") && objecttext_says(&t.namespace_, "shop"));
	assert_true(objecttext_says(&t.uid, "u-1") && objecttext_says(&t.version, "12"));
	assert_false(
		objecttext_says(&t.name, "we") || objecttext_says(&t.name, "webs") || objecttext_says(&t.name, ""));
	assert_true(read(EVENT("MODIFIED", "\"name\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\"", ""), &t, room));
	assert_true(objecttext_says(&t.namespace_, ""));
}

static void other_texts_have_no_print(void **state)
{
	static const char *const texts[] = {
		EVENT("DELETED", META("12"), ""),
		EVENT("BOOKMARK", "\"resourceVersion\":\"12\"", ""),
		EVENT("MODIFIED", "\"name\":\"web\",\"uid\":\"u\"", ""),
		EVENT("MODIFIED", "\"name\":\"web\",\"resourceVersion\":\"1\"", ""),
		EVENT("MODIFIED", "\"uid\":\"u\",\"resourceVersion\":\"1\"", ""),
		EVENT("MODIFIED", "\"name\":\"w\\u0065b\",\"uid\":\"u\",\"resourceVersion\":\"1\"", ""),
		EVENT("MODIFIED", "\"labels\":{" META("1") "}", ""),
		"{\"metadata\":{" META("1") "}}",
		"{\"object\":{\"metadata\":{" META("1") "}},\"type\":\"ADDED\"}",
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\",\"uid\":\"u\",\"resourceVersion\":\"1",
	};
	char room[512];
	struct objecttext t;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (read(texts[i], &t, room))
			fail_msg("%s", texts[i]);
}

static void only_stripped_fields_and_the_version_may_differ(void **state)
{
	static const struct {
		const char *json;
		bool same;
	} rows[] = {
		{ EVENT("ADDED", META("12"), ",\"status\":{\"n\":1}"), true },
		{ EVENT("MODIFIED", META("134"), ",\"status\":{\"n\":1}"), true },
		{ EVENT("MODIFIED", META("12") "," FIELDS, ",\"status\":{\"n\":1,\"currentMetrics\":[{\"a\":\"5\"}]}"),
			true },
		{ EVENT("MODIFIED", META("12"), ",\"status\":{\"n\":2}"), false },
		{ EVENT("MODIFIED", META("12"), ",\"status\":{}"), false },
		{ EVENT("MODIFIED", META("12") ",\"labels\":{\"a\":\"b\"}", ",\"status\":{\"n\":1}"), false },
		{ EVENT("MODIFIED",
			  "\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u-2\",\"resourceVersion\":\"12\"",
			  ",\"status\":{\"n\":1}"),
			false },
	};
	char room[512];
	struct objecttext t;
	uint64_t first = read(rows[0].json, &t, room);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((read(rows[i].json, &t, room) == first) != rows[i].same)
			fail_msg("%s", rows[i].json);
}

static void parsed(void **state)
{
	static const char json[] = "{\"metadata\":{\"name\":\"x\"," FIELDS "}}", broken[] = "{\"metadata\":{" FIELDS;
	json_t *without = objecttext_parse(json, sizeof(json) - 1, false),
	       *with = objecttext_parse(json, sizeof(json) - 1, true);

	(void)state;
	assert_int_equal(json_object_size(json_object_get(without, "metadata")), 1);
	assert_int_equal(json_array_size(json_object_get(json_object_get(with, "metadata"), "managedFields")), 2);
	json_decref(without);
	json_decref(with);
	assert_null(objecttext_parse(broken, sizeof(broken) - 1, false));
	assert_null(objecttext_parse("", 0, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stripped),
		cmocka_unit_test(left_alone),
		cmocka_unit_test(an_event_names_its_object),
		cmocka_unit_test(other_texts_have_no_print),
		cmocka_unit_test(only_stripped_fields_and_the_version_may_differ),
		cmocka_unit_test(parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
