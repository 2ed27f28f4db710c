/* SPDX-License-Identifier: Apache-2.0 */
#include "fakersa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/mem.h"

static char *text_of(BIO *bio)
{
	char *text, *copy;
	long len = BIO_get_mem_data(bio, &text);

	copy = mem_dupn(text, (size_t)len);
	BIO_free(bio);
	return copy;
}

char *fakersa_key(unsigned bits, char **public_pem)
{
	EVP_PKEY *key = EVP_RSA_gen(bits);
	BIO *private = BIO_new(BIO_s_mem()), *public = BIO_new(BIO_s_mem());
	char *half;

	assert_int_equal(PEM_write_bio_PrivateKey(private, key, NULL, NULL, 0, NULL, NULL), 1);
	assert_int_equal(PEM_write_bio_PUBKEY(public, key), 1);
	EVP_PKEY_free(key);
	half = text_of(public);
	if (public_pem)
		*public_pem = half;
	else
		mem_free_ptr(&half);
	return text_of(private);
}
