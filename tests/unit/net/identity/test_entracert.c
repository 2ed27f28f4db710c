/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies assertions as Entra ID does: with the certificate that the header names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "../../fakes/fakekey.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/identity/entracert.h"
#include "net/tls/x509.h"

#define NOW_S    INT64_C(1440938160)
#define AUDIENCE "https://login.microsoftonline.com/t/oauth2/v2.0/token"

static json_t *part_of(const char *begin)
{
	size_t len;
	MEM_AUTO char *text = fakekey_decoded(begin, strcspn(begin, "."), &len);
	json_t *value = json_loadb(text, len, 0, NULL);

	assert_non_null(value);
	return value;
}

static bool verifies(const char *cert_pem, const char *token)
{
	const char *dot = strrchr(token, '.');
	BIO *bio = BIO_new_mem_buf(cert_pem, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	EVP_PKEY_CTX *padding = NULL;
	size_t len = 0;
	char *signature = fakekey_decoded(dot + 1, strlen(dot + 1), &len);
	bool good = EVP_DigestVerifyInit(md, &padding, EVP_sha256(), NULL, X509_get0_pubkey(cert)) == 1 &&
		EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) == 1 &&
		EVP_DigestVerify(md, (unsigned char *)signature, len, (const unsigned char *)token,
			(size_t)(dot - token)) == 1;

	assert_non_null(signature);
	free(signature);
	EVP_MD_CTX_free(md);
	X509_free(cert);
	BIO_free(bio);
	return good;
}

/* The certificate's SHA-256 fingerprint, computed by OpenSSL. */
static char *thumbprint_of(const char *cert_pem)
{
	BIO *bio = BIO_new_mem_buf(cert_pem, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	unsigned char *der = NULL, sum[32];
	int len = i2d_X509(cert, &der);

	EVP_Digest(der, (size_t)len, sum, NULL, EVP_sha256(), NULL);
	OPENSSL_free(der);
	X509_free(cert);
	BIO_free(bio);
	return base64_encode_url(sum, sizeof(sum));
}

static void assertion_is_signed(void **state)
{
	MEM_AUTO char *cert = fakekey_certificate(fakekey_pem()), *thumbprint = thumbprint_of(cert);
	MEM_AUTO char *before = mem_printf("%s%s", fakekey_pem(), cert),
		      *behind = mem_printf("%s%s", cert, fakekey_pem());
	char last[37] = "";

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct err err = { 0 };
		MEM_AUTO char *token = entracert_assertion(i ? before : behind, i ? "" : NULL, "c-1", AUDIENCE,
			NOW_S * 1000 + 999, &err);
		json_t *header, *claims;
		const char *number;

		assert_non_null(token);
		assert_true(verifies(cert, token));
		header = part_of(token);
		claims = part_of(strchr(token, '.') + 1);
		assert_int_equal(json_object_size(header), 3);
		assert_string_equal(json_str_or_empty(header, "alg"), "PS256");
		assert_string_equal(json_str_or_empty(header, "typ"), "JWT");
		assert_string_equal(json_str_or_empty(header, "x5t#S256"), thumbprint);
		assert_int_equal(json_object_size(claims), 7);
		assert_string_equal(json_str_or_empty(claims, "aud"), AUDIENCE);
		assert_string_equal(json_str_or_empty(claims, "iss"), "c-1");
		assert_string_equal(json_str_or_empty(claims, "sub"), "c-1");
		assert_int_equal(json_integer_value(json_object_get(claims, "nbf")), NOW_S - 60);
		assert_int_equal(json_integer_value(json_object_get(claims, "iat")), NOW_S - 60);
		assert_int_equal(json_integer_value(json_object_get(claims, "exp")), NOW_S + 480);
		number = json_str_or_empty(claims, "jti");
		assert_int_equal(strlen(number), 36);
		assert_true(number[8] == '-' && number[13] == '-' && number[14] == '4' && number[18] == '-' &&
			strchr("89ab", number[19]) && number[23] == '-');
		assert_string_not_equal(number, last);
		strcpy(last, number);
		json_decref(header);
		json_decref(claims);
	}
}

static void encrypted_key(void **state)
{
	EVP_PKEY *key = EVP_RSA_gen(2048);
	MEM_AUTO char *plain = fakekey_pem_of(key, NULL), *cert = fakekey_certificate(plain);
	MEM_AUTO char *locked = fakekey_pem_of(key, "pass"), *pem = mem_printf("%s%s", cert, locked), *token = NULL;
	struct err err = { 0 };

	(void)state;
	token = entracert_assertion(pem, "pass", "c", AUDIENCE, NOW_S * 1000, &err);
	assert_non_null(token);
	assert_true(verifies(cert, token));
	assert_null(entracert_assertion(pem, "other", "c", AUDIENCE, NOW_S * 1000, &err));
	assert_string_equal(err.msg, "private key: it is encrypted with another password");
	assert_null(entracert_assertion(pem, NULL, "c", AUDIENCE, NOW_S * 1000, &err));
	assert_non_null(strstr(err.msg, "without a password"));
	EVP_PKEY_free(key);
}

static void invalid_input(void **state)
{
	EVP_PKEY *elliptic = EVP_EC_gen("P-256");
	MEM_AUTO char *ec_key = fakekey_pem_of(elliptic, NULL), *ec = fakekey_certificate(ec_key);
	MEM_AUTO char *of_ec = mem_printf("%s%s", ec, ec_key), *cert = fakekey_certificate(fakekey_pem());
	const struct {
		const char *pem, *said;
	} rows[] = {
		{ "", "there is no PEM text of a certificate in it" },
		{ "s3cret", "there is no PEM text of a certificate in it" },
		{ fakekey_pem(), "there is no PEM text of a certificate in it" },
		{ cert, "the private key is not a PEM text of an RSA key of 2048 to 4096 bits, without a password" },
		{ of_ec, "the private key is not a PEM text of an RSA key of 2048 to 4096 bits, without a password" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };

		assert_null(entracert_assertion(rows[i].pem, NULL, "c", AUDIENCE, NOW_S * 1000, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, rows[i].said);
	}
	EVP_PKEY_free(elliptic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assertion_is_signed),
		cmocka_unit_test(encrypted_key),
		cmocka_unit_test(invalid_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
