/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/jsonplain.h"
#include "base/mem.h"
#include "base/timestamp.h"

#define PATH_MAX_LEN 256
#define DEPTH_MAX    32

/*
 * A string may contain \u0000 (an annotation can): one such object must not make a whole list
 * unreadable. json_get_string refuses it.
 */
static json_t *load(const char *text, size_t len, json_error_t *where)
{
	return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, where);
}

/* Deeper values are cut off; valid objects do not come near it. jansson's limit is 2,048. */
#define NESTING_MAX 256

/*
 * Replaces in place what jansson refuses but the API server may store, so that one user's object
 * does not make the whole list unreadable: \u0000 in keys by U+FFFD, values nested too deep by 0.
 */
static void tame(char *text, size_t len)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		bool deep = depth > NESTING_MAX;

		if (quoted && text[i] == '\\' && i + 1 < len) {
			if (len - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
				memcpy(text + i, "\\ufffd", 6);
			if (deep)
				text[i] = text[i + 1] = ' ';
			i++; /* a backslash that is escaped begins no escape */
			continue;
		}
		if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			deep = ++depth > NESTING_MAX;
		else if (!quoted && (text[i] == '}' || text[i] == ']') && depth > 0)
			depth--;
		if (deep)
			text[i] = text[i] != '"' && !quoted && depth == NESTING_MAX + 1 &&
					(text[i] == '{' || text[i] == '[')
				? '0'
				: ' ';
	}
}

static json_t *load_tamed(const char *text, size_t len, json_error_t *where)
{
	char *copy = mem_dupn(text, len);
	json_t *value;

	tame(copy, len);
	value = load(copy, len, where);
	mem_wipe(copy, len);
	mem_free_ptr(&copy);
	return value;
}

json_t *json_parse(const char *text, size_t len, struct err *err)
{
	json_error_t where;
	json_t *value = jsonplain_read(text, len);

	if (value == NULL)
		value = load(text, len, &where);
	if (value == NULL &&
		(json_error_code(&where) == json_error_null_byte_in_key ||
			json_error_code(&where) == json_error_stack_overflow))
		value = load_tamed(text, len, &where);
	if (value == NULL)
		err_set(err, ERR_INVALID, "JSON, line %d column %d: %s", where.line, where.column, where.text);
	return value;
}

/*
 * Each value but the first follows `,`, `[`, `{` or `:`. So counting those outside strings, plus
 * one, gives an upper bound. A short text needs no counting.
 */
bool json_is_bearable(const char *text, size_t len, struct err *err)
{
	const char *end = text + len;
	size_t values = 1;

	if (len < JSON_FOREIGN_VALUES_MAX)
		return true;
	for (const char *at = text; at < end && values <= JSON_FOREIGN_VALUES_MAX; at++) {
		if (*at == '"')
			for (at++; at < end && *at != '"'; at++)
				at += *at == '\\';
		else
			values += *at == ',' || *at == '[' || *at == '{' || *at == ':';
	}
	if (values <= JSON_FOREIGN_VALUES_MAX)
		return true;
	err_set(err, ERR_INVALID, "it has more than %d values and names", JSON_FOREIGN_VALUES_MAX);
	return false;
}

json_t *json_parse_foreign(const char *text, size_t len, struct err *err)
{
	return json_is_bearable(text, len, err) ? json_parse(text, len, err) : NULL;
}

const char *json_bare_number(const char *error)
{
#define NO_JSON " stands in it, which is not valid JSON (Python's json.dumps writes it unless allow_nan is False)"
	static const struct {
		const char *near, *says;
	} words[] = { { "near 'NaN'", ": a bare NaN" NO_JSON }, { "near 'Infinity'", ": a bare Infinity" NO_JSON } };

	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (strstr(error, words[i].near))
			return words[i].says;
	return "";
}

struct json_at json_root(const json_t *value)
{
	return (struct json_at){ json_is_null(value) ? NULL : value, NULL, NULL, 0 };
}

struct json_at json_field(const struct json_at *at, const char *key)
{
	const json_t *value = json_object_get(at->value, key);

	return (struct json_at){ json_is_null(value) ? NULL : value, at, key, 0 };
}

struct json_at json_element(const struct json_at *at, size_t index)
{
	const json_t *value = json_array_get(at->value, index);

	return (struct json_at){ json_is_null(value) ? NULL : value, at, NULL, index };
}

/* Other keys are put in brackets: metadata.annotations[autoscaling.keda.sh/paused]. */
static bool is_plain_key(const char *key)
{
	return key[0] != '\0' &&
		strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(key);
}

static void put_step(struct buf *b, const struct json_at *at)
{
	if (at->key == NULL)
		buf_printf(b, "[%zu]", at->index);
	else if (!is_plain_key(at->key))
		buf_printf(b, "[%.128s]", at->key);
	else
		buf_printf(b, "%s%.128s", b->len > 0 ? "." : "", at->key);
}

