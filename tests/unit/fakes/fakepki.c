/* SPDX-License-Identifier: Apache-2.0 */
#include "fakepki.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/mem.h"

#define NAMES_MAX 1024

static void must(int ok)
{
	if (!ok)
		fail_msg("OpenSSL refuses to make a certificate");
}

static X509 *new_cert(EVP_PKEY *key, const char *common_name, int64_t now_unix_ms, int64_t valid_s)
{
	X509 *cert = X509_new();
	BIGNUM *serial = BN_new();
	int len = (int)strnlen(common_name, 64);

	must(BN_rand(serial, 159, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
		BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)) && X509_set_version(cert, X509_VERSION_3) &&
		ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(now_unix_ms / 1000 - 3600)) &&
		ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)(now_unix_ms / 1000 + valid_s)) &&
		X509_set_pubkey(cert, key) &&
		X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName, MBSTRING_UTF8,
			(const unsigned char *)common_name, len, -1, 0));
	BN_free(serial);
	return cert;
}

static void add(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	must(extension && X509_add_ext(cert, extension, -1));
	X509_EXTENSION_free(extension);
}

static char *text_of(BIO *bio)
{
	char *bytes;
	long len = BIO_get_mem_data(bio, &bytes);
	char *text = mem_dupn(bytes, (size_t)len);

	BIO_free(bio);
	return text;
}

/* Takes cert and key. */
static void sign(X509 *cert, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key, struct x509_pair *out)
{
	BIO *cert_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());

	must(X509_set_issuer_name(cert, X509_get_subject_name(issuer)) && X509_sign(cert, issuer_key, EVP_sha256()) &&
		PEM_write_bio_X509(cert_bio, cert) &&
		PEM_write_bio_PKCS8PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL));
	out->cert_pem = text_of(cert_bio);
	out->key_pem = text_of(key_bio);
	X509_free(cert);
	EVP_PKEY_free(key);
}

void fakepki_authority(const char *common_name, int64_t now_unix_ms, int64_t valid_s, struct x509_pair *out)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = new_cert(key, common_name, now_unix_ms, valid_s);

	add(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
	add(cert, cert, NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign");
	add(cert, cert, NID_subject_key_identifier, "hash");
	sign(cert, key, cert, key, out);
}

static void alt_names(const char *const *dns_names, char *out, size_t size)
{
	unsigned char address[16];
	size_t len = 0;

	for (size_t i = 0; dns_names[i]; i++) {
		bool is_address = inet_pton(AF_INET, dns_names[i], address) == 1 ||
			inet_pton(AF_INET6, dns_names[i], address) == 1;

		len += (size_t)snprintf(out + len, size - len, "%s%s:%s", i ? "," : "", is_address ? "IP" : "DNS",
			dns_names[i]);
		assert_true(len < size);
	}
}

void fakepki_certificate_for(const struct x509_pair *ca, const char *const *dns_names, const char *usage, int is_ca,
	int64_t now_unix_ms, int64_t valid_s, struct x509_pair *out)
{
	BIO *cert_bio = BIO_new_mem_buf(ca->cert_pem, -1), *key_bio = BIO_new_mem_buf(ca->key_pem, -1);
	X509 *issuer = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
	EVP_PKEY *issuer_key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL), *key = EVP_EC_gen("P-256");
	X509 *cert = new_cert(key, dns_names[0], now_unix_ms, valid_s);
	char names[NAMES_MAX];

	must(issuer && issuer_key);
	alt_names(dns_names, names, sizeof names);
	add(cert, issuer, NID_basic_constraints, is_ca ? "critical,CA:TRUE" : "critical,CA:FALSE");
	add(cert, issuer, NID_key_usage, is_ca ? "critical,keyCertSign" : "critical,digitalSignature");
	add(cert, issuer, NID_ext_key_usage, usage);
	add(cert, issuer, NID_subject_key_identifier, "hash");
	add(cert, issuer, NID_authority_key_identifier, "keyid:always");
	add(cert, issuer, NID_subject_alt_name, names);
	sign(cert, key, issuer, issuer_key, out);
	X509_free(issuer);
	EVP_PKEY_free(issuer_key);
	BIO_free(cert_bio);
	BIO_free(key_bio);
}

void fakepki_certificate(const struct x509_pair *ca, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out)
{
	fakepki_certificate_for(ca, dns_names, "serverAuth,clientAuth", 0, now_unix_ms, valid_s, out);
}
