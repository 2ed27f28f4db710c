/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonplain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

#define DEPTH_MAX    64  /* of the recursion here; objects of the API server have some 20 levels */
#define DIGITS_MAX   18  /* of an integer: fits into 63 bits */
#define FRACTION_MAX 32  /* a number with a point and its NUL */
#define KEY_MAX      384 /* of a label or annotation: 253, a slash, 63 */

struct plain_place {
	const char *at, *end;
	unsigned depth;
};

static json_t *plain_value(struct plain_place *p);

static void skip_white(struct plain_place *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

/* If c comes next, after white space, moves behind it. */
static bool takes(struct plain_place *p, char c)
{
	skip_white(p);
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

/* ---- Strings ---- */

/*
 * The end of the string whose first character, behind the quote, is at p->at: its closing quote;
 * NULL: not valid. escapes: whether it has any.
 */
static const char *string_end(const struct plain_place *p, bool *escapes)
{
	const char *at = p->at;

	*escapes = false;
	while (at < p->end && *at != '"') {
		unsigned char c = (unsigned char)*at;
		size_t step = c >= 0x80 ? utf8_step(at, (size_t)(p->end - at)) : 1;

		if (c == '\\') {
			*escapes = true;
			step = 2; /* validated when they are replaced */
		}
		if (c < 0x20 || step == 0 || step > (size_t)(p->end - at))
			return NULL;
		at += step;
	}
	return at < p->end ? at : NULL;
}

/*
 * The character that the escape at `at`, behind its backslash, stands for, and its length; 0: left
 * to jansson.
 */
static char unescaped(const char *at, size_t len, size_t *used)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *name = memchr(names, *at, sizeof(names) - 1);
	int byte;

	*used = 1;
	if (name)
		return meant[name - names];
	if (len < 5 || memcmp(at, "u00", 3) != 0)
		return '\0';
	*used = 5;
	byte = text_hex_byte(at + 3, 2);
	return byte > 0 && byte < 0x80 ? (char)byte : '\0';
}

static json_t *string_with_escapes(const char *from, size_t len)
{
	char *text = mem_alloc(len);
	json_t *value = NULL;
	size_t at = 0, used, written = 0;

	while (at < len) {
		text[written] = from[at++];
		if (text[written] == '\\') {
			if ((text[written] = unescaped(from + at, len - at, &used)) == '\0')
				break;
			at += used;
		}
		written++;
	}
	if (at == len)
		value = json_stringn_nocheck(text, written);
	mem_wipe(text, len); /* may be secret */
	free(text);
	return value;
}

static json_t *read_string(struct plain_place *p)
{
	const char *from = p->at, *end;
	bool escapes;

	if ((end = string_end(p, &escapes)) == NULL)
		return NULL;
	p->at = end + 1;
	return escapes ? string_with_escapes(from, (size_t)(end - from))
		       : json_stringn_nocheck(from, (size_t)(end - from));
}

/* ---- Numbers and words ---- */

/* Whether a value ends here: no part of a number or word follows. */
static bool is_over(const struct plain_place *p)
{
	return p->at == p->end || memchr(",]} \n\t\r", *p->at, 7) != NULL;
}

static const char *digits_end(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* By strtod, as jansson does. */
static json_t *read_fraction(struct plain_place *p, const char *from)
{
	char text[FRACTION_MAX], *behind;
	size_t len = (size_t)(p->at - from);
	double number;

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, from, len);
	text[len] = '\0';
	number = strtod(text, &behind);
	return *behind ? NULL : json_real(number); /* otherwise the locale has another decimal point */
}

static json_t *read_integer(const char *digits, const char *end, bool negative)
{
	json_int_t number = 0;

	if (end - digits > DIGITS_MAX)
		return NULL;
	for (; digits < end; digits++)
		number = number * 10 + (*digits - '0');
	return json_integer(negative ? -number : number);
}

static json_t *number_of(struct plain_place *p)
{
	const char *from = p->at, *digits = from + (*from == '-'), *end = digits_end(digits, p->end);
	bool has_point = end < p->end && *end == '.';

	p->at = has_point ? digits_end(end + 1, p->end) : end;
	if (end == digits || (*digits == '0' && end - digits > 1) || (has_point && p->at == end + 1) || !is_over(p))
		return NULL;
	return has_point ? read_fraction(p, from) : read_integer(digits, end, *from == '-');
}

static json_t *read_word(struct plain_place *p)
{
	static const struct {
		const char *text;
		json_t *(*make)(void);
	} words[] = { { "true", json_true }, { "false", json_false }, { "null", json_null } };

	for (size_t i = 0; i < MEM_COUNT(words); i++) {
		size_t len = strlen(words[i].text);

		if ((size_t)(p->end - p->at) < len || memcmp(p->at, words[i].text, len) != 0)
			continue;
		p->at += len;
		return is_over(p) ? words[i].make() : NULL;
	}
	return NULL;
}

/* ---- Objects and arrays ---- */

/* A key without escapes and its colon. */
static bool read_key(struct plain_place *p, char key[KEY_MAX])
{
	const char *from, *end;
	bool escapes;
	size_t len;

	if (!takes(p, '"') || (end = string_end(p, &escapes)) == NULL || escapes)
		return false;
	from = p->at;
	len = (size_t)(end - from);
	if (len >= KEY_MAX)
		return false;
	memcpy(key, from, len);
	key[len] = '\0';
	p->at = end + 1;
	return takes(p, ':');
}

static bool read_member(struct plain_place *p, json_t *object)
{
	char key[KEY_MAX];
	json_t *value;

	return read_key(p, key) && (value = plain_value(p)) != NULL &&
		json_object_set_new_nocheck(object, key, value) == 0; /* the last of equal keys counts */
}

static bool read_element(struct plain_place *p, json_t *array)
{
	json_t *value = plain_value(p);

	return value && json_array_append_new(array, value) == 0;
}

/* All members; takes container. */
static json_t *read_all(struct plain_place *p, json_t *container, char closing,
	bool (*read_one)(struct plain_place *, json_t *))
{
	bool good = ++p->depth <= DEPTH_MAX;

	if (good && !takes(p, closing)) {
		do
			good = read_one(p, container);
		while (good && takes(p, ','));
		good = good && takes(p, closing);
	}
	p->depth--;
	if (good)
		return container;
	json_decref(container);
	return NULL;
}

static json_t *plain_value(struct plain_place *p)
{
	skip_white(p);
	if (p->at == p->end)
		return NULL;
	switch (*p->at) {
	case '{': p->at++; return read_all(p, json_object(), '}', read_member);
	case '[': p->at++; return read_all(p, json_array(), ']', read_element);
	case '"': p->at++; return read_string(p);
	case 't':
	case 'f':
	case 'n': return read_word(p);
	default: return *p->at == '-' || (*p->at >= '0' && *p->at <= '9') ? number_of(p) : NULL;
	}
}

json_t *jsonplain_read(const char *text, size_t len)
{
	struct plain_place p = { .at = text, .end = text + len };
	json_t *value = plain_value(&p);

	skip_white(&p);
	if (p.at == p.end)
		return value;
	json_decref(value);
	return NULL;
}
