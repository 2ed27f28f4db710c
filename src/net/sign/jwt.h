/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_JWT_H
#define NET_SIGN_JWT_H

/*
 * JSON Web Tokens signed by an RSA key (RS256, RFC 7518): how service accounts of Google and GitHub
 * Apps log in, and Entra's client certificates (whose thumbprint stands in the header). Pure.
 */

#include <jansson.h>

#include "base/err.h"

/*
 * The token, which the caller owns (a secret). key_pem: PKCS #1 or PKCS #8, without a password.
 * header, which may be NULL, has what stands in the header besides alg and typ ("kid", "x5t").
 * NULL with ERR_INVALID, which quotes nothing: the key is not one for RSA, of 2048 to 8192 bits.
 */
char *jwt_rs256(const json_t *header, const json_t *claims, const char *key_pem, struct err *err);

/* Whether a key is one for that: 0, or -1 as above. */
int jwt_check_key(const char *key_pem, struct err *err);

#endif
