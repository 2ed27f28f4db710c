/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/pbkdf2.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_MAX 144 /* OpenSSL's largest; ours need 128 */

struct pbkdf2 {
	EVP_MD_CTX *inner, *outer; /* HMAC states after the key: each round starts from them */
	EVP_MD_CTX *work;
	size_t size; /* of the hash */
	unsigned left;
	unsigned char last[EVP_MAX_MD_SIZE], sum[EVP_MAX_MD_SIZE];
};

/* ---- HMAC ---- */

/* A hash state after the padded and masked key (RFC 2104). */
static EVP_MD_CTX *begin(const EVP_MD *md, const unsigned char *key, size_t len, unsigned char mask)
{
	unsigned char block[BLOCK_MAX];
	size_t size = (size_t)EVP_MD_get_block_size(md);
	EVP_MD_CTX *c = EVP_MD_CTX_new();

	memset(block, mask, sizeof(block));
	for (size_t i = 0; i < len; i++)
		block[i] ^= key[i];
	if (!c || EVP_DigestInit_ex(c, md, NULL) != 1 || EVP_DigestUpdate(c, block, size) != 1) {
		EVP_MD_CTX_free(c);
		c = NULL;
	}
	mem_wipe(block, sizeof(block));
	return c;
}

/* Finishes a copy of a state with the bytes. Fails only without memory. */
static void end(const struct pbkdf2 *p, const EVP_MD_CTX *state, const void *bytes, size_t len, unsigned char *out)
{
	if (EVP_MD_CTX_copy_ex(p->work, state) != 1 || EVP_DigestUpdate(p->work, bytes, len) != 1 ||
		EVP_DigestFinal_ex(p->work, out, NULL) != 1)
		abort();
}

static void mac(struct pbkdf2 *p, const void *bytes, size_t len)
{
	end(p, p->inner, bytes, len, p->last);
	end(p, p->outer, p->last, p->size, p->last);
	for (size_t i = 0; i < p->size; i++)
		p->sum[i] ^= p->last[i];
	p->left--;
}

/* ---- Rounds ---- */

/* The first round hashes the salt and the block number, each further one the result before it. */
static void run_first(struct pbkdf2 *p, const void *salt, size_t len)
{
	static const unsigned char number[] = { 0, 0, 0, 1 };
	unsigned char *bytes = mem_array(len + sizeof(number), 1);

	memcpy(bytes, salt, len);
	memcpy(bytes + len, number, sizeof(number));
	mac(p, bytes, len + sizeof(number));
	free(bytes);
}

struct pbkdf2 *pbkdf2_new(const EVP_MD *md, const char *password, const void *salt, size_t salt_len, unsigned rounds)
{
	struct pbkdf2 *p = mem_zalloc(sizeof(*p));
	const unsigned char *key = (const unsigned char *)password;
	unsigned char hashed[EVP_MAX_MD_SIZE];
	size_t len = strlen(password);
	bool good = true;

	p->size = (size_t)EVP_MD_get_size(md);
	p->left = rounds;
	if (len > (size_t)EVP_MD_get_block_size(md)) {
		good = EVP_Digest(password, len, hashed, NULL, md, NULL) == 1;
		key = hashed;
		len = p->size;
	}
	p->inner = good ? begin(md, key, len, 0x36) : NULL;
	p->outer = good ? begin(md, key, len, 0x5c) : NULL;
	p->work = EVP_MD_CTX_new();
	mem_wipe(hashed, sizeof(hashed));
	if (!p->inner || !p->outer || !p->work) {
		pbkdf2_free(p);
		return NULL;
	}
	run_first(p, salt, salt_len);
	return p;
}

void pbkdf2_free(struct pbkdf2 *p)
{
	if (!p)
		return;
	EVP_MD_CTX_free(p->inner); /* which wipes */
	EVP_MD_CTX_free(p->outer);
	EVP_MD_CTX_free(p->work);
	mem_wipe(p, sizeof(*p));
	free(p);
}

bool pbkdf2_run(struct pbkdf2 *p, unsigned rounds)
{
	for (; rounds > 0 && p->left > 0; rounds--)
		mac(p, p->last, p->size);
	return p->left == 0;
}

const unsigned char *pbkdf2_result(const struct pbkdf2 *p)
{
	return p->sum;
}
