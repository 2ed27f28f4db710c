/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/tlsguard.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

/* Intermediates between a server's certificate and a root; public chains have one or two. */
#define DEPTH_MAX 8
/* Go's limits for keys in certificates, too. With larger exponents one signature costs 15 ms. */
#define RSA_BITS_MAX          8192
#define RSA_EXPONENT_BITS_MAX 32
/* Ciphers add up to 64 bytes to a record, so one of that length may be empty. */
#define EMPTY_RECORD_MAX 64

enum { REASON_RECORDS = 100, REASON_KEY };

static int library(void)
{
	static int number;
	static ERR_STRING_DATA words[] = {
		{ ERR_PACK(0, 0, REASON_RECORDS), "the other side sends TLS records without data" },
		{ ERR_PACK(0, 0, REASON_KEY), TLSGUARD_KEY_WORDS },
		{ 0, NULL },
	};

	if (!number) {
		number = ERR_get_next_error_library();
		ERR_load_strings(number, words);
	}
	return number;
}

/* OpenSSL reads no further record and returns the error to its caller. */
static void end_connection(SSL *ssl, int reason)
{
	SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
	ERR_raise(library(), reason);
}

/* ---- Records ---- */

static int counter(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	return index;
}

/*
 * Kept with a session: how many records without data in a row, and whether the last one may have
 * held data.
 */
#define MAY_HOLD_DATA 1u
#define ONE_RECORD    2u

static void keep_count(SSL *ssl, uintptr_t before, uintptr_t now)
{
	if (now == before) /* usual: records of an answer */
		return;
	SSL_set_ex_data(ssl, counter(), (void *)now);
	if (now / ONE_RECORD > TLSGUARD_RECORDS_MAX)
		end_connection(ssl, REASON_RECORDS);
}

/* All records of a TLS 1.3 session claim to be data; the real type is inside. */
static void on_message(int sent, int version, int type, const void *bytes, size_t len, SSL *ssl, void *arg)
{
	const unsigned char *head = bytes;
	bool is_data = len > 0 && head[0] == SSL3_RT_APPLICATION_DATA, large;
	uintptr_t before, records;

	(void)version;
	(void)arg;
	if (sent || (type != SSL3_RT_HEADER && type != SSL3_RT_INNER_CONTENT_TYPE))
		return;
	before = (uintptr_t)SSL_get_ex_data(ssl, counter());
	records = before & ~(uintptr_t)MAY_HOLD_DATA;
	if (type == SSL3_RT_INNER_CONTENT_TYPE) {
		large = before & MAY_HOLD_DATA;
		keep_count(ssl, before, !is_data ? before + ONE_RECORD : large ? MAY_HOLD_DATA : records);
	} else if (len == SSL3_RT_HEADER_LENGTH) {
		large = is_data && (head[3] << 8 | head[4]) > EMPTY_RECORD_MAX;
		if (SSL_version(ssl) == TLS1_3_VERSION && is_data)
			keep_count(ssl, before, records | (large ? MAY_HOLD_DATA : 0));
		else
			keep_count(ssl, before, large ? 0 : is_data ? records : records + ONE_RECORD);
	}
}

/* ---- Certificates ---- */

static bool is_cheap_rsa(const EVP_PKEY *key)
{
	BIGNUM *exponent = NULL;
	bool cheap = EVP_PKEY_get_bits(key) <= RSA_BITS_MAX &&
		EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
		BN_num_bits(exponent) <= RSA_EXPONENT_BITS_MAX;

	BN_free(exponent);
	return cheap;
}

static bool is_cheap(const X509 *cert)
{
	const EVP_PKEY *key = X509_get0_pubkey(cert);
	char name[64];

	switch (key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE) {
	case EVP_PKEY_RSA:
	case EVP_PKEY_RSA_PSS: return is_cheap_rsa(key);
	case EVP_PKEY_EC: return EVP_PKEY_get_group_name(key, name, sizeof(name), NULL) == 1;
	case EVP_PKEY_ED25519:
	case EVP_PKEY_ED448: return true;
	default: return false;
	}
}

bool tlsguard_allows(X509_STORE_CTX *ctx)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
	const STACK_OF(X509) *others = X509_STORE_CTX_get0_untrusted(ctx);
	bool allowed = is_cheap(X509_STORE_CTX_get0_cert(ctx));

	for (int i = 0; allowed && i < sk_X509_num(others); i++)
		allowed = is_cheap(sk_X509_value(others, i));
	if (allowed)
		return true;
	X509_STORE_CTX_set_error(ctx, X509_V_ERR_APPLICATION_VERIFICATION);
	end_connection(ssl, REASON_KEY);
	return false;
}

static int on_chain(X509_STORE_CTX *ctx, void *arg)
{
	(void)arg;
	return tlsguard_allows(ctx) ? X509_verify_cert(ctx) : 0;
}

/* ---- A context ---- */

void tlsguard_apply(SSL_CTX *ctx)
{
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_msg_callback(ctx, on_message);
	SSL_CTX_set_cipher_list(ctx, TLSGUARD_CIPHERS);
	SSL_CTX_set1_groups_list(ctx, (char *)(uintptr_t)TLSGUARD_GROUPS); /* the macro casts const away */
	SSL_CTX_set_max_cert_list(ctx, TLSGUARD_CHAIN_MAX);
	SSL_CTX_set_verify_depth(ctx, DEPTH_MAX);
	SSL_CTX_set_cert_verify_callback(ctx, on_chain, NULL);
	ERR_clear_error();
}

void tlsguard_apply_late(SSL *ssl)
{
	SSL_set_cipher_list(ssl, TLSGUARD_CIPHERS);
	SSL_set1_groups_list(ssl, (char *)(uintptr_t)TLSGUARD_GROUPS);
	SSL_set_max_cert_list(ssl, TLSGUARD_CHAIN_MAX);
	ERR_clear_error();
}
