/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

/*
 * Reading fields out of jansson values with errors that name the field, for decoders. The style: a
 * cursor knows the path from the root, so a wrong type says `spec.triggers[2].metadata.listName:
 * must be a string, not an array`. Missing fields leave *out untouched and are no error.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"

struct json_at {
	const json_t *value;          /* borrowed; NULL when absent or null */
	const struct json_at *parent; /* NULL at the root */
	const char *key;              /* the field's name, or NULL for an array element */
	size_t index;
};

/*
 * Parses text with sane limits (depth, duplicates refused by jansson flags are NOT set: Kubernetes'
 * own wins-last). NULL and ERR_INVALID on bad JSON. The caller owns the result.
 */
json_t *json_parse(const char *text, size_t len, struct err *err);

/*
 * What strangers send is looked at before it is parsed: jansson takes some 250 bytes and 400 ns for
 * a value that takes two bytes to write. Whether the text has at most JSON_FOREIGN_VALUES_MAX
 * values and names, if it is JSON; else false and ERR_INVALID.
 */
#define JSON_FOREIGN_VALUES_MAX 100000
bool json_is_bearable(const char *text, size_t len, struct err *err);

/* json_parse of what a stranger sends: also NULL and ERR_INVALID when it has too many values. */
json_t *json_parse_foreign(const char *text, size_t len, struct err *err);

struct json_at json_root(const json_t *value);
struct json_at json_field(const struct json_at *at, const char *key); /* of an object; absent gives value NULL */
struct json_at json_element(const struct json_at *at, size_t index);
char *json_path(const struct json_at *at, char *out, size_t size); /* "spec.triggers[2].type"; returns out */

/*
 * Each: 0 and *out set when present; 0 and *out untouched when absent or null; -1 with ERR_INVALID
 * on a wrong type or range.
 */
/* a copy, caller owns; an older *out is freed */
int json_get_string(const struct json_at *at, const char *key, char **out, struct err *err);
/*
 * Several at once, in one block, since texts are short and many: the caller owns it by the first,
 * the others lie in it. What is absent is "". Nothing is touched on an error.
 */
struct json_text {
	const char *key;
	char **out;
};
#define JSON_TEXTS_MAX 8
int json_get_texts(const struct json_at *at, const struct json_text *texts, size_t count, struct err *err);
int json_get_int32(const struct json_at *at, const char *key, int32_t *out, struct err *err);
int json_get_int64(const struct json_at *at, const char *key, int64_t *out, struct err *err);
int json_get_bool(const struct json_at *at, const char *key, bool *out, struct err *err);
int json_get_time(const struct json_at *at, const char *key, int64_t *unix_ms, struct err *err);
/* into an empty map */
int json_get_strmap(const struct json_at *at, const char *key, struct strmap *out, struct err *err);

/* For decoders' own rules: ERR_INVALID with "<path>: <what>"; returns -1. */
int json_wrong(const struct json_at *at, struct err *err, const char *what);
int json_wrong_kind(const struct json_at *at, struct err *err,
	const char *wanted); /* "must be <wanted>, not an array", or whatever it is */

/* Text without white space, keys in insertion order; the caller owns it. */
char *json_text(const json_t *value);

/*
 * The same for values that say the same, whatever the order of their keys; another, as good as
 * always, for others.
 */
uint64_t json_digest(const json_t *value);

/* Borrowed string at a key, or "" — for values whose type was checked or does not matter. */
const char *json_str_or_empty(const json_t *object, const char *key);

/* Makes jansson wipe what it frees (secrets pass through it). Call once at start. */
void json_wipe_on_free(void);

#endif
