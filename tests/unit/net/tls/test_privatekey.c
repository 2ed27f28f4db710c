/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that would cost hours are refused: each row would run into the time-out of the test if its
 * bound were not looked at first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "../../fakes/fakekey.h"
#include "base/mem.h"
#include "net/tls/computing.h"
#include "net/tls/privatekey.h"

#define ENDLESS 0x7fffffff

static char *text_of(BIO *bio)
{
	char *bytes;
	long len = BIO_get_mem_data(bio, &bytes);
	char *text = mem_dupn(bytes, (size_t)len);

	BIO_free(bio);
	return text;
}

/* An encrypted key as a hostile owner writes it: large numbers, and noise that is encrypted. */
static char *locked_by(X509_ALGOR *how /* takes */)
{
	static const unsigned char noise[64];
	X509_SIG *locked = X509_SIG_new();
	BIO *bio = BIO_new(BIO_s_mem());
	X509_ALGOR *to;
	ASN1_OCTET_STRING *bytes;

	assert_non_null(how);
	X509_SIG_getm(locked, &to, &bytes);
	assert_int_equal(X509_ALGOR_copy(to, how), 1);
	ASN1_OCTET_STRING_set(bytes, noise, sizeof(noise));
	assert_int_equal(PEM_write_bio_PKCS8(bio, locked), 1);
	X509_ALGOR_free(how);
	X509_SIG_free(locked);
	return text_of(bio);
}

static X509_ALGOR *pbkdf2(int rounds)
{
	static unsigned char salt[8];

	return PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), rounds, salt, sizeof(salt), NULL, NID_hmacWithSHA1);
}

static X509_ALGOR *scrypt(uint64_t n, uint64_t r, uint64_t p)
{
	static const unsigned char salt[8], iv[16];
	X509_ALGOR *how = X509_ALGOR_new(), *derive;
	PBE2PARAM *whole = PBE2PARAM_new();
	SCRYPT_PARAMS *numbers = SCRYPT_PARAMS_new();
	ASN1_OCTET_STRING *start = ASN1_OCTET_STRING_new();

	ASN1_OCTET_STRING_set(numbers->salt, salt, sizeof(salt));
	ASN1_INTEGER_set_uint64(numbers->costParameter, n);
	ASN1_INTEGER_set_uint64(numbers->blockSize, r);
	ASN1_INTEGER_set_uint64(numbers->parallelizationParameter, p);
	derive = whole->keyfunc;
	derive->algorithm = OBJ_nid2obj(NID_id_scrypt);
	ASN1_TYPE_pack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), numbers, &derive->parameter);
	ASN1_OCTET_STRING_set(start, iv, sizeof(iv));
	X509_ALGOR_set0(whole->encryption, OBJ_nid2obj(NID_aes_256_cbc), V_ASN1_OCTET_STRING, start);
	how->algorithm = OBJ_nid2obj(NID_pbes2);
	ASN1_TYPE_pack_sequence(ASN1_ITEM_rptr(PBE2PARAM), whole, &how->parameter);
	SCRYPT_PARAMS_free(numbers);
	PBE2PARAM_free(whole);
	return how;
}

static X509_ALGOR *pbe(int kind, int rounds)
{
	static const unsigned char salt[8];

	return PKCS5_pbe_set(kind, rounds, salt, sizeof(salt));
}

static void keys_that_take_hours_are_not_decrypted(void **state)
{
	char *const pems[] = {
		locked_by(pbkdf2(ENDLESS)),
		locked_by(pbkdf2(PRIVATEKEY_ROUNDS_MAX + 1)),
		locked_by(pbe(NID_pbe_WithSHA1And3_Key_TripleDES_CBC, ENDLESS)),
		locked_by(pbe(NID_pbeWithMD5AndDES_CBC, ENDLESS)),
		locked_by(scrypt(2, 1, 1 << 29)),
		locked_by(scrypt(1 << 14, 8, 64)),
		locked_by(scrypt(UINT64_C(1) << 62, 8, 1)),
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pems); i++) {
		struct err err = { 0 };

		assert_null(privatekey_read(pems[i], "s3cret", &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.msg, "more than 600000 rounds"));
		assert_null(strstr(err.msg, "s3cret"));
		assert_int_equal(ERR_peek_error(), 0);
		free(pems[i]);
	}
	privatekey_forget();
}

