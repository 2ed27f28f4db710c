/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accept.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CLAUSE_MAX 128 /* no offer is longer */

/* A parameter that is not part of the form; *refused is set by q=0. */
static bool is_ignored(const char *param, size_t len, bool *refused)
{
	if (len > 2 && !strncasecmp(param, "q=", 2)) {
		*refused = strtod(param + 2, NULL) <= 0;
		return true;
	}
	return len >= 8 && !strncasecmp(param, "charset=", 8);
}

/* One clause without spaces and such parameters; false if it does not fit or is refused. */
static bool normalise(const char *clause, size_t len, char *out)
{
	char text[CLAUSE_MAX];
	size_t n = 0, used = 0;
	bool refused = false;

	for (size_t i = 0; i < len; i++) {
		if (isspace((unsigned char)clause[i]))
			continue;
		if (n == sizeof(text) - 1)
			return false;
		text[n++] = clause[i];
	}
	text[n] = '\0';
	for (const char *at = text; *at;) {
		size_t part = strcspn(at, ";");

		if (at == text || !is_ignored(at, part, &refused)) {
			if (used)
				out[used++] = ';';
			memcpy(out + used, at, part);
			used += part;
		}
		at += part;
		at += *at == ';';
	}
	out[used] = '\0';
	return used && !refused;
}

/* Whether form has this part (type or parameter). */
static bool has_part(const char *form, const char *part, size_t len)
{
	for (size_t other; *form; form += other, form += *form == ';') {
		other = strcspn(form, ";");
		if (other == len && !strncasecmp(form, part, len))
			return true;
	}
	return false;
}

/* The same type with the same parameters, in any order. */
static bool is_same(const char *form, const char *offer)
{
	if (strlen(form) != strlen(offer))
		return false;
	for (size_t len; *form; form += len, form += *form == ';') {
		len = strcspn(form, ";");
		if (!has_part(offer, form, len))
			return false;
	}
	return true;
}

static int offer_index(const char *form, const char *const *offers)
{
	if (!strcmp(form, "*/*") || !strcasecmp(form, "application/*"))
		return 0;
	for (int i = 0; offers[i]; i++)
		if (is_same(form, offers[i]))
			return i;
	return -1;
}

int accept_choose(const char *header, const char *const *offers)
{
	if (!header || !*header)
		return 0;
	while (*header) {
		size_t len = strcspn(header, ",");
		char form[CLAUSE_MAX];
		int found = normalise(header, len, form) ? offer_index(form, offers) : -1;

		if (found >= 0)
			return found;
		header += len;
		header += *header == ',';
	}
	return -1;
}
