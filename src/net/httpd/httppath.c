/* SPDX-License-Identifier: Apache-2.0 */
#include "net/httpd/httppath.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

/* Longer parameter names match nothing. */
#define NAME_MAX_LEN 64

void httppath_split(const char *target, struct httppath *out)
{
	const char *start = target;
	size_t len;

	*out = (struct httppath){ .path = "", .path_len = 0 };
	if (*start != '/') {
		const char *authority = strstr(start, "://");

		if (!authority)
			return;
		start = authority + 3;
		start += strcspn(start, "/?#");
	}
	out->path = start;
	out->path_len = strcspn(start, "?#");
	start += out->path_len;
	if (*start != '?')
		return;
	start++;
	len = strcspn(start, "#");
	out->query = start;
	out->query_len = len;
}

static bool is_utf8(const char *text, size_t len)
{
	uint64_t eight;

	for (; len >= sizeof(eight); text += sizeof(eight), len -= sizeof(eight)) {
		memcpy(&eight, text, sizeof(eight));
		if (eight & 0x8080808080808080)
			break;
	}
	while (len > 0) {
		size_t n = (unsigned char)*text < 0x80 ? 1 : utf8_step(text, len);

		if (n == 0)
			return false;
		text += n;
		len -= n;
	}
	return true;
}

/*
 * Decodes the first byte of text into *out. Returns how many bytes of text it took; 0 for an
 * invalid escape.
 */
static size_t take_byte(const char *text, size_t len, bool plus_is_space, char *out)
{
	int byte;

	if (text[0] != '%') {
		*out = text[0] == '+' && plus_is_space ? ' ' : text[0];
		return 1;
	}
	byte = text_hex_byte(text + 1, len - 1);
	if (byte < 0)
		return 0;
	*out = (char)byte;
	return 3;
}

/* Length of the part of text without escapes. */
static size_t plain_length(const char *text, size_t len, bool plus_is_space)
{
	const char *end = memchr(text, '%', len);

	if (end)
		len = (size_t)(end - text);
	if (plus_is_space && (end = memchr(text, '+', len)))
		len = (size_t)(end - text);
	return strnlen(text, len);
}

int httppath_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size)
{
	size_t used = 0;

	while (len > 0 && used + 1 < size) {
		size_t room = size - 1 - used, taken = plain_length(text, len < room ? len : room, plus_is_space);

		memcpy(out + used, text, taken);
		used += taken;
		text += taken;
		len -= taken;
		if (len == 0 || used + 1 == size)
			break;
		taken = take_byte(text, len, plus_is_space, &out[used]);

		if (taken == 0 || out[used] == '\0')
			break;
		used++;
		text += taken;
		len -= taken;
	}
	if (len == 0 && used < size && is_utf8(out, used)) {
		out[used] = '\0';
		return 0;
	}
	if (size > 0)
		out[0] = '\0';
	return -1;
}

static bool name_is(const char *text, size_t len, const char *name)
{
	char decoded[NAME_MAX_LEN + 1];

	if (len == strlen(name) && memcmp(text, name, len) == 0)
		return true;
	return httppath_decode(text, len, true, decoded, sizeof(decoded)) == 0 && strcmp(decoded, name) == 0;
}

const char *httppath_param(const char *query, size_t query_len, const char *name, size_t *value_len)
{
	const char *end;

	if (!query)
		return NULL;
	end = query + query_len;
	while (query < end) {
		const char *stop = memchr(query, '&', (size_t)(end - query));
		const char *equals;

		if (!stop)
			stop = end;
		equals = memchr(query, '=', (size_t)(stop - query));
		if (name_is(query, (size_t)((equals ? equals : stop) - query), name)) {
			*value_len = equals ? (size_t)(stop - equals - 1) : 0;
			return equals ? equals + 1 : stop;
		}
		query = stop < end ? stop + 1 : end;
	}
	return NULL;
}
