/* SPDX-License-Identifier: Apache-2.0 */

/* PBKDF2 in pieces gives OpenSSL's result. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#include "base/mem.h"
#include "net/sign/pbkdf2.h"

/* 0 to 200 bytes: up to a block, and longer passwords, which are hashed first. */
static void same_as_openssl(const EVP_MD *md, size_t password_len, size_t salt_len, unsigned rounds, unsigned piece)
{
	unsigned char expected[EVP_MAX_MD_SIZE], salt[200];
	size_t size = (size_t)EVP_MD_get_size(md);
	unsigned calls = 1, needed = rounds > 1 ? (rounds - 1 + piece - 1) / piece : 1;
	MEM_AUTO char *password = mem_zalloc(password_len + 1);
	struct pbkdf2 *p;

	memset(password, 'p', password_len);
	memset(salt, 0xa5, sizeof(salt));
	assert_int_equal(PKCS5_PBKDF2_HMAC(password, (int)password_len, salt, (int)salt_len, (int)rounds, md, (int)size,
				 expected),
		1);
	p = pbkdf2_new(md, password, salt, salt_len, rounds);
	assert_non_null(p);
	for (; !pbkdf2_run(p, piece); calls++)
		assert_true(calls <= rounds);
	assert_int_equal(calls, needed);
	assert_memory_equal(pbkdf2_result(p), expected, size);
	/* Running on changes nothing. */
	assert_true(pbkdf2_run(p, piece));
	assert_memory_equal(pbkdf2_result(p), expected, size);
	pbkdf2_free(p);
}

static void pieces(void **state)
{
	static const size_t lens[] = { 0, 1, 63, 64, 65, 127, 128, 129, 200 };
	static const unsigned rounds[] = { 1, 2, 3, 100, 101 };
	const EVP_MD *const hashes[] = { EVP_sha1(), EVP_sha256(), EVP_sha512() };

	(void)state;
	for (size_t h = 0; h < MEM_COUNT(hashes); h++)
		for (size_t l = 0; l < MEM_COUNT(lens); l++)
			for (size_t r = 0; r < MEM_COUNT(rounds); r++) {
				same_as_openssl(hashes[h], lens[l], 16, rounds[r], 1);
				same_as_openssl(hashes[h], 8, lens[l], rounds[r], 50);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests_name("net/sign/pbkdf2", tests, NULL, NULL);
}
