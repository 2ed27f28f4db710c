/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_PRIVATEKEY_H
#define NET_TLS_PRIVATEKEY_H

/*
 * Private keys that objects name: of client certificates, service accounts, applications. They are
 * read here and nowhere else, because their owner decides what reading and using them costs: rounds
 * of key derivation to decrypt (an hour in one call, for a library that obeys), and bits at each
 * handshake. What is too expensive is refused before anything is calculated.
 *
 * A library that reads keys itself (libcurl, libpq, the MariaDB connector) gets the text of
 * privatekey_plain and never a password, so a key is decrypted once, not at each connection.
 */

#include "base/err.h"

typedef struct evp_pkey_st EVP_PKEY;

#define PRIVATEKEY_TEXT_MAX   131072 /* bytes of PEM text, which may hold certificates, too */
#define PRIVATEKEY_ROUNDS_MAX 600000 /* of PBKDF2 and older schemes; of scrypt, N * r * p */
#define PRIVATEKEY_BITS_MAX   4096   /* of RSA: 3 ms for each handshake; twice the bits take 20 ms */

/*
 * The first private key in the PEM text, which may be encrypted: RSA, ECDSA on a named curve,
 * Ed25519, Ed448. The caller owns it. password: NULL or "" for none; unused if the key is not
 * encrypted. NULL with ERR_INVALID, or with ERR_TEMPORARY (net/tls/computing).
 */
EVP_PKEY *privatekey_read(const char *pem, const char *password, struct err *err);

/*
 * The same key, checked, as PEM text (PKCS#8) without a password. A secret; the caller owns it.
 * NULL with err.
 */
char *privatekey_plain(const char *pem, const char *password, struct err *err);

/* The key as PEM text (PKCS#8) without a password. A secret, for the caller. NULL on failure. */
char *privatekey_write(EVP_PKEY *key);

/* Wipes the recently decrypted keys (for tests). */
void privatekey_forget(void);

#endif
