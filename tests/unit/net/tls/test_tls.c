/* SPDX-License-Identifier: Apache-2.0 */
#include "../fixture.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/tls/computing.h"
#include "net/tls/tlsrules.h"
#include "tlswire.h"

struct both {
	struct fixture *f;
	struct tls_server *server;
};

static int both_setup(void **state)
{
	struct both *b = mem_zalloc(sizeof(*b));
	struct err err = { .kind = ERR_NONE };
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	b->f = f;
	fixture_pairs(b->f);
	b->server = tls_server_new(&err);
	*state = b;
	return tls_server_set_certificate(b->server, b->f->serving.cert_pem, b->f->serving.key_pem, &err);
}

static int both_teardown(void **state)
{
	struct both *b = *state;
	void *f = b->f;

	tls_server_free(b->server);
	mem_free_ptr(&b);
	return fixture_teardown(&f);
}

/* A whole handshake; returns why it failed. */
static bool meet(struct both *b, const struct tls_client_config *config, const char *name, char *why, size_t size)
{
	struct err err = { .kind = ERR_NONE };
	SSL_CTX *ctx = tls_client_context(config, &err);
	struct tlswire w;
	bool good;

	if (!ctx)
		fail_msg("%s", err.msg);
	tlswire_up(&w, tls_server_session(b->server), tls_client_session(ctx, name, config->insecure, &err));
	good = tlswire_shake(&w, why, size);
	tlswire_cut(&w);
	SSL_CTX_free(ctx);
	return good;
}

static void names_and_roots_are_checked(void **state)
{
	struct both *b = *state;
	struct x509_pair stranger;

	fakepki_authority("stranger", timestamp_now_ms(), 1000, &stranger);
	const struct {
		const char *ca;
		bool insecure;
		const char *name, *why; /* why: NULL when it works */
	} rows[] = {
		{ b->f->ca.cert_pem, false, "localhost", NULL },
		{ b->f->ca.cert_pem, false, "localhost.", NULL },
		{ b->f->ca.cert_pem, false, "example.org.", "hostname mismatch" },
		{ b->f->ca.cert_pem, false, "127.0.0.1", NULL },
		{ b->f->ca.cert_pem, false, "::1", NULL },
		{ b->f->ca.cert_pem, false, "example.org", "hostname mismatch" },
		{ b->f->ca.cert_pem, false, "127.0.0.2", "IP address mismatch" },
		{ stranger.cert_pem, false, "localhost", "unable to get local issuer certificate" },
		/* the system does not know us */
		{ NULL, false, "localhost", "unable to get local issuer certificate" },
		{ NULL, true, "example.org", NULL },
		{ stranger.cert_pem, true, "localhost", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tls_client_config config = { .ca_pem = rows[i].ca, .insecure = rows[i].insecure };
		char why[256] = "";
		bool good = meet(b, &config, rows[i].name, why, sizeof(why));

		if (good != (rows[i].why == NULL) || (rows[i].why && !strcasestr(why, rows[i].why)))
			fail_msg("row %zu: %s", i, why);
		assert_int_equal(ERR_peek_error(), 0);
	}
	x509_pair_done(&stranger);
}

/* The system's roots count besides the given one: SSL_CERT_FILE puts our CA among them. */
static void the_systems_roots_count_too(void **state)
{
	struct both *b = *state;
	struct x509_pair stranger;
	struct tls_client_config config = { .ca_pem = NULL };
	char path[] = "/tmp/roots-XXXXXX", why[256] = "";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	fakepki_authority("stranger", timestamp_now_ms(), 1000, &stranger);
	fputs(b->f->ca.cert_pem, file);
	fclose(file);
	setenv("SSL_CERT_FILE", path, 1);
	tls_forget_system_store();
	assert_true(meet(b, &config, "localhost", why, sizeof(why)));
	assert_false(meet(b, &config, "example.org", why, sizeof(why)));
	config.ca_pem = stranger.cert_pem;
	assert_true(meet(b, &config, "localhost", why, sizeof(why)));
	unsetenv("SSL_CERT_FILE");
	tls_forget_system_store();
	assert_false(meet(b, &config, "localhost", why, sizeof(why)));
	remove(path);
	x509_pair_done(&stranger);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);

	assert_int_equal(remove(path), 0);
}

static void set_rules(const char *version, const char *ciphers, const char *ca_dirs)
{
	struct tlsrules_config rules = { .min_version = version, .ciphers = ciphers, .ca_dirs = ca_dirs };
	struct err err;

	assert_int_equal(tlsrules_set(&rules, &err), 0);
	tls_forget_system_store();
}

