/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_PRIVATEKEY_H
#define NET_TLS_PRIVATEKEY_H

/*
 * Private keys that objects name: of client certificates, service accounts, applications. Each is
 * read here and nowhere else, because its owner decides what reading and using it costs: rounds of
 * key derivation until it is decrypted (an hour in one call, where a library does as it is told),
 * and bits at each handshake. What is too expensive is refused before anything is calculated.
 *
 * A library that reads keys by itself (libcurl, libpq, the MariaDB connector) gets
 * privatekey_plain's text and never a password, so a key is decrypted once, not at each connection.
 */

#include "base/err.h"

typedef struct evp_pkey_st EVP_PKEY;

#define PRIVATEKEY_TEXT_MAX   131072 /* bytes of PEM text, which may hold certificates, too */
#define PRIVATEKEY_ROUNDS_MAX 600000 /* of PBKDF2 and the older ones; of scrypt N * r * p */
#define PRIVATEKEY_BITS_MAX   4096   /* of RSA: 3 ms for each handshake, which twice the bits make 20 */

/*
 * The first private key in the PEM text, which may be encrypted: RSA, ECDSA on a curve that has a
 * name, Ed25519, Ed448. The caller owns it. password: NULL or "" for none; not read where the key
 * is not encrypted. NULL with ERR_INVALID, or ERR_TEMPORARY: net/tls/computing.
 */
EVP_PKEY *privatekey_read(const char *pem, const char *password, struct err *err);

/*
 * The same key, judged, as a PEM text (PKCS#8) without a password. A secret; the caller owns it.
 * NULL with err.
 */
char *privatekey_plain(const char *pem, const char *password, struct err *err);

/* Wipes the keys that were decrypted last (for tests). */
void privatekey_forget(void);

#endif
