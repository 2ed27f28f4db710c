/* SPDX-License-Identifier: Apache-2.0 */
#include "../fixture.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

#include "../../fakes/fakekey.h"
#include "base/mem.h"
#include "net/tls/tlsguard.h"
#include "tlswire.h"

#define PAST_THE_END (2 * TLSGUARD_RECORDS_MAX + 10)

/* ---- The other side ---- */

static SSL *strange_server(const struct x509_pair *pair)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	BIO *cert_bio = BIO_new_mem_buf(pair->cert_pem, -1), *key_bio = BIO_new_mem_buf(pair->key_pem, -1);
	X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
	SSL *ssl;

	assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	ssl = SSL_new(ctx);
	SSL_set_accept_state(ssl);
	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(cert_bio);
	BIO_free(key_bio);
	SSL_CTX_free(ctx);
	return ssl;
}

static SSL *our_client(const char *ca_pem)
{
	struct tls_client_config config = { .ca_pem = ca_pem, .insecure = !ca_pem };
	struct err err = { 0 };
	SSL_CTX *ctx = tls_client_context(&config, &err);
	SSL *ssl = tls_client_session(ctx, "localhost", config.insecure, &err);

	SSL_CTX_free(ctx);
	return ssl;
}

static SSL *our_server(struct fixture *f)
{
	struct err err = { 0 };
	struct tls_server *s = tls_server_new(&err);
	SSL *ssl;

	assert_int_equal(tls_server_set_certificate(s, f->serving.cert_pem, f->serving.key_pem, &err), 0);
	ssl = tls_server_session(s);
	tls_server_free(s);
	return ssl;
}

static SSL *strange_client(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);

	SSL_set_connect_state(ssl);
	SSL_CTX_free(ctx);
	return ssl;
}

static void send_ticket(SSL *ssl)
{
	assert_int_equal(SSL_new_session_ticket(ssl), 1);
	assert_int_equal(SSL_do_handshake(ssl), 1);
}

static void send_key_update(SSL *ssl)
{
	assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
	assert_int_equal(SSL_do_handshake(ssl), 1);
}

/* ---- Records ---- */

/* The result of one read, as from SSL_get_error; `why`: OpenSSL's word for an error. */
static int read_once(SSL *ssl, char *why, size_t size)
{
	char bytes[1024];
	int got = SSL_read(ssl, bytes, sizeof(bytes)), code = SSL_get_error(ssl, got);

	if (code == SSL_ERROR_SSL)
		tls_explain(ssl, ERR_peek_last_error(), why, size);
	ERR_clear_error();
	return code;
}

static void one_read_takes_one_record(SSL *from, SSL *to, void (*send)(SSL *ssl))
{
	char why[256];
	size_t before;

	for (int i = 0; i < 10; i++)
		send(from);
	before = BIO_ctrl_pending(SSL_get_rbio(to));
	assert_int_equal(read_once(to, why, sizeof(why)), SSL_ERROR_WANT_READ);
	assert_in_range(BIO_ctrl_pending(SSL_get_rbio(to)), before * 8 / 10, before - 1);
	while (BIO_ctrl_pending(SSL_get_rbio(to)) > 0)
		assert_int_equal(read_once(to, why, sizeof(why)), SSL_ERROR_WANT_READ);
}

/* With data between them they may go on, without they end. */
static void records_without_data_have_an_end(SSL *from, SSL *to, void (*send)(SSL *ssl))
{
	char why[256] = "", data[100] = "";
	int i;

	for (i = 0; i < PAST_THE_END; i++) {
		send(from);
		assert_int_equal(read_once(to, why, sizeof(why)), SSL_ERROR_WANT_READ);
		if (i % 100 == 99) {
			assert_int_equal(SSL_write(from, data, sizeof(data)), sizeof(data));
			assert_int_equal(read_once(to, why, sizeof(why)), SSL_ERROR_NONE);
		}
	}
	for (i = 0; i < PAST_THE_END; i++) {
		send(from);
		if (read_once(to, why, sizeof(why)) != SSL_ERROR_WANT_READ)
			break;
	}
	assert_in_range(i, 1, TLSGUARD_RECORDS_MAX);
	assert_string_equal(why, "the other side sends TLS records without data");
}

static void tickets_have_an_end(void **state)
{
	struct fixture *f = *state;
	struct tlswire w;
	char why[256] = "";

	fixture_pairs(f);
	tlswire_up(&w, strange_server(&f->serving), our_client(f->ca.cert_pem));
	assert_true(tlswire_shake(&w, why, sizeof(why)));
	one_read_takes_one_record(w.server, w.client, send_ticket);
	records_without_data_have_an_end(w.server, w.client, send_ticket);
	tlswire_cut(&w);
}

static void key_updates_of_clients_have_an_end(void **state)
{
	struct fixture *f = *state;
	struct tlswire w;
	char why[256] = "";

	fixture_pairs(f);
	tlswire_up(&w, our_server(f), strange_client());
	assert_true(tlswire_shake(&w, why, sizeof(why)));
	one_read_takes_one_record(w.client, w.server, send_key_update);
	records_without_data_have_an_end(w.client, w.server, send_key_update);
	tlswire_cut(&w);
}

/* ---- Keys ---- */

static char *key_with_large_exponent(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	BIGNUM *exponent = BN_new();
	EVP_PKEY *key = NULL;
	char *pem;

	BN_set_bit(exponent, 40);
	BN_set_bit(exponent, 0);
	EVP_PKEY_keygen_init(ctx);
	EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, 2048);
	EVP_PKEY_CTX_set1_rsa_keygen_pubexp(ctx, exponent);
	assert_int_equal(EVP_PKEY_generate(ctx, &key), 1);
	pem = fakekey_pem_of(key, NULL);
	EVP_PKEY_free(key);
	EVP_PKEY_CTX_free(ctx);
	BN_free(exponent);
	return pem;
}

/* Also where nothing is verified: the handshake's own signature is calculated with that key. */
static void chains_of_expensive_keys_are_refused(void **state)
{
	MEM_AUTO char *key = key_with_large_exponent(), *cert = fakekey_certificate(key);
	struct x509_pair pair = { cert, key };
	char why[256];

	(void)state;
	for (int verified = 0; verified < 2; verified++) {
		struct tlswire w;

		tlswire_up(&w, strange_server(&pair), our_client(verified ? cert : NULL));
		assert_false(tlswire_shake(&w, why, sizeof(why)));
		assert_string_equal(why, TLSGUARD_KEY_WORDS);
		tlswire_cut(&w);
	}
}

/* ---- Groups ---- */

static void finite_fields_are_no_group_of_ours(void **state)
{
	struct fixture *f = *state;
	char why[256] = "";

	fixture_pairs(f);
	for (int ours = 0; ours < 2; ours++) {
		SSL *server = ours ? our_server(f) : strange_server(&f->serving),
		    *client = ours ? strange_client() : our_client(NULL);
		struct tlswire w;

		/* the macro casts const away */
		assert_int_equal(SSL_set1_groups_list(ours ? client : server, (char *)(uintptr_t) "ffdhe2048"), 1);
		tlswire_up(&w, server, client);
		assert_false(tlswire_shake(&w, why, sizeof(why)));
		tlswire_cut(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tickets_have_an_end, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(key_updates_of_clients_have_an_end, fixture_setup, fixture_teardown),
		cmocka_unit_test(chains_of_expensive_keys_are_refused),
		cmocka_unit_test_setup_teardown(finite_fields_are_no_group_of_ours, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
