/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens are verified as the server would, with the key's public half. */
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
#include <openssl/rsa.h>

#include "../../fakes/fakekey.h"
#include "base/mem.h"
#include "net/sign/jwt.h"

static bool verifies(EVP_PKEY *key, enum jwt_algorithm algorithm, const char *token)
{
	const char *dot = strrchr(token, '.');
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	EVP_PKEY_CTX *padding = NULL;
	size_t len = 0;
	char *signature = fakekey_decoded(dot + 1, strlen(dot + 1), &len);
	bool good = EVP_DigestVerifyInit(md, &padding, EVP_sha256(), NULL, key) == 1 &&
		(algorithm == JWT_RS256 ||
			(EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) == 1 &&
				EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, 32) == 1)) &&
		EVP_DigestVerify(md, (unsigned char *)signature, len, (const unsigned char *)token,
			(size_t)(dot - token)) == 1;

	assert_non_null(signature);
	EVP_MD_CTX_free(md);
	free(signature);
	return good;
}

static void signatures_verify(void **state)
{
	static const char *const heads[] = { [JWT_RS256] = "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k-1\"}",
		[JWT_PS256] = "{\"alg\":\"PS256\",\"typ\":\"JWT\",\"kid\":\"k-1\"}" };
	EVP_PKEY *key = EVP_RSA_gen(2048), *other = EVP_RSA_gen(2048);
	MEM_AUTO char *pem = fakekey_pem_of(key, NULL);
	json_t *header = json_pack("{ss}", "kid", "k-1"),
	       *claims = json_pack("{ss si}", "iss", "me?>", "exp", 1700000000);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(jwt_check_key(pem, &err), 0);
	for (enum jwt_algorithm i = JWT_RS256; i <= JWT_PS256; i++) {
		MEM_AUTO char *token = jwt_sign(i, header, claims, pem, &err), *head = NULL, *body = NULL;
		const char *dot;

		assert_non_null(token);
		assert_null(strpbrk(token, "+/="));
		assert_true(verifies(key, i, token));
		assert_false(verifies(other, i, token));
		assert_false(verifies(key, i == JWT_RS256 ? JWT_PS256 : JWT_RS256, token));
		dot = strchr(token, '.');
		head = fakekey_decoded(token, (size_t)(dot - token), NULL);
		body = fakekey_decoded(dot + 1, strcspn(dot + 1, "."), NULL);
		assert_non_null(head);
		assert_non_null(body);
		assert_string_equal(head, heads[i]);
		assert_string_equal(body, "{\"iss\":\"me?>\",\"exp\":1700000000}");
	}
	json_decref(header);
	json_decref(claims);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other);
}

static void invalid_keys(void **state)
{
	EVP_PKEY *elliptic = EVP_EC_gen("P-256"), *small = EVP_RSA_gen(1024), *large = EVP_RSA_gen(4104),
		 *key = EVP_RSA_gen(2048);
	char *const pems[] = { mem_dup(""), mem_dup("s3cret"), fakekey_pem_of(elliptic, NULL),
		fakekey_pem_of(small, NULL), fakekey_pem_of(large, NULL), fakekey_pem_of(key, "password") };
	json_t *claims = json_object();

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pems); i++) {
		struct err err = { 0 };

		assert_int_equal(jwt_check_key(pems[i], NULL), -1);
		assert_null(jwt_sign(JWT_RS256, NULL, claims, pems[i], &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg,
			"the private key is not a PEM text of an RSA key of 2048 to 4096 bits, without a password");
		free(pems[i]);
	}
	json_decref(claims);
	EVP_PKEY_free(elliptic);
	EVP_PKEY_free(small);
	EVP_PKEY_free(large);
	EVP_PKEY_free(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_verify),
		cmocka_unit_test(invalid_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
