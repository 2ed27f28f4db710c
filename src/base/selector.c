/* SPDX-License-Identifier: Apache-2.0 */
#include "base/selector.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NAME_MAX_LEN   63  /* a label's name and value: k8s.io/apimachinery/pkg/util/validation */
#define PREFIX_MAX_LEN 253 /* a DNS subdomain before the slash of a key */
#define TEXT_MAX_LEN   8192

/* A piece of the text. */
struct span {
	const char *start;
	size_t len;
};

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_lower_alnum(char c)
{
	return is_alnum(c) && !(c >= 'A' && c <= 'Z');
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct span trim(struct span s)
{
	while (s.len > 0 && is_blank(s.start[0])) {
		s.start++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.start[s.len - 1]))
		s.len--;
	return s;
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9], at most 63 */
static bool is_name(struct span s)
{
	if (s.len == 0 || s.len > NAME_MAX_LEN || !is_alnum(s.start[0]) || !is_alnum(s.start[s.len - 1]))
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!is_alnum(s.start[i]) && strchr("-_.", s.start[i]) == NULL)
			return false;
	return true;
}

/* DNS labels with dots between. */
static bool is_subdomain(struct span s)
{
	if (s.len == 0 || s.len > PREFIX_MAX_LEN)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		bool edge = i == 0 || i == s.len - 1 || s.start[i - 1] == '.' || s.start[i + 1] == '.';
		if (!is_lower_alnum(s.start[i]) && (edge || s.start[i] != '-') &&
			(i == 0 || i == s.len - 1 || s.start[i] != '.' || s.start[i - 1] == '.'))
			return false;
	}
	return true;
}

static bool is_key(struct span s)
{
	const char *slash = memchr(s.start, '/', s.len);

	if (slash == NULL)
		return is_name(s);
	size_t prefix = (size_t)(slash - s.start);
	return is_subdomain((struct span){ s.start, prefix }) &&
		is_name((struct span){ slash + 1, s.len - prefix - 1 });
}

bool selector_is_key(const char *text, size_t len)
{
	return is_key((struct span){ text, len });
}

bool selector_is_value(const char *text, size_t len)
{
	return len == 0 || is_name((struct span){ text, len });
}

/* What of the set-based language stands in this requirement, or NULL. */
static const char *set_operator(struct span s)
{
	struct span rest = s;

	if (s.start[0] == '!')
		return "!key";
	if (memchr(s.start, '!', s.len) != NULL)
		return "!=";
	if (memchr(s.start, '<', s.len) != NULL)
		return "<";
	if (memchr(s.start, '>', s.len) != NULL)
		return ">";
	if (memchr(s.start, '=', s.len) != NULL)
		return NULL;
	while (rest.len > 0 && !is_blank(rest.start[0]) && rest.start[0] != '(') {
		rest.start++;
		rest.len--;
	}
	rest = trim(rest);
	if (rest.len >= 5 && memcmp(rest.start, "notin", 5) == 0)
		return "notin";
	if (rest.len >= 2 && memcmp(rest.start, "in", 2) == 0)
		return "in";
	return rest.len == 0 ? "key alone" : NULL;
}

/* "key=value" or "key==value", trimmed and not empty. */
static int read_requirement(struct span s, struct strmap *out, struct err *err)
{
	int shown = s.len < 128 ? (int)s.len : 128;
	const char *operator_ = set_operator(s);

	if (operator_ != NULL)
		return err_set(err, ERR_INVALID, "label selector \"%.*s\": only key=value is answered, not %s", shown,
			s.start, operator_);
	const char *equals = memchr(s.start, '=', s.len);
	if (equals == NULL)
		return err_set(err, ERR_INVALID, "label selector \"%.*s\": is not key=value", shown, s.start);
	struct span key = trim((struct span){ s.start, (size_t)(equals - s.start) });
	struct span value = { equals + 1, s.len - (size_t)(equals + 1 - s.start) };
	if (value.len > 0 && value.start[0] == '=')
		value = (struct span){ value.start + 1, value.len - 1 };
	value = trim(value);
	if (!is_key(key))
		return err_set(err, ERR_INVALID, "label selector \"%.*s\": \"%.*s\" is no label key", shown, s.start,
			key.len < 64 ? (int)key.len : 64, key.start);
	if (value.len > 0 && !is_name(value))
		return err_set(err, ERR_INVALID, "label selector \"%.*s\": what follows = is no label value", shown,
			s.start);

	MEM_AUTO char *key_text = mem_dupn(key.start, key.len);
	MEM_AUTO char *value_text = mem_dupn(value.start, value.len);
	const char *before = strmap_get(out, key_text);
	if (before != NULL && strcmp(before, value_text) != 0)
		return err_set(err, ERR_INVALID, "label selector: %.64s cannot be both \"%s\" and \"%s\"", key_text,
			before, value_text);
	strmap_set(out, key_text, value_text);
	return 0;
}

int selector_parse(const char *text, struct strmap *out, struct err *err)
{
	struct strmap found = { NULL, 0 };
	struct span rest = trim((struct span){ text, strlen(text) });

	if (rest.len > TEXT_MAX_LEN)
		return err_set(err, ERR_INVALID, "label selector: longer than %d bytes", TEXT_MAX_LEN);
	while (rest.len > 0) {
		const char *comma = memchr(rest.start, ',', rest.len);
		size_t len = comma != NULL ? (size_t)(comma - rest.start) : rest.len;
		struct span requirement = trim((struct span){ rest.start, len });
		bool dangling = comma != NULL && len + 1 == rest.len;
		if (requirement.len == 0 || dangling) {
			strmap_done(&found);
			return err_set(err, ERR_INVALID, "label selector \"%.128s\": nothing before or after a comma",
				text);
		}
		if (read_requirement(requirement, &found, err) < 0) {
			strmap_done(&found);
			return -1;
		}
		if (comma == NULL)
			break;
		rest = (struct span){ comma + 1, rest.len - len - 1 };
	}
	*out = found;
	return 0;
}
