/* SPDX-License-Identifier: Apache-2.0 */
/* Which names and types may stand somewhere; what all other files of the room ask. */
#include <string.h>

#include "base/text.h"
#include "decide/validate/validate.h"

#define NAME_MAX_SUBDOMAIN 253 /* RFC 1123 subdomain, Kubernetes' names */

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A name becomes part of a URL, so nothing else may pass. */
bool validate_is_subdomain(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX_SUBDOMAIN)
		return false;
	for (size_t i = 0; i < len; i++) {
		char before = i == 0 ? '.' : name[i - 1], after = i + 1 == len ? '.' : name[i + 1];
		bool joint = name[i] == '-' || name[i] == '.';

		if (!is_lower_alnum(name[i]) && !(joint && before != '.' && after != '.'))
			return false;
	}
	return true;
}

bool validate_is_resource_type(const char *type)
{
	static const char *const resources[] = { "cpu", "memory", NULL };

	return type && text_is_one_of(type, resources);
}
