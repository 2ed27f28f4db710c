/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_TLSGUARD_H
#define NET_TLS_TLSGUARD_H

/*
 * Limits what the other side of a TLS connection may cost: it chooses groups, keys and chains that
 * we calculate with, and may send records that cost OpenSSL work but carry no data. Applied to the
 * contexts of net/tls/tls, and to libcurl's for servers that objects name.
 */

#include <stdbool.h>

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_store_ctx_st X509_STORE_CTX;

#define TLSGUARD_CHAIN_MAX   65536 /* bytes of the other side's certificates */
#define TLSGUARD_RECORDS_MAX 256   /* in a row, without data: tickets, key updates, alerts */
/*
 * The same as Go's. No finite fields: with one of 8,192 bits, which each client may choose, a
 * handshake costs 0.15 s.
 */
#define TLSGUARD_GROUPS "X25519:P-256:P-384:P-521:X448"
/* For TLS 1.2. With DHE the server chooses the group: one of 10,000 bits costs 0.9 s. */
#define TLSGUARD_CIPHERS "DEFAULT:!kDHE:!kDHEPSK"
#define TLSGUARD_KEY_WORDS                                                                                             \
	"a key in the certificate chain is too expensive: RSA may have up to 8192 bits and a public exponent of 32 "   \
	"bits, a curve must have a name"

/*
 * Elliptic groups only, no DHE. OpenSSL returns after each record, and the connection ends with an
 * error of its own if records without data never end. Uses the context's message callback. A chain
 * with too expensive keys is refused before it is verified.
 */
void tlsguard_apply(SSL_CTX *ctx);

/* Applies groups, ciphers and chain size to a session that was made before. */
void tlsguard_apply_late(SSL *ssl);

/*
 * For a certificate verify callback that replaces tlsguard_apply's: whether the keys of leaf and
 * intermediates are affordable. If not, the connection ends, even if nothing is verified, and the
 * error of ctx is X509_V_ERR_APPLICATION_VERIFICATION.
 */
bool tlsguard_allows(X509_STORE_CTX *ctx);

#endif
