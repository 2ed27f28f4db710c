/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/hmac.h"

#include <stdlib.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

/* They fail only without memory, and then nothing here goes on. */
void hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len, uint8_t out[HMAC_SIZE])
{
	unsigned size = HMAC_SIZE;

	if (!HMAC(EVP_sha256(), key, (int)key_len, bytes, len, out, &size))
		abort();
}

void hmac_digest(const void *bytes, size_t len, uint8_t out[HMAC_SIZE])
{
	if (!EVP_Digest(bytes, len, out, NULL, EVP_sha256(), NULL))
		abort();
}

char *hmac_hex(const uint8_t bytes[HMAC_SIZE], char out[HMAC_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < HMAC_SIZE; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * HMAC_SIZE] = '\0';
	return out;
}
