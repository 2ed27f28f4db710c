/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_PBKDF2_H
#define NET_SIGN_PBKDF2_H

/*
 * PBKDF2 over HMAC (RFC 8018), of one block, in pieces: OpenSSL's own computes all rounds in one
 * call, and how many there are is a server's choice. Pure; who computes how much of it when:
 * net/sign/salter.
 */

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

struct pbkdf2;

/* All is borrowed for this call. rounds: at least 1. NULL: this OpenSSL has no such hash. */
struct pbkdf2 *pbkdf2_new(const EVP_MD *md, const char *password, const void *salt, size_t salt_len, unsigned rounds);
void pbkdf2_free(struct pbkdf2 *p); /* wipes; NULL is fine */

bool pbkdf2_run(struct pbkdf2 *p, unsigned rounds);         /* at most so many more; whether all are done */
const unsigned char *pbkdf2_result(const struct pbkdf2 *p); /* as long as the hash; borrowed */

#endif