/* The same key and names, signed again with SHA-1. */
static SSL_CTX *weakly_signed(const struct x509_pair *ca, const struct x509_pair *pair)
{
	BIO *cert_bio = BIO_new_mem_buf(pair->cert_pem, -1), *key_bio = BIO_new_mem_buf(pair->key_pem, -1),
	    *ca_bio = BIO_new_mem_buf(ca->key_pem, -1);
	X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL),
		 *ca_key = PEM_read_bio_PrivateKey(ca_bio, NULL, NULL, NULL);
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	assert_true(X509_sign(cert, ca_key, EVP_sha1()) > 0);
	SSL_CTX_set_security_level(ctx, 0);
	assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
	BIO_free(cert_bio);
	BIO_free(key_bio);
	BIO_free(ca_bio);
	return ctx;
}

/* The system's roots must not vouch for SHA-1 signatures, either. */
static void weak_signatures_are_refused(void **state)
{
	struct both *b = *state;
	char folder[] = "/tmp/rootsXXXXXX", why[256] = "";
	struct err err;

	assert_non_null(mkdtemp(folder));
	write_file(folder, "ca.crt", b->f->ca.cert_pem);
	set_rules(NULL, NULL, folder);
	for (int own = 0; own < 2; own++) {
		struct tls_client_config config = { .ca_pem = own ? b->f->ca.cert_pem : NULL };
		SSL_CTX *ctx = tls_client_context(&config, &err), *server = weakly_signed(&b->f->ca, &b->f->serving);
		SSL *accepting = SSL_new(server);
		struct tlswire w;

		assert_true(meet(b, &config, "localhost", why, sizeof(why))); /* well signed */
		SSL_set_accept_state(accepting);
		tlswire_up(&w, accepting, tls_client_session(ctx, "localhost", false, &err));
		assert_false(tlswire_shake(&w, why, sizeof(why)));
		assert_string_equal(why, "CA signature digest algorithm too weak");
		tlswire_cut(&w);
		SSL_CTX_free(server);
		SSL_CTX_free(ctx);
	}
	remove_file(folder, "ca.crt");
	rmdir(folder);
	tlsrules_done();
	tls_forget_system_store();
}

/*
 * Files and links to files; no folders, no names that begin with "..", and other files do no harm.
 */
static void folders_of_roots_count_too(void **state)
{
	struct both *b = *state;
	struct tls_client_config config = { .ca_pem = NULL };
	char folder[] = "/tmp/rootsXXXXXX", why[256] = "";
	MEM_AUTO char *dirs = NULL, *deeper = NULL;

	assert_non_null(mkdtemp(folder));
	dirs = mem_printf("/no/such/folder,,%s", folder);
	deeper = mem_printf("%s/deeper", folder);
	assert_int_equal(mkdir(deeper, 0700), 0);
	write_file(folder, "note", "no certificate");
	write_file(folder, "..data", b->f->ca.cert_pem);
	write_file(deeper, "ca.crt", b->f->ca.cert_pem);
	set_rules(NULL, NULL, dirs);
	assert_false(meet(b, &config, "localhost", why, sizeof(why)));
	write_file(folder, "ca.crt", b->f->ca.cert_pem);
	assert_false(meet(b, &config, "localhost", why, sizeof(why))); /* read once */
	set_rules(NULL, NULL, dirs);
	assert_true(meet(b, &config, "localhost", why, sizeof(why)));
	assert_false(meet(b, &config, "example.org", why, sizeof(why)));
	remove_file(folder, "ca.crt");
	remove_file(folder, "..data");
	remove_file(folder, "note");
	remove_file(deeper, "ca.crt");
	rmdir(deeper);
	rmdir(folder);
	tlsrules_done();
	tls_forget_system_store();
}