static int64_t now_ms = 1700000000000;

int64_t __wrap_timestamp_now_ms(void);
int64_t __wrap_timestamp_now_ms(void)
{
	return now_ms;
}

static enum err_kind tried(const char *password, const char *pem)
{
	struct err err = { 0 };

	assert_null(privatekey_read(pem, password, &err));
	return err.kind;
}

/* A thousand triggers, each with a key that is just cheap enough, would stop all others. */
static void a_namespaces_decryption_is_limited(void **state)
{
	MEM_AUTO char *pem = locked_by(pbkdf2(PRIVATEKEY_ROUNDS_MAX));

	(void)state;
	computing_for("hostile");
	assert_int_equal(tried("1", pem), ERR_INVALID);
	assert_int_equal(tried("2", pem), ERR_INVALID);
	assert_int_equal(tried("3", pem), ERR_TEMPORARY);
	assert_int_equal(tried("1", pem), ERR_INVALID); /* a known key costs nothing */
	computing_for("other");
	assert_int_equal(tried("4", pem), ERR_INVALID);
	computing_for("hostile");
	assert_int_equal(tried("3", pem), ERR_TEMPORARY);
	now_ms += 1000;
	assert_int_equal(tried("3", pem), ERR_INVALID);
	assert_int_equal(tried("5", pem), ERR_TEMPORARY);
	computing_for("");
	privatekey_forget();
}

static char *encrypted(EVP_PKEY *key, X509_ALGOR *how)
{
	PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
	X509_SIG *locked = PKCS8_set0_pbe("s3cret", 6, info, how);
	BIO *bio = BIO_new(BIO_s_mem());

	assert_non_null(locked);
	PEM_write_bio_PKCS8(bio, locked);
	X509_SIG_free(locked);
	PKCS8_PRIV_KEY_INFO_free(info);
	return text_of(bio);
}

/* The defaults of OpenSSL and of others, and the most that is taken. */
static void usual_keys_are_read_and_lose_their_password(void **state)
{
	EVP_PKEY *key = EVP_EC_gen("P-256"), *rsa = EVP_RSA_gen(2048);
	const struct {
		EVP_PKEY *key;
		char *pem;
		bool locked;
	} rows[] = {
		{ key, fakekey_pem_of(key, NULL), false },
		{ key, fakekey_pem_of(key, "s3cret"), true },
		{ key, encrypted(key, pbkdf2(2048)), true },
		{ key, encrypted(key, pbkdf2(PRIVATEKEY_ROUNDS_MAX)), true },
		{ key, encrypted(key, scrypt(16384, 8, 1)), true },
		{ key, encrypted(key, pbe(NID_pbe_WithSHA1And3_Key_TripleDES_CBC, 10000)), true },
		{ rsa, fakekey_pem_of(rsa, NULL), false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		MEM_AUTO char *plain = privatekey_plain(rows[i].pem, "s3cret", &err), *bare = NULL, *other = NULL;
		EVP_PKEY *again;

		now_ms += 60000;
		if (!plain)
			fail_msg("row %zu: %s", i, err.msg);
		again = privatekey_read(plain, NULL, &err);
		assert_int_equal(EVP_PKEY_eq(rows[i].key, again), 1);
		EVP_PKEY_free(again);
		bare = privatekey_plain(rows[i].pem, NULL, &err);
		assert_int_equal(bare == NULL, rows[i].locked);
		other = privatekey_plain(rows[i].pem, "other", &err);
		assert_int_equal(other == NULL, rows[i].locked);
		free(rows[i].pem);
	}
	EVP_PKEY_free(key);
	EVP_PKEY_free(rsa);
	privatekey_forget();
}

/* The key with one of its numbers replaced. */
static char *altered(EVP_PKEY *key, const char *which, int bits)
{
	OSSL_PARAM *all, *merged, mine[2] = { OSSL_PARAM_END, OSSL_PARAM_END };
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	unsigned char *bytes = mem_zalloc((size_t)bits / 8 + 2);
	BIGNUM *number = BN_new();
	EVP_PKEY *other = NULL;
	char *pem;

	BN_set_bit(number, bits - 1);
	BN_set_bit(number, 0);
	BN_bn2nativepad(number, bytes, bits / 8 + 2);
	mine[0] = OSSL_PARAM_construct_BN(which, bytes, (size_t)bits / 8 + 2);
	assert_int_equal(EVP_PKEY_todata(key, EVP_PKEY_KEYPAIR, &all), 1);
	merged = OSSL_PARAM_merge(all, mine);
	assert_int_equal(EVP_PKEY_fromdata_init(ctx), 1);
	assert_int_equal(EVP_PKEY_fromdata(ctx, &other, EVP_PKEY_KEYPAIR, merged), 1);
	pem = fakekey_pem_of(other, NULL);
	EVP_PKEY_free(other);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(merged);
	OSSL_PARAM_free(all);
	BN_free(number);
	free(bytes);
	return pem;
}

static char *described(EVP_PKEY *key)
{
	assert_int_equal(EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_ENCODING,
				 OSSL_PKEY_EC_ENCODING_EXPLICIT),
		1);
	return fakekey_pem_of(key, NULL);
}

