/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yamlscalar.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NUMBER_LENGTH_MAX 64 /* longer ones are strings */

static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };

static json_t *read_word(const char *text)
{
	static const char *const yes[] = { "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y",
		NULL },
				 *const no[] = { "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n",
					 "N", NULL };

	if (text_is_one_of(text, nulls))
		return json_null();
	return text_is_one_of(text, yes) ? json_true() : text_is_one_of(text, no) ? json_false() : NULL;
}

/* Like Go's ParseInt with base 0: 0x1f, 0o17, 017, 0b11. */
static json_t *read_integer(const char *text)
{
	bool negative = *text == '-';
	const char *digits = text + (*text == '-' || *text == '+');
	unsigned long long value;
	char *end;
	int base = 10;

	if (digits[0] == '0' && digits[1] != '\0') {
		char mark = (char)tolower((unsigned char)digits[1]);

		base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
		digits += mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1;
	}
	if (!isxdigit((unsigned char)*digits)) /* strtoull would accept signs and spaces */
		return NULL;
	errno = 0;
	value = strtoull(digits, &end, base);
	if (*end != '\0' || errno == ERANGE || value > (unsigned long long)INT64_MAX + negative)
		return NULL;
	return json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value);
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_real(const char *text)
{
	size_t before, after = 0;

	text += *text == '-' || *text == '+';
	before = strspn(text, "0123456789");
	text += before;
	if (*text == '.') {
		after = strspn(++text, "0123456789");
		text += after;
	}
	if (before + after == 0)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		if (!isdigit((unsigned char)*text))
			return false;
		text += strspn(text, "0123456789");
	}
	return *text == '\0';
}

static json_t *read_number(const char *text)
{
	char plain[NUMBER_LENGTH_MAX + 1];
	size_t len = 0;
	json_t *value;

	if (!isdigit((unsigned char)*text) && (!*text || !strchr("+-.", *text)))
		return NULL;
	for (; *text; text++) {
		if (*text == '_')
			continue;
		if (len == NUMBER_LENGTH_MAX)
			return NULL;
		plain[len++] = *text;
	}
	plain[len] = '\0';
	value = read_integer(plain);
	return value || !looks_real(plain) ? value : json_real(strtod(plain, NULL)); /* NULL when it is infinite */
}

/* NULL: the text is not of the type that the tag names. */
static json_t *read_tagged(const char *tag, const char *text, size_t len)
{
	const char *behind = text_behind(tag, "tag:yaml.org,2002:"), *kind = behind ? behind : tag;
	json_t *value = NULL;
	bool fits = false;

	if (strcmp(kind, "str") == 0 || strcmp(kind, "!") == 0)
		return json_stringn(text, len);
	if (strlen(text) != len)
		return NULL;
	if (strcmp(kind, "bool") == 0) {
		value = read_word(text);
		fits = json_is_boolean(value);
	} else if (strcmp(kind, "null") == 0) {
		value = read_word(text);
		fits = json_is_null(value);
	} else if (strcmp(kind, "int") == 0 || strcmp(kind, "float") == 0) {
		value = read_number(text);
		fits = json_is_integer(value) || *kind == 'f';
	}
	if (fits)
		return value;
	json_decref(value);
	return NULL;
}

json_t *yamlscalar_read(const yaml_event_t *scalar)
{
	const char *text = (const char *)scalar->data.scalar.value, *tag = (const char *)scalar->data.scalar.tag;
	size_t len = scalar->data.scalar.length;
	json_t *value = NULL;

	if (tag)
		return read_tagged(tag, text, len);
	if (scalar->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strlen(text) == len) {
		value = read_word(text);
		value = value ? value : read_number(text);
	}
	return value ? value : json_stringn(text, len);
}

json_t *yamlscalar_text(const yaml_event_t *scalar)
{
	const char *text = (const char *)scalar->data.scalar.value;

	return scalar->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && text_is_one_of(text, nulls)
		? json_null()
		: json_stringn(text, scalar->data.scalar.length);
}
