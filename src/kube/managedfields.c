/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/managedfields.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* The API server writes no white space. */
static const char key[] = "\"managedFields\":[";

/* How far the text was read. An object's own metadata is at one depth, by what is around it. */
struct place {
	const char *at;
	size_t depth;
	size_t metadata; /* the depth at which there may be one: 2, 3 in "object", 4 in "items" */
	bool inside;     /* the metadata at that depth */
};

/* Behind the string that begins at `at`; end: it does not end. */
static const char *skip_string(const char *at, const char *end)
{
	const char *quote = at, *slash;

	do {
		if ((quote = memchr(quote + 1, '"', (size_t)(end - quote - 1))) == NULL)
			return end;
		for (slash = quote; slash[-1] == '\\'; slash--) {
			/* two of them are one that is meant */
		}
	} while ((quote - slash) % 2);
	return quote + 1;
}

/* Behind the array that begins at `at`; NULL: it does not end. */
static const char *skip_array(const char *at, const char *end)
{
	size_t depth = 0;

	while (at < end) {
		if (*at == '"') {
			at = skip_string(at, end);
			continue;
		}
		if (*at == '[' || *at == '{')
			depth++;
		else if ((*at == ']' || *at == '}') && --depth == 0)
			return at + 1;
		at++;
	}
	return NULL;
}

static bool begins(const char *at, const char *end, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(end - at) >= len && memcmp(at, text, len) == 0;
}

static bool follows(const char *begin, const char *at, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(at - begin) >= len && memcmp(at - len, text, len) == 0;
}

static void enter(struct place *p, const char *json)
{
	p->depth++;
	if (p->depth == 2)
		p->metadata = follows(json, p->at, "\"object\":") ? 3 : follows(json, p->at, "\"items\":") ? 4 : 2;
	if (p->depth == p->metadata)
		p->inside = follows(json, p->at, "\"metadata\":");
}

/* The next one from p->at on, which moves there. NULL: there is none. */
static const char *find(const char *json, const char *end, struct place *p)
{
	while (p->at < end) {
		if (*p->at == '"') {
			if (p->inside && p->depth == p->metadata && begins(p->at, end, key))
				return p->at;
			p->at = skip_string(p->at, end);
			continue;
		}
		if (*p->at == '{' || *p->at == '[')
			enter(p, json);
		else if ((*p->at == '}' || *p->at == ']') && p->depth > 0)
			p->depth--;
		p->at++;
	}
	return NULL;
}

size_t managedfields_strip(const char *json, size_t len, char *out)
{
	const char *end = json + len, *kept = json, *found, *behind;
	struct place p = { .at = json };
	size_t written = 0;

	while ((found = find(json, end, &p)) != NULL && (behind = skip_array(found + sizeof(key) - 2, end)) != NULL) {
		/* With one of the commas around it; it is the last member, usually. */
		if (found > kept && found[-1] == ',')
			found--;
		else if (behind < end && *behind == ',')
			behind++;
		memcpy(out + written, kept, (size_t)(found - kept));
		written += (size_t)(found - kept);
		p.at = kept = behind;
	}
	memcpy(out + written, kept, (size_t)(end - kept));
	return written + (size_t)(end - kept);
}

json_t *managedfields_parse(const char *json, size_t len, bool keep)
{
	json_t *parsed;
	char *text;

	if (keep || !memmem(json, len, key, sizeof(key) - 1))
		return json_parse(json, len, NULL);
	text = mem_alloc(len);
	parsed = json_parse(text, managedfields_strip(json, len, text), NULL);
	mem_wipe(text, len); /* it may be a Secret */
	free(text);
	return parsed;
}