/* The protocol and the suite that a session of these rules has with a server that takes all. */
static void says(const char *version, const char *ciphers, long server_most, const char *protocol, const char *suite)
{
	struct tls_client_config config = { .insecure = true };
	struct err err;
	struct both *b = NULL;
	void *state = NULL;
	SSL_CTX *ctx;
	SSL *server;
	struct tlswire w;
	char why[256] = "";

	assert_int_equal(both_setup(&state), 0);
	b = state;
	set_rules(version, ciphers, NULL);
	ctx = tls_client_context(&config, &err);
	assert_non_null(ctx);
	server = tls_server_session(b->server);
	SSL_set_security_level(server, 0);
	SSL_set_min_proto_version(server, TLS1_VERSION);
	SSL_set_max_proto_version(server, server_most);
	SSL_set_cipher_list(server, "ALL");
	tlswire_up(&w, server, tls_client_session(ctx, "localhost", true, &err));
	if (tlswire_shake(&w, why, sizeof(why)) != (protocol != NULL))
		fail_msg("%s %s: %s", version, ciphers ? ciphers : "", why);
	if (protocol)
		assert_string_equal(SSL_get_version(w.client), protocol);
	if (suite)
		assert_string_equal(SSL_CIPHER_standard_name(SSL_get_current_cipher(w.client)), suite);
	ERR_clear_error();
	tlswire_cut(&w);
	SSL_CTX_free(ctx);
	tlsrules_done();
	both_teardown(&state);
}

static void versions_and_suites_follow_the_rules(void **state)
{
	static const char old[] = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
			  one13[] = "TLS_NONSENSE:TLS_AES_128_GCM_SHA256:";
	struct tlsrules_config wrong = { .min_version = "TLS1.2" };
	struct err err;

	(void)state;
	says(NULL, NULL, TLS1_3_VERSION, "TLSv1.3", NULL);
	says(NULL, NULL, TLS1_2_VERSION, "TLSv1.2", NULL);
	says(NULL, NULL, TLS1_1_VERSION, NULL, NULL);
	says("TLS13", NULL, TLS1_2_VERSION, NULL, NULL);
	says("TLS13", NULL, TLS1_3_VERSION, "TLSv1.3", NULL);
	says("TLS11", NULL, TLS1_1_VERSION, "TLSv1.1", NULL);
	says("TLS11", NULL, TLS1_VERSION, NULL, NULL);
	says("TLS10", NULL, TLS1_VERSION, "TLSv1", NULL);
	says("TLS12", one13, TLS1_3_VERSION, "TLSv1.3", "TLS_AES_128_GCM_SHA256");
	says("TLS12", one13, TLS1_2_VERSION, "TLSv1.2", NULL);
	says("TLS12", old, TLS1_2_VERSION, "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA");
	says("TLS12", "TLS_NONSENSE", TLS1_2_VERSION, "TLSv1.2", NULL);
	assert_int_equal(tlsrules_set(&wrong, &err), -1);
	assert_string_equal(err.msg, "\"TLS1.2\" is not a TLS version: TLS10, TLS11, TLS12 or TLS13");
}

