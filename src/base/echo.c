/* SPDX-License-Identifier: Apache-2.0 */
#include "base/echo.h"

#include <string.h>
#include <strings.h>

#define TELLING 8 /* this many characters of a secret are no coincidence */
#define LEAST   3

static bool begins_in(const char *words, const char *secret, size_t n)
{
	for (const char *at = words; *at; at++)
		if (strncasecmp(at, secret, n) == 0)
			return true;
	return false;
}

static bool ends_with(const char *words, const char *secret, size_t n)
{
	size_t len = strlen(words);

	return len >= n && strncasecmp(words + len - n, secret, n) == 0;
}

bool echo_shows(const char *words, const char *answer, const char *secret)
{
	size_t len = secret ? strlen(secret) : 0, half = (len + 1) / 2;

	if (len == 0)
		return false;
	if (strcasestr(words, secret))
		return true;
	if (!answer || !strcasestr(answer, secret))
		return false;
	if (len > TELLING && begins_in(words, secret, TELLING))
		return true;
	for (size_t n = half > LEAST ? half : LEAST; n < len; n++)
		if (ends_with(words, secret, n))
			return true;
	return false;
}
