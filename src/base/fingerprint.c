/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fingerprint.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

#define KEY_BYTES   32
#define SHOWN_BYTES ((FINGERPRINT_TEXT - 1) / 2)

/*
 * getrandom never fails for so few bytes once the system has booted; without it no key is worth
 * anything.
 */
static void random_bytes(void *out, size_t len)
{
	unsigned char *p = out;

	while (len > 0) {
		ssize_t got = getrandom(p, len, 0);
		if (got <= 0) {
			fputs("kscaled: getrandom failed\n", stderr);
			abort();
		}
		p += got;
		len -= (size_t)got;
	}
}

static const unsigned char *process_key(void)
{
	static unsigned char key[KEY_BYTES];
	static bool made;

	if (!made) {
		random_bytes(key, sizeof(key));
		made = true;
	}
	return key;
}

/* Absent and present strings have different first bytes; a length says where each ends. */
static size_t framed_size(const char *text)
{
	return 1 + (text != NULL ? sizeof(uint64_t) + strlen(text) : 0);
}

static unsigned char *put_framed(unsigned char *out, const char *text)
{
	*out++ = text != NULL ? 1 : 0;
	if (text == NULL)
		return out;
	uint64_t len = strlen(text);
	memcpy(out, &len, sizeof(len));
	memcpy(out + sizeof(len), text, len);
	return out + sizeof(len) + len;
}

char *fingerprint_of(const char *const *strings, size_t count, char out[FINGERPRINT_TEXT])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned digest_len = 0;
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += framed_size(strings[i]);
	unsigned char *framed = mem_alloc(size);
	unsigned char *end = framed;
	for (size_t i = 0; i < count; i++)
		end = put_framed(end, strings[i]);
	if (HMAC(EVP_sha256(), process_key(), KEY_BYTES, framed, size, digest, &digest_len) == NULL ||
		digest_len < SHOWN_BYTES)
		abort();
	mem_wipe(framed, size);
	free(framed);
	for (size_t i = 0; i < 2 * SHOWN_BYTES; i++)
		out[i] = "0123456789abcdef"[(digest[i / 2] >> (i % 2 ? 0 : 4)) & 15];
	out[2 * SHOWN_BYTES] = '\0';
	return out;
}

/* FNV-1a, finished with a mix so that similar texts differ in all bits. */
uint64_t fingerprint_fast(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	hash = (hash ^ (hash >> 33)) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ (hash >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ (hash >> 33);
}

uint64_t fingerprint_random(void)
{
	uint64_t value;

	random_bytes(&value, sizeof(value));
	return value;
}

double fingerprint_random_unit(void)
{
	return (double)(fingerprint_random() >> 11) * 0x1.0p-53;
}
