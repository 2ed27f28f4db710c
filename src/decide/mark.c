/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/mark.h"

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
