/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/reviewpaths.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/fingerprint.h"

#define DIGITS_MIN 32 /* 128 bits */

void reviewpaths_make(char out[REVIEWPATHS_SIZE])
{
	snprintf(out, REVIEWPATHS_SIZE, REVIEWPATHS_SECRET "%016llx%016llx", (unsigned long long)fingerprint_random(),
		(unsigned long long)fingerprint_random());
}

bool reviewpaths_is_secret(const char *path)
{
	const char *digits = path + sizeof(REVIEWPATHS_SECRET) - 1;
	size_t len;

	if (strncmp(path, REVIEWPATHS_SECRET, sizeof(REVIEWPATHS_SECRET) - 1) != 0)
		return false;
	len = strspn(digits, "0123456789abcdef");
	return len >= DIGITS_MIN && digits[len] == '\0' && strlen(path) < REVIEWPATHS_SIZE;
}

static size_t without_slash(const char *path, size_t len)
{
	return len > 1 && path[len - 1] == '/' ? len - 1 : len;
}

static bool is_same(const struct reviewpath *one, const char *path, size_t len)
{
	return strlen(one->text) == len && CRYPTO_memcmp(one->text, path, len) == 0;
}

/* The entry of this path, or the one that expires first; NULL: all are in use. */
static struct reviewpath *place_for(struct reviewpaths *p, const char *path, size_t len)
{
	struct reviewpath *place = &p->list[0];

	for (size_t i = 0; i < REVIEWPATHS_MAX; i++) {
		if (is_same(&p->list[i], path, len))
			return &p->list[i];
		if (p->list[i].until_ms < place->until_ms)
			place = &p->list[i];
	}
	return place->until_ms == INT64_MAX ? NULL : place;
}

static void keep_path(struct reviewpaths *p, const char *path, int64_t until_ms)
{
	size_t len = without_slash(path, strlen(path));
	struct reviewpath *place = len > 0 && len < REVIEWPATHS_SIZE ? place_for(p, path, len) : NULL;

	if (!place)
		return;
	if (!is_same(place, path, len))
		place->until_ms = 0;
	snprintf(place->text, sizeof place->text, "%.*s", (int)len, path);
	if (place->until_ms < until_ms)
		place->until_ms = until_ms;
}

void reviewpaths_retire(struct reviewpaths *p, int64_t now_ms)
{
	for (size_t i = 0; i < REVIEWPATHS_MAX; i++)
		if (p->list[i].until_ms == INT64_MAX)
			p->list[i].until_ms = now_ms + REVIEWPATHS_LAG_MS;
}

void reviewpaths_name(struct reviewpaths *p, const char *path)
{
	keep_path(p, path, INT64_MAX);
}

void reviewpaths_expect(struct reviewpaths *p, const char *path, int64_t now_ms)
{
	keep_path(p, path, now_ms + REVIEWPATHS_LAG_MS);
}

bool reviewpaths_has(const struct reviewpaths *p, const char *path, size_t len, int64_t now_ms)
{
	bool has = false;

	len = without_slash(path, len);
	for (size_t i = 0; len > 0 && i < REVIEWPATHS_MAX; i++)
		has |= is_same(&p->list[i], path, len) && now_ms < p->list[i].until_ms;
	return has;
}
