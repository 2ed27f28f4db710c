/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_HMAC_H
#define NET_SIGN_HMAC_H

/* SHA-256 and HMAC-SHA-256, for the signers of this folder. Pure. */

#include <stddef.h>
#include <stdint.h>

#define HMAC_SIZE 32
#define HMAC_TEXT (2 * HMAC_SIZE + 1) /* as hexadecimal digits, with a NUL */

/* out may be the key. */
void hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len, uint8_t out[HMAC_SIZE]);
void hmac_digest(const void *bytes, size_t len, uint8_t out[HMAC_SIZE]); /* SHA-256, without a key */

char *hmac_hex(const uint8_t bytes[HMAC_SIZE], char out[HMAC_TEXT]); /* in lower case; returns out */

#endif
