/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKEKEY_H
#define TESTS_UNIT_FAKES_FAKEKEY_H

/* Keys for what is signed with RSA, made anew for each test program. */

#include <stddef.h>

#include <openssl/evp.h>

/* A key's PEM text, which the caller owns; password: NULL: none. */
char *fakekey_pem_of(EVP_PKEY *key, const char *password);

/* That of a new key, and unless NULL that of its public half; the caller owns both. */
char *fakekey_rsa(unsigned bits, char **public_pem);

/* That of a new key; the same at each call. Borrowed. */
const char *fakekey_pem(void);

/*
 * Base64 for URLs, as in tokens, back to bytes, which the caller owns; NULL: it is none. out_len
 * may be NULL.
 */
char *fakekey_decoded(const char *text, size_t len, size_t *out_len);

/* A certificate of that key, signed by itself, for ten minutes from now; the caller owns it. */
char *fakekey_certificate(const char *key_pem);

/*
 * The key of a Google service account, robot@example.com, with that key; the caller owns it.
 * project: NULL: it says none.
 */
char *fakekey_google(const char *token_url, const char *project);

#endif