static char *long_text(size_t len)
{
	char *text = mem_alloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

static char *of_kind(const char *kind)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, kind);
	char *pem = fakekey_pem_of(key, NULL);

	EVP_PKEY_free(key);
	return pem;
}

static void keys_that_take_long_to_use_are_refused(void **state)
{
	EVP_PKEY *rsa = EVP_RSA_gen(2048), *elliptic = EVP_EC_gen("P-256");
	const struct {
		char *pem;
		const char *said;
	} rows[] = {
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_N, PRIVATEKEY_BITS_MAX + 8), "an RSA key may have up to 4096 bits" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_E, 40), "a public exponent of 32 bits" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_D, 4096), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_FACTOR1, 10000), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_FACTOR2, 10000), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_EXPONENT1, 10000), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_EXPONENT2, 10000), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, 10000), "an RSA key may have" },
		{ altered(rsa, OSSL_PKEY_PARAM_RSA_FACTOR1, 200000), "more than 16384 bytes" },
		{ described(elliptic), "its curve is described" },
		{ of_kind("X25519"), "neither RSA nor ECDSA" },
		{ long_text(PRIVATEKEY_TEXT_MAX + 1), "more than 131072 bytes" },
		{ mem_dup("garbage"), "there is no PEM text" },
		{ mem_dup("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), "cannot be read" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };

		assert_null(privatekey_read(rows[i].pem, NULL, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].said))
			fail_msg("row %zu: %s", i, err.msg);
		assert_int_equal(ERR_peek_error(), 0);
		free(rows[i].pem);
	}
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(elliptic);
}

static void keys_of_each_kind_are_read_behind_other_blocks(void **state)
{
	EVP_PKEY *rsa = EVP_RSA_gen(3072), *elliptic = EVP_EC_gen("P-521");
	char *const pems[] = { of_kind("ED25519"), of_kind("ED448"), fakekey_pem_of(rsa, NULL),
		fakekey_pem_of(elliptic, NULL) };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pems); i++) {
		struct err err = { 0 };
		MEM_AUTO char *pem = mem_printf("words\n-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n"
						"-----END EC PARAMETERS-----\n%s",
			pems[i]);
		EVP_PKEY *key = privatekey_read(pem, NULL, &err);

		if (!key)
			fail_msg("row %zu: %s", i, err.msg);
		EVP_PKEY_free(key);
		free(pems[i]);
	}
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(elliptic);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_that_take_hours_are_not_decrypted),
		cmocka_unit_test(a_namespaces_decryption_is_limited),
		cmocka_unit_test(usual_keys_are_read_and_lose_their_password),
		cmocka_unit_test(keys_that_take_long_to_use_are_refused),
		cmocka_unit_test(keys_of_each_kind_are_read_behind_other_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