char *json_path(const struct json_at *at, char *out, size_t size)
{
	const struct json_at *steps[DEPTH_MAX];
	size_t depth = 0;
	struct buf b = BUF_INIT((size_t)DEPTH_MAX * 160);

	for (; at->parent != NULL && depth < DEPTH_MAX; at = at->parent)
		steps[depth++] = at;
	while (depth > 0)
		put_step(&b, steps[--depth]);
	snprintf(out, size, "%s", buf_text(&b));
	buf_done(&b);
	return out;
}

static const char *kind_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_INTEGER:
	case JSON_REAL: return "a number";
	case JSON_TRUE:
	case JSON_FALSE: return "a boolean";
	case JSON_NULL: return "null";
	}
	return "something else";
}

int json_wrong(const struct json_at *at, struct err *err, const char *what)
{
	char path[PATH_MAX_LEN];

	json_path(at, path, sizeof(path));
	return err_set(err, ERR_INVALID, "%s%s%s", path, path[0] != '\0' ? ": " : "", what);
}

int json_wrong_kind(const struct json_at *at, struct err *err, const char *wanted)
{
	char what[96];

	snprintf(what, sizeof(what), "must be %s, not %s", wanted, kind_of(at->value));
	return json_wrong(at, err, what);
}

/* 1 and *field: found; 0: absent; -1: `at` is not an object. */
static int find_field(const struct json_at *at, const char *key, struct json_at *field, struct err *err)
{
	if (at->value != NULL && !json_is_object(at->value))
		return json_wrong_kind(at, err, "an object");
	*field = json_field(at, key);
	return field->value != NULL ? 1 : 0;
}

/* With U+FFFD for each NUL. The caller owns it. */
static char *without_nul(const json_t *string)
{
	const char *text = json_string_value(string);
	size_t len = json_string_length(string);
	struct buf out = BUF_INIT(3 * len + 1);

	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			buf_puts(&out, "\xEF\xBF\xBD");
		else
			buf_putc(&out, text[i]);
	return buf_take(&out);
}

/* NULL and *err: not a string, or one with a NUL. */
static const char *text_of(const struct json_at *field, struct err *err)
{
	const char *text = json_plain_text(field->value);

	if (!text && json_is_string(field->value))
		json_wrong(field, err, "must not contain a NUL character");
	else if (!text)
		json_wrong_kind(field, err, "a string");
	return text;
}

/* Like look; *text is borrowed. */
static int look_for_text(const struct json_at *at, const char *key, struct json_at *field, const char **text,
	struct err *err)
{
	int there = find_field(at, key, field, err);

	if (there <= 0)
		return there;
	*text = text_of(field, err);
	return *text != NULL ? 1 : -1;
}

int json_get_string(const struct json_at *at, const char *key, char **out, struct err *err)
{
	struct json_at field;
	const char *text;
	int there = look_for_text(at, key, &field, &text, err);

	if (there <= 0)
		return there;
	free(*out);
	*out = mem_dup(text);
	return 0;
}

int json_get_texts(const struct json_at *at, const struct json_text *texts, size_t count, struct err *err)
{
	const char *found[JSON_TEXTS_MAX];
	size_t size = 0;
	char *end;

	for (size_t i = 0; i < count; i++) {
		struct json_at field;

		found[i] = "";
		if (look_for_text(at, texts[i].key, &field, &found[i], err) < 0)
			return -1;
		size += strlen(found[i]) + 1;
	}
	end = mem_alloc(size);
	for (size_t i = 0; i < count; i++) {
		*texts[i].out = end;
		end = stpcpy(end, found[i]) + 1;
	}
	return 0;
}

/* A whole number, also when written as 3.0 or 3e2. */
static int get_whole(const struct json_at *at, const char *key, int64_t least, int64_t most, int64_t *out,
	struct err *err)
{
	struct json_at field;
	int there = find_field(at, key, &field, err);
	bool fits = true;
	char what[96];

	if (there <= 0)
		return there;
	if (!json_is_number(field.value))
		return json_wrong_kind(&field, err, "a whole number");
	int64_t value = json_integer_value(field.value);
	if (json_is_real(field.value)) {
		double real = json_real_value(field.value);
		if (real != floor(real))
			return json_wrong(&field, err, "must be a whole number");
		fits = real >= -0x1.0p63 && real < 0x1.0p63;
		value = fits ? (int64_t)real : 0;
	}
	if (!fits || value < least || value > most) {
		snprintf(what, sizeof(what), "must be from %lld to %lld", (long long)least, (long long)most);
		return json_wrong(&field, err, what);
	}
	*out = value;
	return 1;
}

int json_get_int32(const struct json_at *at, const char *key, int32_t *out, struct err *err)
{
	int64_t value;
	int there = get_whole(at, key, INT32_MIN, INT32_MAX, &value, err);

	if (there > 0)
		*out = (int32_t)value;
	return there < 0 ? -1 : 0;
}

int json_get_int64(const struct json_at *at, const char *key, int64_t *out, struct err *err)
{
	return get_whole(at, key, INT64_MIN, INT64_MAX, out, err) < 0 ? -1 : 0;
}

