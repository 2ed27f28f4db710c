/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_JWT_H
#define NET_SIGN_JWT_H

/*
 * JSON Web Tokens signed with an RSA key (RFC 7518, 3.3 and 3.5): RS256 for Google's service
 * accounts and GitHub Apps, PS256 for applications of Entra ID with a certificate. Pure.
 */

#include <jansson.h>

#include "base/err.h"

enum jwt_algorithm { JWT_RS256, JWT_PS256 };

/*
 * The token, which the caller owns (a secret). key_pem: PKCS #1 or PKCS #8, without a password.
 * header (may be NULL): header fields besides alg and typ ("kid", "x5t#S256"). NULL with
 * ERR_INVALID, which quotes nothing: not an RSA key of 2048 to 4096 bits (signing with a longer one
 * would block the loop).
 */
char *jwt_sign(enum jwt_algorithm algorithm, const json_t *header, const json_t *claims, const char *key_pem,
	struct err *err);

/* 0 if jwt_sign accepts the key; else its error. */
int jwt_check_key(const char *key_pem, struct err *err);

#endif
