/* SPDX-License-Identifier: Apache-2.0 */
#include "fakekey.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"

static char *text_of(BIO *bio)
{
	char *text, *copy;
	long len = BIO_get_mem_data(bio, &text);

	copy = mem_dupn(text, (size_t)len);
	BIO_free(bio);
	return copy;
}

char *fakekey_pem_of(EVP_PKEY *key, const char *password)
{
	BIO *bio = BIO_new(BIO_s_mem());

	PEM_write_bio_PrivateKey(bio, key, password ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL,
		(char *)(uintptr_t)password);
	return text_of(bio);
}

char *fakekey_rsa(unsigned bits, char **public_pem)
{
	EVP_PKEY *key = EVP_RSA_gen(bits);
	char *pem = fakekey_pem_of(key, NULL);

	if (public_pem) {
		BIO *bio = BIO_new(BIO_s_mem());

		PEM_write_bio_PUBKEY(bio, key);
		*public_pem = text_of(bio);
	}
	EVP_PKEY_free(key);
	return pem;
}

char *fakekey_decoded(const char *text, size_t len, size_t *out_len)
{
	char *copy = mem_zalloc(len + 4), *bytes;

	for (size_t i = 0; i < len; i++)
		copy[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	while (strlen(copy) % 4)
		strcat(copy, "=");
	bytes = base64_decode(copy, out_len);
	free(copy);
	return bytes;
}

char *fakekey_certificate(const char *key_pem)
{
	BIO *in = BIO_new_mem_buf(key_pem, -1), *out = BIO_new(BIO_s_mem());
	EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
	X509 *cert = X509_new();

	X509_gmtime_adj(X509_getm_notBefore(cert), 0);
	X509_gmtime_adj(X509_getm_notAfter(cert), 600);
	X509_set_pubkey(cert, key);
	X509_sign(cert, key, EVP_sha256());
	PEM_write_bio_X509(out, cert);
	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(in);
	return text_of(out);
}

static char *once;

static void forget(void)
{
	free(once);
}

const char *fakekey_pem(void)
{
	if (once)
		return once;
	once = fakekey_rsa(2048, NULL);
	atexit(forget);
	return once;
}

char *fakekey_google(const char *token_url, const char *project)
{
	json_t *key = json_pack("{ss ss ss ss ss}", "type", "service_account", "private_key_id", "k-1", "private_key",
		fakekey_pem(), "client_email", "robot@example.com", "token_uri", token_url);
	char *text;

	if (project)
		json_object_set_new(key, "project_id", json_string(project));
	text = json_text(key);
	json_decref(key);
	return text;
}