int json_get_bool(const struct json_at *at, const char *key, bool *out, struct err *err)
{
	struct json_at field;
	int there = find_field(at, key, &field, err);

	if (there <= 0)
		return there;
	if (!json_is_boolean(field.value))
		return json_wrong_kind(&field, err, "true or false");
	*out = json_is_true(field.value);
	return 0;
}

int json_get_time(const struct json_at *at, const char *key, int64_t *unix_ms, struct err *err)
{
	struct json_at field;
	char path[PATH_MAX_LEN];
	const char *text;
	int there = look_for_text(at, key, &field, &text, err);

	if (there <= 0)
		return there;
	return timestamp_parse(text, unix_ms, err) < 0 ? err_wrap(err, "%s", json_path(&field, path, sizeof(path))) : 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted keys can be appended to a strmap, which is linear in their number. */
static const char **sorted_keys(const json_t *object, size_t *count)
{
	const char **keys = mem_array(json_object_size(object), sizeof(*keys));
	/* jansson's iterators are not const, but change nothing */
	json_t *iterable = (json_t *)(uintptr_t)object;

	*count = 0;
	for (void *i = json_object_iter(iterable); i != NULL; i = json_object_iter_next(iterable, i))
		keys[(*count)++] = json_object_iter_key(i);
	qsort(keys, *count, sizeof(*keys), by_text);
	return keys;
}

static int get_strmap(const struct json_at *at, const char *key, bool tamed, struct strmap *out, struct err *err)
{
	struct json_at field;
	struct strmap map = { NULL, 0 };
	size_t count;
	int there = find_field(at, key, &field, err);

	if (there <= 0)
		return there;
	if (!json_is_object(field.value))
		return json_wrong_kind(&field, err, "an object");
	const char **keys = sorted_keys(field.value, &count);
	for (size_t i = 0; i < count; i++) {
		struct json_at entry = { json_object_get(field.value, keys[i]), &field, keys[i], 0 };
		bool has_nul = json_is_string(entry.value) && !json_plain_text(entry.value);
		MEM_AUTO char *made = tamed && has_nul ? without_nul(entry.value) : NULL;
		const char *text = made != NULL ? made : text_of(&entry, err);
		if (text == NULL) {
			strmap_done_secret(&map);
			free(keys);
			return -1;
		}
		strmap_set(&map, keys[i], text);
	}
	free(keys);
	*out = map;
	return 0;
}

int json_get_strmap(const struct json_at *at, const char *key, struct strmap *out, struct err *err)
{
	return get_strmap(at, key, false, out, err);
}

int json_get_strmap_tamed(const struct json_at *at, const char *key, struct strmap *out, struct err *err)
{
	return get_strmap(at, key, true, out, err);
}

char *json_text(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	return text != NULL ? text : mem_dup("null");
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t pair[2] = { a, b };

	return fingerprint_fast(pair, sizeof(pair));
}

/* A sum, so that the order of keys does not matter. */
static uint64_t digest_of_object(const json_t *value)
{
	uint64_t sum = 0;
	const char *key;
	json_t *field;

	json_object_foreach((json_t *)(uintptr_t)value, key, field)
		sum += mix(fingerprint_fast(key, strlen(key)), json_digest(field));
	return sum;
}

static uint64_t digest_of_array(const json_t *value)
{
	uint64_t sum = 0;
	const json_t *element;
	size_t i;

	json_array_foreach(value, i, element) sum = mix(sum, json_digest(element));
	return sum;
}

uint64_t json_digest(const json_t *value)
{
	uint64_t type = value != NULL ? (uint64_t)json_typeof(value) + 1 : 0;
	double real = json_real_value(value);

	if (json_is_object(value))
		return mix(type, digest_of_object(value));
	if (json_is_array(value))
		return mix(type, digest_of_array(value));
	if (json_is_string(value))
		return mix(type, fingerprint_fast(json_string_value(value), json_string_length(value)));
	if (json_is_real(value))
		return mix(type, fingerprint_fast(&real, sizeof(real)));
	return mix(type, (uint64_t)json_integer_value(value));
}

const char *json_str_or_empty(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

json_t *json_metadata(const json_t *object, const char *key)
{
	return json_object_get(json_object_get(object, "metadata"), key);
}

const char *json_metadata_text(const json_t *object, const char *key)
{
	return json_str_or_empty(json_object_get(object, "metadata"), key);
}

const char *json_plain_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

bool json_str_is(const json_t *object, const char *key, const char *text)
{
	return strcmp(json_str_or_empty(object, key), text) == 0;
}

/* Memory comes from malloc, so that callers can still free() what jansson returns. */
static void wipe_and_free(void *ptr)
{
	if (ptr == NULL)
		return;
	explicit_bzero(ptr, malloc_usable_size(ptr));
	free(ptr);
}

void json_wipe_on_free(void)
{
	json_set_alloc_funcs(malloc, wipe_and_free);
}
