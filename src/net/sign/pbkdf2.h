/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_PBKDF2_H
#define NET_SIGN_PBKDF2_H

/*
 * PBKDF2 over HMAC (RFC 8018), one block, in pieces: OpenSSL's own runs all rounds in one call, and
 * the server chooses their number. Pure; net/sign/salter decides when to run.
 */

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

struct pbkdf2;

/* Arguments are borrowed for this call. rounds: at least 1. NULL: OpenSSL lacks the hash. */
struct pbkdf2 *pbkdf2_new(const EVP_MD *md, const char *password, const void *salt, size_t salt_len, unsigned rounds);
void pbkdf2_free(struct pbkdf2 *p); /* wipes; NULL is fine */

bool pbkdf2_run(struct pbkdf2 *p, unsigned rounds);         /* runs up to that many more; true: all are done */
const unsigned char *pbkdf2_result(const struct pbkdf2 *p); /* of the hash's length; borrowed */

#endif
