/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>

static bool is_tail(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

/*
 * After these first bytes not every second byte is valid: no overlong forms, no surrogates, nothing
 * above U+10FFFF.
 */
static bool second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xE0: return second >= 0xA0 && second <= 0xBF;
	case 0xED: return second >= 0x80 && second <= 0x9F;
	case 0xF0: return second >= 0x90 && second <= 0xBF;
	case 0xF4: return second >= 0x80 && second <= 0x8F;
	default: return is_tail(second);
	}
}

size_t utf8_step(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	if (len == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xC2 || s[0] > 0xF4)
		return 0;
	size_t want = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
	if (len < want || !second_fits(s[0], s[1]))
		return 0;
	for (size_t i = 2; i < want; i++)
		if (!is_tail(s[i]))
			return 0;
	return want;
}

size_t utf8_cut(const char *text, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && is_tail((unsigned char)text[max]))
		max--;
	return max;
}
