/* SPDX-License-Identifier: Apache-2.0 */
#include "../fixture.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/mem.h"
#include "net/tls/computing.h"
#include "net/tls/tlsroots.h"

/* An account has 1,200,000 rounds at once, a certificate costs 1,000: it can pay for so many. */
#define PAID_AT_ONCE 1200

static char *text_of(struct fixture *f, const char *before, size_t certificates)
{
	size_t len = strlen(f->ca.cert_pem), head = strlen(before);
	char *text = mem_alloc(head + certificates * len + 1);

	memcpy(text, before, head);
	for (size_t i = 0; i < certificates; i++)
		memcpy(text + head + i * len, f->ca.cert_pem, len);
	text[head + certificates * len] = '\0';
	return text;
}

static struct tlsroots *numbered(struct fixture *f, int number, size_t certificates)
{
	MEM_AUTO char *before = mem_printf("%d\n", number);
	MEM_AUTO char *text = text_of(f, before, certificates);

	return tlsroots_get(text);
}

/* However many connections use it, and whoever looks it up: otherwise no one could pay. */
static void a_text_is_read_once(void **state)
{
	struct fixture *f = *state;
	MEM_AUTO char *text = NULL;
	struct tlsroots *roots;
	struct err err = { 0 };
	X509_STORE *store;

	fixture_pairs(f);
	text = text_of(f, "", TLSROOTS_TEXT_MAX);
	computing_for("one");
	roots = tlsroots_get(text);
	assert_int_equal(tlsroots_kept(), 0);
	store = tlsroots_store(roots, &err);
	assert_non_null(store);
	for (int i = 0; i < 20; i++) {
		const struct tls_client_config with = { .ca_pem = text, .roots = roots }, without = { .ca_pem = text };
		SSL_CTX *a = tls_client_context(&with, &err), *b = tls_client_context(&without, &err);

		assert_int_equal(tls_client_check(&with, &err), 0);
		assert_ptr_equal(SSL_CTX_get_cert_store(a), store);
		assert_ptr_equal(SSL_CTX_get_cert_store(b), store);
		SSL_CTX_free(a);
		SSL_CTX_free(b);
	}
	assert_int_equal(tlsroots_kept(), TLSROOTS_TEXT_MAX);
	tlsroots_unref(roots);
}

/* It keeps working after its store was dropped. */
static void a_context_keeps_its_store(void **state)
{
	struct fixture *f = *state;
	struct tlsroots *roots, *other;
	struct err err = { 0 };
	SSL_CTX *ctx;

	fixture_pairs(f);
	computing_for("two");
	roots = tlsroots_get(f->ca.cert_pem);
	ctx = tls_client_context(&(struct tls_client_config){ .ca_pem = f->ca.cert_pem, .roots = roots }, &err);
	tlsroots_unref(roots);
	other = numbered(f, 0, TLSROOTS_IDLE_MAX);
	assert_non_null(tlsroots_store(other, &err));
	tlsroots_unref(other);
	assert_int_equal(tlsroots_kept(), TLSROOTS_IDLE_MAX);
	assert_int_equal(sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx))), 1);
	SSL_CTX_free(ctx);
}

/*
 * Stores without a reference are kept for a moment: a trigger is rebuilt, an admission review asks.
 */
static void the_idle_are_few(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	fixture_pairs(f);
	computing_for("three");
	for (int i = 0; i < 4; i++) {
		struct tlsroots *r = numbered(f, i, 100);

		assert_non_null(tlsroots_store(r, &err));
		tlsroots_unref(r);
		assert_in_range(tlsroots_kept(), 100, TLSROOTS_IDLE_MAX);
	}
}

/* The namespace with most gives way; one with a single certificate never pays twice. */
static void room_is_taken_from_the_largest_holder(void **state)
{
	struct fixture *f = *state;
	struct tlsroots *poor, *rich[PAID_AT_ONCE / 100 * 4];
	struct err err = { 0 };
	X509_STORE *store;
	size_t n = 0;

	fixture_pairs(f);
	computing_for("poor");
	poor = tlsroots_get(f->ca.cert_pem);
	store = tlsroots_store(poor, &err);
	for (int namespace_ = 0; namespace_ < 4; namespace_++) {
		MEM_AUTO char *name = mem_printf("rich-%d", namespace_);

		computing_for(name);
		for (int i = 0; i < PAID_AT_ONCE / 100; i++, n++) {
			rich[n] = numbered(f, (int)n, 100);
			assert_non_null(tlsroots_store(rich[n], &err));
			assert_in_range(tlsroots_kept(), 1, TLSROOTS_KEPT_MAX);
		}
	}
	assert_in_range(tlsroots_kept(), TLSROOTS_KEPT_MAX - 100, TLSROOTS_KEPT_MAX);
	assert_ptr_equal(tlsroots_store(poor, &err), store);
	/* Its holders must pay when they need it again, whatever is being built at the moment. */
	computing_for("poor");
	for (size_t i = 0; i < 12 && tlsroots_store(rich[i], &err); i++)
		;
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_int_equal(computing_pay(1000, &err), 0);
	while (n > 0)
		tlsroots_unref(rich[--n]);
	tlsroots_unref(poor);
	assert_in_range(tlsroots_kept(), 0, TLSROOTS_IDLE_MAX);
}

static void namespaces_have_their_own(void **state)
{
	struct fixture *f = *state;
	struct tlsroots *a, *b, *file;
	MEM_AUTO char *large = NULL;
	struct err err = { 0 };

	fixture_pairs(f);
	computing_for("a");
	a = tlsroots_get(f->ca.cert_pem);
	computing_for("b");
	b = tlsroots_get(f->ca.cert_pem);
	assert_ptr_not_equal(a, b);
	assert_string_equal(tlsroots_path(a), tlsroots_path(b));
	assert_null(tlsroots_get(NULL));
	assert_null(tlsroots_get(""));
	large = text_of(f, "", TLSROOTS_TEXT_MAX + 1);
	file = tlsroots_get_of_file(large);
	assert_non_null(tlsroots_store(file, &err));
	assert_string_not_equal(tlsroots_path(a), tlsroots_path(file));
	tlsroots_unref(file);
	file = tlsroots_get(large);
	assert_null(tlsroots_store(file, &err));
	assert_string_equal(err.msg, "CA: it has more than 256 certificates");
	tlsroots_unref(a);
	tlsroots_unref(b);
	tlsroots_unref(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_text_is_read_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_context_keeps_its_store, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_idle_are_few, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(room_is_taken_from_the_largest_holder, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(namespaces_have_their_own, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
