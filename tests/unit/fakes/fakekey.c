/* SPDX-License-Identifier: Apache-2.0 */
#include "fakekey.h"

#include <stdlib.h>

#include <jansson.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/json.h"
#include "base/mem.h"

char *fakekey_pem_of(EVP_PKEY *key, const char *password)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text, *copy = NULL;
	long len;

	if (PEM_write_bio_PrivateKey(bio, key, password ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL,
		    (char *)(uintptr_t)password) == 1) {
		len = BIO_get_mem_data(bio, &text);
		copy = mem_dupn(text, (size_t)len);
	}
	BIO_free(bio);
	return copy;
}

static char *once;

static void forget(void)
{
	free(once);
}

const char *fakekey_pem(void)
{
	EVP_PKEY *key;

	if (once)
		return once;
	key = EVP_RSA_gen(2048);
	once = fakekey_pem_of(key, NULL);
	EVP_PKEY_free(key);
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