static void the_servers_certificate_is_swapped_under_sessions(void **state)
{
	struct both *b = *state;
	static const char *const other[] = { "other.example", NULL };
	struct tls_client_config config = { .insecure = true };
	struct err err = { .kind = ERR_NONE };
	SSL_CTX *ctx = tls_client_context(&config, &err);
	struct x509_pair second;
	struct tlswire old_wire, new_wire;
	char why[256], cn[64];
	X509 *cert;

	fakepki_certificate(&b->f->ca, other, timestamp_now_ms(), 1000, &second);
	tlswire_up(&old_wire, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
	assert_int_equal(tls_server_set_certificate(b->server, "garbage", second.key_pem, &err), -1);
	assert_int_equal(tls_server_set_certificate(b->server, second.cert_pem, b->f->serving.key_pem, &err), -1);
	assert_non_null(strstr(err.msg, "does not fit"));
	assert_int_equal(tls_server_set_certificate(b->server, second.cert_pem, second.key_pem, &err), 0);
	tlswire_up(&new_wire, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
	assert_true(tlswire_shake(&old_wire, why, sizeof(why))); /* began before the swap, ends after it */
	assert_true(tlswire_shake(&new_wire, why, sizeof(why)));
	cert = SSL_get1_peer_certificate(old_wire.client);
	x509_common_name(cert, cn, sizeof(cn));
	assert_string_equal(cn, "localhost");
	X509_free(cert);
	cert = SSL_get1_peer_certificate(new_wire.client);
	x509_common_name(cert, cn, sizeof(cn));
	assert_string_equal(cn, "other.example");
	X509_free(cert);
	tlswire_cut(&old_wire);
	tlswire_cut(&new_wire);
	SSL_CTX_free(ctx);
	x509_pair_done(&second);
}

static void no_certificate_no_session(void **state)
{
	struct err err;
	struct tls_server *s = tls_server_new(&err);

	(void)state;
	assert_false(tls_server_has_certificate(s));
	assert_null(tls_server_session(s));
	tls_server_free(s);
	tls_server_free(NULL);
}

static void client_certificates_are_asked_for_and_any_is_taken(void **state)
{
	struct both *b = *state;
	static const char *const names[] = { "front-proxy-client", NULL };
	struct x509_pair foreign_ca, client;
	struct err err = { .kind = ERR_NONE };

	fakepki_authority("foreign", timestamp_now_ms(), 1000, &foreign_ca);
	fakepki_certificate(&foreign_ca, names, timestamp_now_ms(), 1000, &client);
	for (int with = 0; with < 2; with++) {
		struct tls_client_config config = { .insecure = true,
			.cert_pem = with ? client.cert_pem : NULL,
			.key_pem = with ? client.key_pem : NULL };
		SSL_CTX *ctx = tls_client_context(&config, &err);
		struct tlswire w;
		char why[256], cn[64] = "";
		X509 *cert;

		tlswire_up(&w, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
		assert_true(tlswire_shake(&w, why, sizeof(why)));
		cert = SSL_get1_peer_certificate(w.server);
		if (cert)
			x509_common_name(cert, cn, sizeof(cn));
		assert_string_equal(cn, with ? "front-proxy-client" : "");
		X509_free(cert);
		tlswire_cut(&w);
		SSL_CTX_free(ctx);
	}
	x509_pair_done(&foreign_ca);
	x509_pair_done(&client);
}

static void old_protocols_and_http2_are_refused(void **state)
{
	struct both *b = *state;
	static const unsigned char h2_only[] = "\x02h2", both[] = "\x02h2\x08http/1.1";
	struct tls_client_config config = { .insecure = true };
	struct err err;
	SSL_CTX *ctx = tls_client_context(&config, &err);
	const unsigned char *chosen;
	unsigned chosen_len;
	char why[256];
	struct tlswire w;

	tlswire_up(&w, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
	SSL_set_alpn_protos(w.client, both, sizeof(both) - 1);
	assert_true(tlswire_shake(&w, why, sizeof(why)));
	SSL_get0_alpn_selected(w.client, &chosen, &chosen_len);
	assert_int_equal(chosen_len, 8);
	assert_memory_equal(chosen, "http/1.1", 8);
	tlswire_cut(&w);
	tlswire_up(&w, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
	SSL_set_alpn_protos(w.client, h2_only, sizeof(h2_only) - 1);
	assert_false(tlswire_shake(&w, why, sizeof(why)));
	tlswire_cut(&w);
	tlswire_up(&w, tls_server_session(b->server), tls_client_session(ctx, "localhost", true, &err));
	SSL_set_min_proto_version(w.client, TLS1_VERSION);
	SSL_set_max_proto_version(w.client, TLS1_1_VERSION);
	SSL_set_cipher_list(w.client, "ALL:@SECLEVEL=0");
	assert_false(tlswire_shake(&w, why, sizeof(why)));
	tlswire_cut(&w);
	SSL_CTX_free(ctx);
}

/* The same text that many times. */
static char *repeated(const char *text, size_t times)
{
	size_t len = strlen(text);
	char *all = mem_alloc(times * len + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(all + i * len, text, len);
	all[times * len] = '\0';
	return all;
}

static void certificates_of_a_text_are_limited(void **state)
{
	struct both *b = *state;
	MEM_AUTO char *fits = repeated(b->f->ca.cert_pem, 256), *many = repeated(b->f->ca.cert_pem, 257);
	MEM_AUTO char *fifteen = repeated(b->f->ca.cert_pem, 15), *sixteen = repeated(b->f->ca.cert_pem, 16);
	MEM_AUTO char *chain = mem_printf("%s%s", b->f->serving.cert_pem, fifteen),
		      *longer = mem_printf("%s%s", b->f->serving.cert_pem, sixteen);
	struct err err = { 0 };

	assert_int_equal(tls_client_check(&(struct tls_client_config){ .ca_pem = fits }, &err), 0);
	assert_int_equal(tls_client_check(&(struct tls_client_config){ .ca_pem = many }, &err), -1);
	assert_string_equal(err.msg, "CA: it has more than 256 certificates");
	assert_int_equal(tls_client_check(&(struct tls_client_config){ .cert_pem = chain,
						  .key_pem = b->f->serving.key_pem },
				 &err),
		0);
	assert_int_equal(tls_client_check(&(struct tls_client_config){ .cert_pem = longer,
						  .key_pem = b->f->serving.key_pem },
				 &err),
		-1);
	assert_string_equal(err.msg, "certificate chain: it has more than 16 certificates");
}

/* A thousand triggers, each with a text of its own that is just short enough. */
static void a_namespaces_texts_are_limited(void **state)
{
	struct both *b = *state;
	MEM_AUTO char *cas = repeated(b->f->ca.cert_pem, 256);
	const struct tls_client_config known = { .ca_pem = cas,
		.cert_pem = b->f->serving.cert_pem,
		.key_pem = b->f->serving.key_pem };
	struct tls_client_config pair = known;
	struct err err = { 0 };
	int tries = 0;

	computing_for("hostile");
	assert_int_equal(tls_client_check(&known, &err), 0);
	do {
		MEM_AUTO char *another = mem_printf("%d\n%s", tries, cas);

		if (tls_client_check(&(struct tls_client_config){ .ca_pem = another }, &err))
			break;
	} while (++tries < 20);
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_int_equal(tls_client_check(&known, &err), 0);
	pair.key_password = "other";
	assert_int_equal(tls_client_check(&pair, &err), -1);
	computing_for("other");
	assert_int_equal(tls_client_check(&pair, &err), 0);
	computing_for("");
}

static void bad_pems_are_named(void **state)
{
	struct both *b = *state;
	const struct {
		struct tls_client_config config;
		const char *why;
	} rows[] = {
		{ { .ca_pem = "garbage" }, "CA: " },
		{ { .cert_pem = b->f->serving.cert_pem }, "the key is missing" },
		{ { .key_pem = b->f->serving.key_pem }, "the certificate is missing" },
		{ { .cert_pem = "garbage", .key_pem = b->f->serving.key_pem }, "certificate: " },
		{ { .cert_pem = b->f->serving.cert_pem, .key_pem = "garbage" }, "private key: " },
		{ { .cert_pem = b->f->serving.cert_pem, .key_pem = b->f->ca.key_pem }, "does not fit" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { .kind = ERR_NONE };

		assert_null(tls_client_context(&rows[i].config, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].why))
			fail_msg("row %zu: %s", i, err.msg);
		assert_int_equal(ERR_peek_error(), 0);
	}
}

/* An encrypted key: with its password, without, and with a wrong one; no prompt on the terminal. */
static void encrypted_keys_need_their_password(void **state)
{
	struct both *b = *state;
	BIO *in = BIO_new_mem_buf(b->f->serving.key_pem, -1), *out = BIO_new(BIO_s_mem());
	EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
	static const char *const passwords[] = { "secret", "wrong", NULL };
	char *bytes, *encrypted;
	long len;

	assert_int_equal(PEM_write_bio_PKCS8PrivateKey(out, key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL), 1);
	len = BIO_get_mem_data(out, &bytes);
	encrypted = mem_dupn(bytes, (size_t)len);
	for (size_t i = 0; i < sizeof passwords / sizeof *passwords; i++) {
		struct tls_client_config config = { .cert_pem = b->f->serving.cert_pem,
			.key_pem = encrypted,
			.key_password = passwords[i] };
		struct err err = { .kind = ERR_NONE };
		SSL_CTX *ctx = tls_client_context(&config, &err);

		assert_int_equal(ctx != NULL, i == 0);
		assert_null(strstr(err.msg, "secret"));
		SSL_CTX_free(ctx);
	}
	mem_free_ptr(&encrypted);
	EVP_PKEY_free(key);
	BIO_free(in);
	BIO_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_and_roots_are_checked, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(the_systems_roots_count_too, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(folders_of_roots_count_too, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(weak_signatures_are_refused, both_setup, both_teardown),
		cmocka_unit_test(versions_and_suites_follow_the_rules),
		cmocka_unit_test_setup_teardown(the_servers_certificate_is_swapped_under_sessions, both_setup,
			both_teardown),
		cmocka_unit_test(no_certificate_no_session),
		cmocka_unit_test_setup_teardown(client_certificates_are_asked_for_and_any_is_taken, both_setup,
			both_teardown),
		cmocka_unit_test_setup_teardown(old_protocols_and_http2_are_refused, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(certificates_of_a_text_are_limited, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(a_namespaces_texts_are_limited, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(bad_pems_are_named, both_setup, both_teardown),
		cmocka_unit_test_setup_teardown(encrypted_keys_need_their_password, both_setup, both_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
