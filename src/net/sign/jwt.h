/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_JWT_H
#define NET_SIGN_JWT_H

/*
 * JSON Web Tokens signed by an RSA key (RFC 7518, 3.3 and 3.5): how service accounts of Google,
 * GitHub Apps (RS256), and applications of Entra ID with a certificate (PS256) log in. Pure.
 */

#include <jansson.h>

#include "base/err.h"

enum jwt_algorithm { JWT_RS256, JWT_PS256 };

/*
 * The token, which the caller owns (a secret). key_pem: PKCS #1 or PKCS #8, without a password.
 * header, which may be NULL, has what stands in the header besides alg and typ ("kid", "x5t#S256").
 * NULL with ERR_INVALID, which quotes nothing: the key is not one for RSA, of 2048 to 4096 bits
 * (signing with a longer one would hold up all others).
 */
char *jwt_sign(enum jwt_algorithm algorithm, const json_t *header, const json_t *claims, const char *key_pem,
	struct err *err);

/* Whether the key is one that signs; the error is that of jwt_sign. */
int jwt_check_key(const char *key_pem, struct err *err);

#endif
