/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/ec.h>

#include "../fakes/fakekey.h"
#include "base/mem.h"
#include "net/endpoint.h"

static int ended;

static void on_done(struct endpoint *e)
{
	(void)e;
	ended++;
}

static void ends_with_the_last_owner(void **state)
{
	struct endpoint *e = endpoint_new(sizeof(*e), on_done);

	(void)state;
	ended = 0;
	endpoint_take_tls(e, &(struct tls_client_config){ .ca_pem = "ca", .cert_pem = "", .insecure = true });
	e->key = mem_dup("key");
	assert_string_equal(e->tls.ca_pem, "ca");
	assert_null(e->tls.cert_pem);
	assert_null(e->tls.key_password);
	assert_true(e->tls.insecure);
	assert_ptr_equal(endpoint_ref(e), e);
	endpoint_unref(e);
	assert_int_equal(ended, 0);
	endpoint_unref(e);
	assert_int_equal(ended, 1);
	endpoint_unref(NULL);
}

static void other_done(struct endpoint *e)
{
	on_done(e);
}

static struct endpoint *keyed(const char *key, const char *namespace_, void (*done)(struct endpoint *e))
{
	struct endpoint *e = endpoint_new(sizeof(*e), done);

	e->key = mem_dup(key);
	endpoint_set_namespace(e, namespace_);
	return endpoint_unique(e);
}

static void one_is_shared_by_its_key_and_namespace(void **state)
{
	struct endpoint *first = keyed("key", "shop", on_done), *same = keyed("key", "shop", on_done),
			*others[] = { keyed("key", "bank", on_done), keyed("key2", "shop", on_done),
				keyed("key", "shop", other_done), keyed("key", NULL, on_done) };

	(void)state;
	assert_ptr_equal(same, first);
	for (size_t i = 0; i < 4; i++)
		assert_ptr_not_equal(others[i], first);
	endpoint_unref(first);
	assert_string_equal(same->key, "key");
	endpoint_unref(same);
	same = keyed("key", "shop", on_done);
	assert_int_equal(same->count, 1);
	ended = 0;
	endpoint_unref(same);
	for (size_t i = 0; i < 4; i++)
		endpoint_unref(others[i]);
	assert_int_equal(ended, 5);
}

static void fingerprints_tell_all_of_it_apart(void **state)
{
	static const struct tls_client_config tls[] = { { .ca_pem = NULL }, { .ca_pem = "x" }, { .cert_pem = "x" },
		{ .key_pem = "x" }, { .key_password = "x" } };
	static const char *const secrets[][2] = { { NULL, NULL }, { "x", NULL }, { NULL, "x" }, { "", NULL } };
	char seen[20][FINGERPRINT_TEXT];
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct endpoint *e = endpoint_new(sizeof(*e), on_done);

		endpoint_take_tls(e, &tls[i]);
		for (size_t k = 0; k < 4; k++) {
			char again[FINGERPRINT_TEXT];

			endpoint_fingerprint(e, secrets[k], 2, seen[count]);
			assert_string_equal(endpoint_fingerprint(e, secrets[k], 2, again), seen[count]);
			for (size_t other = 0; other < count; other++)
				assert_string_not_equal(seen[other], seen[count]);
			count++;
		}
		endpoint_unref(e);
	}
}

static void pems_are_read(void **state)
{
	struct endpoint *e = endpoint_new(sizeof(*e), on_done);
	struct err err;

	(void)state;
	assert_int_equal(endpoint_check_tls(e, &err), 0);
	endpoint_take_tls(e, &(struct tls_client_config){ .ca_pem = "no PEM" });
	assert_int_equal(endpoint_check_tls(e, &err), -1);
	assert_memory_equal(err.msg, "TLS: ", 5);
	endpoint_unref(e);
}

/* Connections need no password. */
static void a_key_is_decrypted_once(void **state)
{
	struct endpoint *e = endpoint_new(sizeof(*e), on_done);
	EVP_PKEY *key = EVP_EC_gen("P-256");
	MEM_AUTO char *plain = fakekey_pem_of(key, NULL), *locked = fakekey_pem_of(key, "s3cret");
	MEM_AUTO char *cert = fakekey_certificate(plain);
	struct err err = { 0 };

	(void)state;
	endpoint_take_tls(e,
		&(struct tls_client_config){ .cert_pem = cert, .key_pem = locked, .key_password = "s3cret" });
	assert_int_equal(endpoint_check_tls(e, &err), 0);
	assert_null(e->tls.key_password);
	assert_string_equal(e->tls.key_pem, plain);
	EVP_PKEY_free(key);
	endpoint_unref(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_the_last_owner),
		cmocka_unit_test(one_is_shared_by_its_key_and_namespace),
		cmocka_unit_test(fingerprints_tell_all_of_it_apart),
		cmocka_unit_test(pems_are_read),
		cmocka_unit_test(a_key_is_decrypted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
