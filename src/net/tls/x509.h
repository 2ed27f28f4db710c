/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_X509_H
#define NET_TLS_X509_H

/*
 * X.509 certificates: makes our CA and serving certificate, reads validity, and verifies client
 * chains against given roots (the aggregator's front proxy).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct bio_st BIO;
typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;
struct stack_st_X509;

/* The next certificate of a PEM text, which the caller owns, or NULL. Never asks for a password. */
X509 *x509_next(BIO *bio);

struct x509_pair {
	char *cert_pem; /* owned */
	char *key_pem;  /* owned; a secret */
};
void x509_pair_done(struct x509_pair *pair); /* wipes the key */

/*
 * Certificates are valid from this long before they are made, because the verifier's clock may be
 * behind.
 */
#define X509_BACKDATE_S 86400

/*
 * A self-signed CA (ECDSA P-256), valid from a day ago until valid_s seconds from now. Name
 * constraints and usages limit it to serving certificates for these names (NULL-terminated, the
 * first a DNS name; IP literals are addresses) and DNS names below them: a client certificate,
 * another server's certificate or a further CA signed by its key is not accepted.
 */
int x509_make_ca(const char *common_name, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out, struct err *err);

/*
 * A serving certificate (serverAuth) signed by `ca`. dns_names: NULL-terminated; the first is the
 * common name, too; IP literals become IP SANs.
 */
int x509_make_serving(const struct x509_pair *ca, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out, struct err *err);

struct x509_facts {
	int64_t not_before_unix_ms;
	int64_t not_after_unix_ms;
	char subject_cn[256];
};
int x509_read(const char *cert_pem, struct x509_facts *out, struct err *err);

/*
 * Whether cert_pem is signed by ca_pem, matches key_pem and names each of dns_names. If not, why
 * (may be NULL) gets the reason.
 */
bool x509_fits(const char *cert_pem, const char *key_pem, const char *ca_pem, const char *const *dns_names, char *why,
	size_t why_size);

/*
 * Whether the CA has exactly the limits that x509_make_ca sets for these names. False if it cannot
 * be parsed.
 */
bool x509_ca_is_confined(const char *ca_pem, const char *const *dns_names);

/*
 * Adds all certificates of a PEM text, at most `most`, and frees bio. Returns their number; most +
 * 1 if there are more.
 */
size_t x509_add_pem(X509_STORE *store, BIO *bio, size_t most);
/* The number of blocks in a PEM text, at most `most`, without reading them. 0 for NULL. */
size_t x509_count_pem(const char *pem, size_t most);

/*
 * SHA-256 of the first certificate of a PEM text, in DER: its usual identifier. -1 with
 * ERR_INVALID: no certificate.
 */
#define X509_THUMBPRINT 32
int x509_thumbprint(const char *pem, uint8_t out[X509_THUMBPRINT], struct err *err);

/* The roots in a PEM bundle; free with X509_STORE_free. NULL with err. */
X509_STORE *x509_store_from_pem(const char *pem, struct err *err);

/*
 * Verifies a client certificate for clientAuth at the current time. chain: the other certificates
 * that the client sent; may be NULL.
 */
int x509_verify_client(X509_STORE *roots, X509 *leaf, struct stack_st_X509 *chain, struct err *err);

/* Copies the subject's common name; "" if there is none. */
void x509_common_name(X509 *cert, char *out, size_t size);

#endif
