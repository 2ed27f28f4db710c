/* SPDX-License-Identifier: Apache-2.0 */

/*
 * JSON: what is read can be written and is read the same again; readers of fields take any type;
 * any bytes become a literal that JSON accepts. What is read without jansson is the same.
 */

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/jsonplain.h"
#include "base/mem.h"
#include "fuzz.h"

static void read_field(const struct json_at *at, const char *key)
{
	char path[64];
	char *text = NULL;
	int32_t i32 = 0;
	int64_t i64 = 0;
	bool flag = false;
	struct strmap map = { NULL, 0 };
	struct err err;
	struct json_at field = json_field(at, key);

	must(strlen(json_path(&field, path, sizeof(path))) < sizeof(path));
	json_get_string(at, key, &text, &err);
	json_get_int32(at, key, &i32, &err);
	json_get_int64(at, key, &i64, &err);
	json_get_bool(at, key, &flag, &err);
	json_get_time(at, key, &i64, &err);
	if (json_get_strmap(at, key, &map, &err) == 0)
		strmap_done(&map);
	free(text);
}

static void read_fields(const struct json_at *at, int depth)
{
	const char *key;
	json_t *value;

	if (depth == 0)
		return;
	read_field(at, "absent");
	json_object_foreach((json_t *)(uintptr_t)at->value, key, value)
	{
		struct json_at field = json_field(at, key);
		read_field(at, key);
		read_fields(&field, depth - 1);
	}
	for (size_t i = 0; i < json_array_size(at->value) && i < 100; i++) {
		struct json_at element = json_element(at, i);
		read_fields(&element, depth - 1);
	}
}

static void there_and_back(const json_t *value)
{
	struct err err;
	char *text = json_text(value);
	json_t *again = json_parse(text, strlen(text), &err);

	must(again != NULL);
	must(json_equal(value, again));
	json_decref(again);
	free(text);
}

/* What is read without jansson is what jansson reads. */
static void plain_is_the_same(const char *text, size_t len)
{
	json_t *plain = jsonplain_read(text, len), *full;

	if (plain == NULL)
		return;
	full = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	must(json_equal(plain, full));
	json_decref(full);
	json_decref(plain);
}

static void any_bytes(const char *text)
{
	struct buf out = BUF_INIT((size_t)16 << 20);
	struct err err;

	buf_put_json(&out, text);
	must(!buf_failed(&out));
	json_t *literal = json_parse(out.data, out.len, &err);
	must(json_is_string(literal));
	json_decref(literal);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);

	if (value != NULL) {
		struct json_at root = json_root(value);
		read_fields(&root, 4);
		there_and_back(value);
		json_decref(value);
	} else {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	}
	plain_is_the_same((const char *)data, size);
	any_bytes(text);
	return 0;
}
