/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fingerprint.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"

#define KEY_BYTES   32
#define SHOWN_BYTES ((FINGERPRINT_TEXT - 1) / 2)

/* Cannot fail for so few bytes. */
static void random_bytes(void *out, size_t len)
{
	if (getentropy(out, len) == 0)
		return;
	fputs("kscaled: getentropy failed\n", stderr);
	abort();
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

/*
 * Frames each string by its presence and length. Reserves the room first, because growing would
 * leave copies of secrets.
 */
static void put_framed(struct buf *out, const char *const *strings, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += 1 + sizeof(size_t) + (strings[i] ? strlen(strings[i]) : 0);
	buf_reserve(out, size);
	for (size_t i = 0; i < count; i++) {
		size_t len = strings[i] ? strlen(strings[i]) : 0;

		buf_putc(out, strings[i] ? 1 : 0);
		if (!strings[i])
			continue;
		buf_append(out, &len, sizeof(len));
		buf_append(out, strings[i], len);
	}
}

char *fingerprint_of(const char *const *strings, size_t count, char out[FINGERPRINT_TEXT])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned digest_len = 0;
	struct buf framed = BUF_INIT(SIZE_MAX);

	put_framed(&framed, strings, count);
	if (HMAC(EVP_sha256(), process_key(), KEY_BYTES, (const unsigned char *)buf_text(&framed), framed.len, digest,
		    &digest_len) == NULL ||
		digest_len < SHOWN_BYTES)
		abort();
	buf_done_secret(&framed);
	for (size_t i = 0; i < 2 * SHOWN_BYTES; i++)
		out[i] = "0123456789abcdef"[(digest[i / 2] >> (i % 2 ? 0 : 4)) & 15];
	out[2 * SHOWN_BYTES] = '\0';
	return out;
}

/* FNV-1a with murmur3's finalizer, so that similar texts differ in all bits. */
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
