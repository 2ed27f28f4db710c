/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/router.h"

#include <string.h>

/* Compares pattern and path, segment by segment; both begin with a slash. */
static bool pattern_fits(const char *pattern, const char *path, const char *end, struct route_parts *parts)
{
	parts->count = 0;
	for (;;) {
		size_t fixed = (size_t)(strchrnul(pattern, '{') - pattern), len;
		const char *slash;

		if ((size_t)(end - path) < fixed || memcmp(pattern, path, fixed) != 0)
			return false;
		pattern += fixed;
		path += fixed;
		if (!*pattern)
			return path == end || (*path == '/' && path + 1 == end);
		slash = memchr(path, '/', (size_t)(end - path));
		len = (size_t)((slash ? slash : end) - path);
		if (!len)
			return false;
		parts->list[parts->count].text = path;
		parts->list[parts->count++].len = len;
		path += len;
		pattern += strcspn(pattern, "}") + 1;
	}
}

const struct route *router_find(const struct route *routes, enum route_port port, const char *raw_path, size_t len,
	struct route_parts *parts)
{
	for (const struct route *r = routes; r->pattern; r++)
		if (r->ports & port && pattern_fits(r->pattern, raw_path, raw_path + len, parts))
			return r;
	parts->count = 0;
	return NULL;
}

bool router_allows(const struct route *route, const char *method)
{
	size_t len = strlen(method);

	for (const char *at = route->methods; *at; at += strspn(at, ", ")) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, method, len))
			return true;
		at += n;
	}
	return false;
}
