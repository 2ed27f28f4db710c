/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

/*
 * Reads fields of jansson values for decoders, with errors that name the field. A cursor (struct
 * json_at) knows the path from the root: `spec.triggers[2].metadata.listName: must be a string, not
 * an array`. A missing field is no error and leaves *out untouched.
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
 * Parses text. The last of equal keys counts, as in Kubernetes; values nested too deep become 0.
 * NULL and ERR_INVALID on bad JSON. The caller owns the result.
 */
json_t *json_parse(const char *text, size_t len, struct err *err);

/*
 * Whether the text, if it is JSON, has at most JSON_FOREIGN_VALUES_MAX values and names; false:
 * ERR_INVALID. To be checked before parsing untrusted input: a value of two bytes costs jansson
 * some 250 bytes and 400 ns.
 */
#define JSON_FOREIGN_VALUES_MAX 100000
bool json_is_bearable(const char *text, size_t len, struct err *err);

/* json_parse for untrusted senders: also NULL and ERR_INVALID when json_is_bearable refuses. */
json_t *json_parse_foreign(const char *text, size_t len, struct err *err);

/*
 * A hint to append to a parse error of jansson or json_parse if the cause is a bare NaN or
 * Infinity, as Python's json.dumps writes it; otherwise "".
 */
const char *json_bare_number(const char *error);

struct json_at json_root(const json_t *value);
struct json_at json_field(const struct json_at *at, const char *key); /* absent: value is NULL */
struct json_at json_element(const struct json_at *at, size_t index);
char *json_path(const struct json_at *at, char *out, size_t size); /* "spec.triggers[2].type"; returns out */

/*
 * Each returns 0 and sets *out; 0 and leaves *out untouched when the field is absent or null; -1
 * and ERR_INVALID on a wrong type or range.
 */
/* a copy, which the caller owns; the old *out is freed */
int json_get_string(const struct json_at *at, const char *key, char **out, struct err *err);
/*
 * Several strings in one allocation, to save memory: the caller owns the first, and the others
 * point into it. An absent one is "". On an error nothing is touched.
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
/* The same, with U+FFFD for each NUL: for fields that the API server has stored already. */
int json_get_strmap_tamed(const struct json_at *at, const char *key, struct strmap *out, struct err *err);

/* For rules of decoders: ERR_INVALID with "<path>: <what>"; returns -1. */
int json_wrong(const struct json_at *at, struct err *err, const char *what);
int json_wrong_kind(const struct json_at *at, struct err *err,
	const char *wanted); /* "must be <wanted>, not an array" */

/* Compact text, keys in the order of their insertion; the caller owns it. */
char *json_text(const json_t *value);

/* A hash that ignores the order of keys. */
uint64_t json_digest(const json_t *value);

/* The string at a key, borrowed; "" if absent, or if `object` is not an object. */
const char *json_str_or_empty(const json_t *object, const char *key);

/* A field of a Kubernetes object's metadata, borrowed; NULL if absent. */
json_t *json_metadata(const json_t *object, const char *key);
const char *json_metadata_text(const json_t *object, const char *key); /* "": absent, or not a string */

/* A string's text, borrowed; NULL for anything else and for text with NUL bytes. */
const char *json_plain_text(const json_t *value);

/* Whether the string at key equals text. */
bool json_str_is(const json_t *object, const char *key, const char *text);

/* Makes jansson wipe what it frees, which may be secret. Called once at the start. */
void json_wipe_on_free(void);

#endif
