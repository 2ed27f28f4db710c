/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yamlscalar.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NUMBER_LENGTH_MAX 64 /* longer digits are a text */

static const struct {
	const char *text;
	json_type type;
} words[] = {
	{ "", JSON_NULL },
	{ "~", JSON_NULL },
	{ "null", JSON_NULL },
	{ "Null", JSON_NULL },
	{ "NULL", JSON_NULL },
	{ "true", JSON_TRUE },
	{ "True", JSON_TRUE },
	{ "TRUE", JSON_TRUE },
	{ "false", JSON_FALSE },
	{ "False", JSON_FALSE },
	{ "FALSE", JSON_FALSE },
	{ "yes", JSON_TRUE },
	{ "Yes", JSON_TRUE },
	{ "YES", JSON_TRUE },
	{ "no", JSON_FALSE },
	{ "No", JSON_FALSE },
	{ "NO", JSON_FALSE },
	{ "on", JSON_TRUE },
	{ "On", JSON_TRUE },
	{ "ON", JSON_TRUE },
	{ "off", JSON_FALSE },
	{ "Off", JSON_FALSE },
	{ "OFF", JSON_FALSE },
	{ "y", JSON_TRUE },
	{ "Y", JSON_TRUE },
	{ "n", JSON_FALSE },
	{ "N", JSON_FALSE },
};

static json_t *read_word(const char *text)
{
	for (size_t i = 0; i < MEM_COUNT(words); i++) {
		if (strcmp(words[i].text, text) != 0)
			continue;
		return words[i].type == JSON_NULL ? json_null() : json_boolean(words[i].type == JSON_TRUE);
	}
	return NULL;
}

/* Digits of Go's ParseInt with base 0: 0x1f, 0o17, 017, 0b11. */
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
	if (!isxdigit((unsigned char)*digits)) /* strtoull would take signs and spaces */
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

static json_t *read_text(const char *text, size_t len)
{
	return json_stringn(text, len);
}

/* A text by its tag; NULL when it is none of that kind. */
static json_t *read_tagged(const char *tag, const char *text, size_t len)
{
	static const char yaml[] = "tag:yaml.org,2002:";
	const char *kind = strncmp(tag, yaml, sizeof(yaml) - 1) == 0 ? tag + sizeof(yaml) - 1 : tag;
	json_t *value = NULL;

	if (strcmp(kind, "str") == 0 || strcmp(kind, "!") == 0)
		return read_text(text, len);
	if (strlen(text) != len)
		return NULL;
	if (strcmp(kind, "bool") == 0 || strcmp(kind, "null") == 0)
		value = read_word(text);
	else if (strcmp(kind, "int") == 0 || strcmp(kind, "float") == 0)
		value = read_number(text);
	if (value &&
		((strcmp(kind, "bool") == 0 && !json_is_boolean(value)) ||
			(strcmp(kind, "null") == 0 && !json_is_null(value)) ||
			(strcmp(kind, "int") == 0 && !json_is_integer(value)))) {
		json_decref(value);
		value = NULL;
	}
	return value;
}

json_t *yamlscalar_read(const yaml_event_t *scalar)
{
	const char *text = (const char *)scalar->data.scalar.value;
	const char *tag = (const char *)scalar->data.scalar.tag;
	size_t len = scalar->data.scalar.length;
	json_t *value = NULL;

	if (tag)
		return read_tagged(tag, text, len);
	if (scalar->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || strlen(text) != len)
		return read_text(text, len);
	value = read_word(text);
	if (!value)
		value = read_number(text);
	return value ? value : read_text(text, len);
}
