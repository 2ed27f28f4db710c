/* SPDX-License-Identifier: Apache-2.0 */
#include "base/selector.h"

#include <string.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "base/text.h"

#define NAME_MAX_LEN 63 /* of the name in a key, and of a value */
#define TEXT_MAX_LEN 8192
#define BLANKS       " \t\r\n"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9], at most 63 */
static bool is_name(const char *text, size_t len)
{
	if (len == 0 || len > NAME_MAX_LEN || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

bool selector_is_key(const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len);
	size_t prefix = slash ? (size_t)(slash - text) : 0;

	if (!slash)
		return is_name(text, len);
	return dnsname_is_subdomain(text, prefix) && is_name(slash + 1, len - prefix - 1);
}

bool selector_is_value(const char *text, size_t len)
{
	return len == 0 || is_name(text, len);
}

/* The set-based operator in this requirement; NULL: none. */
static const char *set_operator(const char *text)
{
	const char *behind_key = text + strcspn(text, BLANKS "(");

	if (text[0] == '!')
		return "!key";
	if (strchr(text, '!'))
		return "!=";
	if (strchr(text, '<'))
		return "<";
	if (strchr(text, '>'))
		return ">";
	if (strchr(text, '='))
		return NULL;
	behind_key += strspn(behind_key, BLANKS);
	if (strncmp(behind_key, "notin", 5) == 0)
		return "notin";
	if (strncmp(behind_key, "in", 2) == 0)
		return "in";
	return *behind_key ? NULL : "key alone";
}

/* "key=value" or "key==value", trimmed and not empty. Overwrites it. */
static int read_requirement(char *text, struct strmap *out, struct err *err)
{
	MEM_AUTO char *whole = mem_dup(text);
	const char *operator_ = set_operator(text), *before;
	char *equals = strchr(text, '='), *key, *value;

	if (operator_)
		return err_set(err, ERR_INVALID, "label selector \"%.128s\": only key=value is answered, not %s", whole,
			operator_);
	if (!equals)
		return err_set(err, ERR_INVALID, "label selector \"%.128s\": is not key=value", whole);
	*equals++ = '\0';
	key = text_trim(text, BLANKS);
	value = text_trim(equals + (*equals == '='), BLANKS);
	if (!selector_is_key(key, strlen(key)))
		return err_set(err, ERR_INVALID, "label selector \"%.128s\": \"%.64s\" is not a valid label key", whole,
			key);
	if (!selector_is_value(value, strlen(value)))
		return err_set(err, ERR_INVALID,
			"label selector \"%.128s\": the value after = is not a valid label value", whole);
	before = strmap_get(out, key);
	if (before && strcmp(before, value) != 0)
		return err_set(err, ERR_INVALID, "label selector: %.64s cannot be both \"%s\" and \"%s\"", key, before,
			value);
	strmap_set(out, key, value);
	return 0;
}

int selector_parse(const char *text, struct strmap *out, struct err *err)
{
	MEM_AUTO char *copy = mem_dup(text);
	char *rest = text_trim(copy, BLANKS), *piece;
	struct strmap found = { NULL, 0 };
	int failed = 0;

	if (strlen(rest) > TEXT_MAX_LEN)
		return err_set(err, ERR_INVALID, "label selector: longer than %d bytes", TEXT_MAX_LEN);
	rest = *rest ? rest : NULL;
	while (!failed && (piece = strsep(&rest, ",")) != NULL) {
		piece = text_trim(piece, BLANKS);
		failed = *piece
			? read_requirement(piece, &found, err)
			: err_set(err, ERR_INVALID, "label selector \"%.128s\": nothing before or after a comma", text);
	}
	if (failed)
		strmap_done(&found);
	else
		*out = found;
	return failed;
}
