/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/mark.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/fingerprint.h"

uint64_t mark_word(uint64_t mark, uint64_t word)
{
	mark = (mark ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return mark ^ (mark >> 29);
}

uint64_t mark_pair(uint64_t mark, int32_t a, int32_t b)
{
	return mark_word(mark, (uint64_t)(uint32_t)a << 32 | (uint32_t)b);
}

uint64_t mark_number(uint64_t mark, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return mark_word(mark, bits);
}

uint64_t mark_text(uint64_t mark, const char *text)
{
	return mark_word(mark, text ? fingerprint_fast(text, strlen(text)) : 0);
}

uint64_t mark_err(uint64_t mark, const struct err *err)
{
	return mark_text(mark, err ? err->msg : NULL);
}

/* A number after a blank that may be an HTTP status, and is not part of a time. */
static bool is_status(const char *digits, size_t len)
{
	const char *unit = digits + len + strspn(digits + len, " ");

	return len == 3 && digits[0] >= '1' && digits[0] <= '5' && strncmp(unit, "ms", 2) != 0 &&
		!(*unit == 's' && !isalpha((unsigned char)unit[1]));
}

uint64_t mark_words(uint64_t mark, const char *text)
{
	bool quoted = false;
	char before = ' ';

	for (size_t len; *text; text += len) {
		len = strspn(text, "0123456789");
		if (len > 0 && !quoted && before == ' ' && is_status(text, len))
			mark = mark_pair(mark, (int32_t)len, (text[0] * 256 + text[1]) * 256 + text[2]);
		if (len > 0) {
			before = '0';
			continue;
		}
		len = 1;
		before = *text;
		if (*text == '"')
			quoted = !quoted;
		else if (!quoted)
			mark = mark_word(mark, (unsigned char)*text);
	}
	return mark;
}
