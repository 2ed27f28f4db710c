/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_X509_H
#define NET_X509_H

/*
 * Certificates: making our own CA and serving certificate, reading when one ends, and checking a
 * client's chain against a given set of roots (the aggregator's front proxy).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;
struct stack_st_X509;

struct x509_pair {
	char *cert_pem; /* owned */
	char *key_pem;  /* owned; a secret */
};
void x509_pair_done(struct x509_pair *pair); /* wipes the key */

/*
 * A self-signed CA (ECDSA P-256), valid from an hour before now for valid_s seconds. Whoever has
 * its key can make nothing with it but certificates of servers of these names (NULL-terminated, the
 * first a DNS name; IP literals are addresses) and, as name constraints have it, of names below: no
 * client, no other server, no further authority is believed.
 */
int x509_make_ca(const char *common_name, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out, struct err *err);

/*
 * A certificate for serverAuth signed by `ca`; dns_names NULL-terminated, the first is the common
 * name; IP literals become IP SANs.
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
 * True when cert_pem is signed by ca_pem, key_pem fits it and it names each of dns_names. *why (may
 * be NULL) says what does not fit.
 */
bool x509_fits(const char *cert_pem, const char *key_pem, const char *ca_pem, const char *const *dns_names, char *why,
	size_t why_size);

/*
 * True when the authority is confined as x509_make_ca does it, to exactly these names. False for
 * one that cannot be read.
 */
bool x509_ca_is_confined(const char *ca_pem, const char *const *dns_names);

/* Roots from one PEM bundle; X509_STORE_free frees it. */
X509_STORE *x509_store_from_pem(const char *pem, struct err *err);

/* Verifies a client's certificate (and the chain it sent, may be NULL) for clientAuth at now. */
int x509_verify_client(X509_STORE *roots, X509 *leaf, struct stack_st_X509 *chain, struct err *err);

/* The subject's common name into out; "" when it has none. */
void x509_common_name(X509 *cert, char *out, size_t size);

#endif
