/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/objecttext.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

enum where { ELSEWHERE, IN_METADATA, IN_STATUS };

/*
 * A relevant member: an array to strip, or a text whose position is noted. The API server writes no
 * white space.
 */
static const struct member {
	const char *key;
	enum where where;
	size_t note; /* offset of its objecttext_part; 0: to strip */
} members[] = {
	{ "\"managedFields\":[", IN_METADATA, 0 },
	{ "\"name\":\"", IN_METADATA, offsetof(struct objecttext, name) },
	{ "\"namespace\":\"", IN_METADATA, offsetof(struct objecttext, namespace_) },
	{ "\"resourceVersion\":\"", IN_METADATA, offsetof(struct objecttext, version) },
	{ "\"uid\":\"", IN_METADATA, offsetof(struct objecttext, uid) },
	{ "\"currentMetrics\":[", IN_STATUS, 0 },
};

/* The scanning position. The depth of an object's own metadata depends on its container. */
struct text_place {
	const char *at;
	size_t depth;
	size_t own; /* the depth of an object's metadata and status: 2, 3 in "object", 4 in "items" */
	enum where where;
};

/* The end of the string that begins at `at`; `end` if it is not terminated. */
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

/* The end of the array that begins at `at`; NULL if it is not terminated. */
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

static void enter(struct text_place *p, const char *json)
{
	p->depth++;
	if (p->depth == 2)
		p->own = follows(json, p->at, "\"object\":") ? 3 : follows(json, p->at, "\"items\":") ? 4 : 2;
	if (p->depth == p->own)
		p->where = follows(json, p->at, "\"metadata\":") ? IN_METADATA
			: follows(json, p->at, "\"status\":")    ? IN_STATUS
								 : ELSEWHERE;
}

static const struct member *member_at(const struct text_place *p, const char *end)
{
	if (p->where == ELSEWHERE || p->depth != p->own)
		return NULL;
	for (size_t i = 0; i < MEM_COUNT(members); i++)
		/* The second character usually decides. */
		if (members[i].where == p->where && end - p->at > 1 && p->at[1] == members[i].key[1] &&
			begins(p->at, end, members[i].key))
			return &members[i];
	return NULL;
}

/* The next member from p->at on, which is advanced. NULL: none. */
static const struct member *next_member(const char *json, const char *end, struct text_place *p)
{
	const struct member *found;

	while (p->at < end) {
		if (*p->at == '"') {
			if ((found = member_at(p, end)) != NULL)
				return found;
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

/* The text that begins at `from`, at its position in the output. */
static struct objecttext_part part_of(const char *from, const char *end, const char *stands)
{
	size_t len = (size_t)(skip_string(from, end) - from);
	bool plain = len >= 2 && from[len - 1] == '"' && !memchr(from, '\\', len);

	return plain ? (struct objecttext_part){ stands + 1, len - 2 } : (struct objecttext_part){ 0 };
}

/* The start of the object; NULL: not such an event. */
static const char *object_of(const char *json, size_t len)
{
	static const char *const events[] = { "{\"type\":\"ADDED\",\"object\":", "{\"type\":\"MODIFIED\",\"object\":" };

	for (size_t i = 0; i < MEM_COUNT(events); i++)
		if (begins(json, json + len, events[i]))
			return json + strlen(events[i]);
	return NULL;
}

static uint64_t print_of(const struct objecttext *t, const char *object)
{
	const char *behind = t->version.at + t->version.len;
	uint64_t parts[] = { hash_long(object, (size_t)(t->version.at - object)),
		hash_long(behind, (size_t)(t->json + t->len - behind)) };

	return hash_long(parts, sizeof(parts));
}

void objecttext_read(struct objecttext *out, const char *json, size_t len, char *room)
{
	const char *end = json + len, *kept = json, *object;
	struct text_place p = { .at = json };
	const struct member *m;
	char *written = room;

	*out = (struct objecttext){ .namespace_ = { "", 0 } };
	while ((m = next_member(json, end, &p)) != NULL) {
		const char *found = p.at, *value = found + strlen(m->key) - 1, *behind;

		if (m->note) {
			struct objecttext_part part = part_of(value, end, written + (value - kept));

			memcpy((char *)out + m->note, &part, sizeof(part));
			p.at = skip_string(value, end);
			continue;
		}
		if ((behind = skip_array(value, end)) == NULL)
			break;
		/* With an adjacent comma; it is usually the last member. */
		if (found > kept && found[-1] == ',')
			found--;
		else if (behind < end && *behind == ',')
			behind++;
		memcpy(written, kept, (size_t)(found - kept));
		written += found - kept;
		p.at = kept = behind;
	}
	memcpy(written, kept, (size_t)(end - kept));
	out->json = room;
	out->len = (size_t)(written + (end - kept) - room);
	object = object_of(out->json, out->len);
	if (object && out->version.at && out->name.at && out->namespace_.at && out->uid.at)
		out->print = print_of(out, object);
}

bool objecttext_says(const struct objecttext_part *part, const char *text)
{
	return part->at && strlen(text) == part->len && memcmp(part->at, text, part->len) == 0;
}

json_t *objecttext_parse_news(const char *json, size_t len, objecttext_known_fn is_known, void *arg, bool *known)
{
	struct objecttext text;
	json_t *parsed;
	char *room = mem_alloc(len);

	objecttext_read(&text, json, len, room);
	*known = is_known && is_known(arg, &text);
	parsed = *known ? NULL : json_parse(text.json, text.len, NULL);
	mem_wipe(room, len); /* it may be a Secret */
	free(room);
	return parsed;
}

json_t *objecttext_parse(const char *json, size_t len, bool keep)
{
	bool known;

	if (keep || !memmem(json, len, members[0].key, strlen(members[0].key)))
		return json_parse(json, len, NULL);
	return objecttext_parse_news(json, len, NULL, NULL, &known);
}
