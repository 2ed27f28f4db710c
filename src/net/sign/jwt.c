/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/jwt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/tls/privatekey.h"

#define BITS_MIN 2048
#define BITS_MAX 4096

static EVP_PKEY *read_key(const char *pem, struct err *err)
{
	EVP_PKEY *key = privatekey_read(pem, NULL, NULL);

	if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA && EVP_PKEY_get_bits(key) >= BITS_MIN &&
		EVP_PKEY_get_bits(key) <= BITS_MAX)
		return key;
	err_set(err, ERR_INVALID,
		"the private key is not a PEM text of an RSA key of %d to %d bits, without a password", BITS_MIN,
		BITS_MAX);
	EVP_PKEY_free(key);
	return NULL;
}

static bool begin(EVP_MD_CTX *md, enum jwt_algorithm algorithm, EVP_PKEY *key)
{
	EVP_PKEY_CTX *padding = NULL; /* owned by md */

	if (!md || EVP_DigestSignInit(md, &padding, EVP_sha256(), NULL, key) != 1)
		return false;
	return algorithm == JWT_RS256 ||
		(EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) == 1 &&
			EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) == 1);
}

static char *signature_of(const char *text, enum jwt_algorithm algorithm, EVP_PKEY *key, struct err *err)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t len = (size_t)EVP_PKEY_get_size(key);
	unsigned char *bytes = mem_alloc(len);
	char *encoded = NULL;

	if (begin(md, algorithm, key) &&
		EVP_DigestSign(md, bytes, &len, (const unsigned char *)text, strlen(text)) == 1)
		encoded = base64_encode_url(bytes, len);
	else
		err_set(err, ERR_INVALID, "the private key does not sign");
	EVP_MD_CTX_free(md);
	ERR_clear_error();
	free(bytes);
	return encoded;
}

static char *part(const json_t *value)
{
	char *text = json_text(value), *encoded = base64_encode_url(text, strlen(text));

	mem_free_secret(text);
	return encoded;
}

char *jwt_sign(enum jwt_algorithm algorithm, const json_t *header, const json_t *claims, const char *key_pem,
	struct err *err)
{
	EVP_PKEY *key = read_key(key_pem, err);
	json_t *whole = json_pack("{ss ss}", "alg", algorithm == JWT_PS256 ? "PS256" : "RS256", "typ", "JWT");
	MEM_AUTO char *head = NULL, *body = NULL, *text = NULL, *signature = NULL;

	if (key) {
		json_object_update(whole, (json_t *)(uintptr_t)header);
		head = part(whole);
		body = part(claims);
		text = mem_printf("%s.%s", head, body);
		signature = signature_of(text, algorithm, key, err);
	}
	json_decref(whole);
	EVP_PKEY_free(key);
	return signature ? mem_printf("%s.%s", text, signature) : NULL;
}

int jwt_check_key(const char *key_pem, struct err *err)
{
	EVP_PKEY *key = read_key(key_pem, err);

	EVP_PKEY_free(key);
	return key ? 0 : -1;
}
