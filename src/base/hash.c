/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fingerprint.h"

/* SipHash-1-3 (Aumasson and Bernstein): one round per word, three at the end. */
struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	s->v0 ^= word;
}

uint64_t hash_keyed(uint64_t key0, uint64_t key1, const void *bytes, size_t len)
{
	struct sip s = { key0 ^ UINT64_C(0x736f6d6570736575), key1 ^ UINT64_C(0x646f72616e646f6d),
		key0 ^ UINT64_C(0x6c7967656e657261), key1 ^ UINT64_C(0x7465646279746573) };
	const unsigned char *p = bytes;
	size_t rest = len;
	uint64_t word = 0;

	for (; rest >= sizeof(word); rest -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sip_word(&s, word);
	}
	word = (uint64_t)len << 56;
	for (size_t i = 0; i < rest; i++)
		word |= (uint64_t)p[i] << (8 * i);
	sip_word(&s, word);
	s.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t hash_long(const void *bytes, size_t len)
{
	static uint64_t key[2];
	static bool made;

	if (!made) {
		key[0] = fingerprint_random();
		key[1] = fingerprint_random();
		made = true;
	}
	return hash_keyed(key[0], key[1], bytes, len);
}

unsigned hash_of(const void *bytes, size_t len)
{
	return (unsigned)hash_long(bytes, len);
}

char *hash_text(const void *bytes, size_t len, char out[HASH_TEXT])
{
	static uint64_t keys[4];
	uint64_t halves[2];

	while (!keys[3])
		for (size_t i = 0; i < 4; i++)
			keys[i] = fingerprint_random();
	halves[0] = hash_keyed(keys[0], keys[1], bytes, len);
	halves[1] = hash_keyed(keys[2], keys[3], bytes, len);
	for (size_t i = 0; i < HASH_TEXT - 1; i++)
		out[i] = "0123456789abcdef"[(halves[i / 16] >> (4 * (i % 16))) & 15];
	out[HASH_TEXT - 1] = '\0';
	return out;
}
