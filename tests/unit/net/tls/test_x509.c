/* SPDX-License-Identifier: Apache-2.0 */
#include "../fixture.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "base/timestamp.h"

static const char *const names[] = { "kscaled.kube-scaling.svc", "kscaled.kube-scaling.svc.cluster.local", "10.0.0.7",
	"fd00::7", NULL };

struct made {
	struct x509_pair ca, other_ca, serving;
};

static int made_setup(void **state)
{
	struct made *m = mem_zalloc(sizeof(*m));
	int64_t now_ms = timestamp_now_ms();
	struct err err = { .kind = ERR_NONE };

	if (x509_make_ca("kscaled CA", names, now_ms, 1000000, &m->ca, &err) < 0 ||
		x509_make_ca("kscaled CA", names, now_ms, 1000000, &m->other_ca, &err) < 0 ||
		x509_make_serving(&m->ca, names, now_ms, 500000, &m->serving, &err) < 0) {
		print_message("%s\n", err.msg);
		return -1;
	}
	*state = m;
	return 0;
}

static int made_teardown(void **state)
{
	struct made *m = *state;

	x509_pair_done(&m->ca);
	x509_pair_done(&m->other_ca);
	x509_pair_done(&m->serving);
	mem_free_ptr(&m);
	return 0;
}

static X509 *parse(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	assert_non_null(cert);
	return cert;
}

static void dates_and_names_are_as_asked(void **state)
{
	struct made *m = *state;
	struct x509_facts facts;
	struct err err;
	int64_t now_ms = timestamp_now_ms();

	assert_int_equal(x509_read(m->serving.cert_pem, &facts, &err), 0);
	assert_string_equal(facts.subject_cn, names[0]);
	assert_true(facts.not_before_unix_ms <= now_ms - X509_BACKDATE_S * 1000LL &&
		facts.not_before_unix_ms >= now_ms - X509_BACKDATE_S * 1000LL - 100000);
	assert_true(facts.not_after_unix_ms >= now_ms + 400000000 && facts.not_after_unix_ms <= now_ms + 500000000);
	assert_int_equal(x509_read(m->ca.cert_pem, &facts, &err), 0);
	assert_string_equal(facts.subject_cn, "kscaled CA");
	assert_int_equal(x509_read("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &facts, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(x509_read("", &facts, &err), -1);
}

/* More seconds than a time_t of 32 bits has. */
static void it_may_end_after_2038(void **state)
{
	const int64_t valid_s = INT64_C(60) * 365 * 86400;
	int64_t now_s = timestamp_now_ms() / 1000;
	struct x509_pair ca;
	struct x509_facts facts;
	struct err err;

	(void)state;
	assert_int_equal(x509_make_ca("kscaled CA", names, now_s * 1000, valid_s, &ca, &err), 0);
	assert_int_equal(x509_read(ca.cert_pem, &facts, &err), 0);
	assert_int_equal(facts.not_after_unix_ms, (now_s + valid_s) * 1000);
	x509_pair_done(&ca);
}

static void extensions_limit_the_use(void **state)
{
	struct made *m = *state;
	X509 *ca = parse(m->ca.cert_pem), *serving = parse(m->serving.cert_pem), *again;
	struct x509_pair twin;
	struct err err;

	assert_int_equal(X509_check_ca(ca), 1);
	assert_int_equal(X509_get_pathlen(ca), 0);
	assert_int_equal(X509_check_ca(serving), 0);
	assert_int_equal(X509_get_key_usage(ca), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
	assert_int_equal(X509_get_extended_key_usage(ca), XKU_SSL_SERVER);
	assert_int_equal(X509_get_key_usage(serving), KU_DIGITAL_SIGNATURE);
	assert_int_equal(X509_get_extended_key_usage(serving), XKU_SSL_SERVER);
	assert_int_equal(X509_check_issued(ca, serving), X509_V_OK);
	assert_non_null(X509_get0_subject_key_id(ca));
	assert_int_equal(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(serving), X509_get0_subject_key_id(ca)), 0);
	assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(serving)), 256);
	assert_int_equal(x509_make_serving(&m->ca, names, timestamp_now_ms(), 500000, &twin, &err), 0);
	again = parse(twin.cert_pem);
	assert_int_not_equal(ASN1_INTEGER_cmp(X509_get0_serialNumber(serving), X509_get0_serialNumber(again)), 0);
	X509_free(again);
	x509_pair_done(&twin);
	X509_free(ca);
	X509_free(serving);
}

static void serving_certificate_ends_with_its_ca(void **state)
{
	struct made *m = *state;
	struct x509_pair serving;
	struct x509_facts ca_facts, facts;
	struct err err;

	assert_int_equal(x509_make_serving(&m->ca, names, timestamp_now_ms(), 90000000, &serving, &err), 0);
	x509_read(m->ca.cert_pem, &ca_facts, &err);
	x509_read(serving.cert_pem, &facts, &err);
	assert_true(facts.not_after_unix_ms == ca_facts.not_after_unix_ms);
	x509_pair_done(&serving);
}

static void bad_names_and_keys_are_refused(void **state)
{
	struct made *m = *state;
	static const char *const none[] = { NULL }, *const address[] = { "10.0.0.7", NULL };
	static const char *const bad[] = { "fine.example", "DNS:evil,URI:x", NULL };
	static const char *const long_name[] = {
		"a-service-with-a-name-of-some-length.a-namespace-with-a-name-of-some-length.svc", NULL
	};
	struct x509_pair out = { NULL, NULL }, mixed = { m->ca.cert_pem, m->other_ca.key_pem }, empty = { NULL, NULL };
	struct x509_facts facts;
	struct err err;

	assert_int_equal(x509_make_serving(&m->ca, none, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_int_equal(x509_make_serving(&m->ca, address, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_int_equal(x509_make_serving(&m->ca, bad, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_non_null(strstr(err.msg, "\"DNS:evil,URI:x\""));
	assert_int_equal(x509_make_serving(&mixed, names, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_int_equal(x509_make_serving(&empty, names, timestamp_now_ms(), 1000, &out, &err), -1);
	/* longer than a common name may be */
	assert_int_equal(x509_make_serving(&m->ca, long_name, timestamp_now_ms(), 1000, &out, &err), 0);
	assert_int_equal(x509_read(out.cert_pem, &facts, &err), 0);
	assert_true(x509_fits(out.cert_pem, out.key_pem, m->ca.cert_pem, long_name, NULL, 0));
	x509_pair_done(&out);
	x509_pair_done(&out);
}

static void fits_gives_the_reason(void **state)
{
	struct made *m = *state;
	static const char *const other_name[] = { "kscaled.other.svc", NULL }, *const other_ip[] = { "10.0.0.8", NULL };
	const struct {
		const char *cert, *key, *ca;
		const char *const *names;
		const char *why; /* NULL: fits */
	} rows[] = {
		{ m->serving.cert_pem, m->serving.key_pem, m->ca.cert_pem, names, NULL },
		{ m->serving.cert_pem, m->serving.key_pem, m->ca.cert_pem, NULL, NULL },
		{ m->serving.cert_pem, m->serving.key_pem, m->other_ca.cert_pem, names, "not signed by the CA" },
		{ m->serving.cert_pem, m->ca.key_pem, m->ca.cert_pem, names, "key does not fit" },
		{ m->serving.cert_pem, m->serving.key_pem, m->ca.cert_pem, other_name,
			"does not name kscaled.other.svc" },
		{ m->serving.cert_pem, m->serving.key_pem, m->ca.cert_pem, other_ip, "does not name 10.0.0.8" },
		{ "garbage", m->serving.key_pem, m->ca.cert_pem, names, "certificate cannot be read" },
		{ m->serving.cert_pem, NULL, m->ca.cert_pem, names, "private key cannot be read" },
		{ m->serving.cert_pem, m->serving.key_pem, "", names, "CA certificate cannot be read" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char why[200] = "";
		bool fits = x509_fits(rows[i].cert, rows[i].key, rows[i].ca, rows[i].names, why, sizeof(why));

		assert_int_equal(fits, rows[i].why == NULL);
		if (rows[i].why && !strstr(why, rows[i].why))
			fail_msg("row %zu: %s", i, why);
		assert_int_equal(x509_fits(rows[i].cert, rows[i].key, rows[i].ca, rows[i].names, NULL, 0), fits);
	}
}

/* ---- What a CA's key can be used for ---- */

static const char *verify(const char *ca_pem, const char *cert_pem, const char *between_pem, const char *purpose)
{
	struct err err;
	X509_STORE *roots = x509_store_from_pem(ca_pem, &err);
	X509 *leaf = parse(cert_pem);
	STACK_OF(X509) *chain = sk_X509_new_null();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	const char *why = NULL;

	if (between_pem)
		sk_X509_push(chain, parse(between_pem));
	assert_int_equal(X509_STORE_CTX_init(ctx, roots, leaf, chain), 1);
	assert_int_equal(X509_STORE_CTX_set_default(ctx, purpose), 1);
	if (X509_verify_cert(ctx) != 1)
		why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
	X509_STORE_CTX_free(ctx);
	sk_X509_pop_free(chain, X509_free);
	X509_free(leaf);
	X509_STORE_free(roots);
	return why;
}

/* A thief of the key in the Secret signs anything with it. */
static void an_authority_vouches_for_our_servers_only(void **state)
{
	static const char *const service[] = { "kscaled.kube-scaling.svc", NULL };
	const struct {
		const char *const *of;                            /* the authority's */
		const char *names[4], *usage, *purpose, *refused; /* refused: NULL: believed */
	} rows[] = {
		{ names, { "kscaled.kube-scaling.svc" }, "serverAuth", "ssl_server", NULL },
		{ names, { "kscaled.kube-scaling.svc", "10.0.0.7", "fd00::7" }, "serverAuth", "ssl_server", NULL },
		{ names, { "kscaled.kube-scaling.svc" }, "clientAuth", "ssl_client", "purpose" },
		{ names, { "kscaled.kube-scaling.svc" }, "serverAuth,clientAuth", "ssl_client", "purpose" },
		{ names, { "kubernetes.default.svc" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ names, { "kscaled.other.svc" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ names, { "kube-scaling.svc" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ names, { "evil-kscaled.kube-scaling.svc" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ names, { "kscaled.kube-scaling.svc", "kubernetes" }, "serverAuth", "ssl_server",
			"permitted subtree" },
		{ names, { "kscaled.kube-scaling.svc", "10.0.0.8" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ names, { "kscaled.kube-scaling.svc", "fd00::8" }, "serverAuth", "ssl_server", "permitted subtree" },
		{ service, { "kscaled.kube-scaling.svc" }, "serverAuth", "ssl_server", NULL },
		{ service, { "kscaled.kube-scaling.svc", "10.0.0.7" }, "serverAuth", "ssl_server", "excluded subtree" },
		{ service, { "kscaled.kube-scaling.svc", "::1" }, "serverAuth", "ssl_server", "excluded subtree" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct x509_pair ca, leaf;
		const char *why;

		assert_int_equal(x509_make_ca("kscaled CA", rows[i].of, timestamp_now_ms(), 1000, &ca, &err), 0);
		fakepki_certificate_for(&ca, rows[i].names, rows[i].usage, 0, timestamp_now_ms(), 1000, &leaf);
		why = verify(ca.cert_pem, leaf.cert_pem, NULL, rows[i].purpose);
		if (!why != !rows[i].refused || (why && !strstr(why, rows[i].refused)))
			fail_msg("row %zu: %s", i, why ? why : "believed");
		x509_pair_done(&ca);
		x509_pair_done(&leaf);
	}
}

static void an_authority_makes_no_other(void **state)
{
	struct made *m = *state;
	struct x509_pair between, leaf;

	fakepki_certificate_for(&m->ca, names, "serverAuth", 1, timestamp_now_ms(), 1000, &between);
	fakepki_certificate_for(&between, names, "serverAuth", 0, timestamp_now_ms(), 1000, &leaf);
	assert_non_null(strstr(verify(m->ca.cert_pem, leaf.cert_pem, between.cert_pem, "ssl_server"), "path length"));
	x509_pair_done(&between);
	x509_pair_done(&leaf);
}

static void an_authority_is_known_by_its_constraints(void **state)
{
	struct made *m = *state;
	static const char *const fewer[] = { "kscaled.kube-scaling.svc", "10.0.0.7", "fd00::7", NULL },
				 *const more[] = { "kscaled.kube-scaling.svc", "kscaled.kube-scaling.svc.cluster.local",
					 "10.0.0.7", "fd00::7", "another.kube-scaling.svc", NULL },
				 *const none[] = { NULL };
	struct x509_pair loose, out = { NULL, NULL };
	struct err err;

	assert_true(x509_ca_is_confined(m->ca.cert_pem, names));
	assert_false(x509_ca_is_confined(m->ca.cert_pem, fewer));
	assert_false(x509_ca_is_confined(m->ca.cert_pem, more));
	assert_false(x509_ca_is_confined(m->serving.cert_pem, names));
	assert_false(x509_ca_is_confined("garbage", names));
	assert_false(x509_ca_is_confined(NULL, names));
	fakepki_authority("kscaled CA", timestamp_now_ms(), 1000, &loose);
	assert_false(x509_ca_is_confined(loose.cert_pem, names));
	x509_pair_done(&loose);
	/* nor is one made for nothing, which would be one without constraints */
	assert_int_equal(x509_make_ca("kscaled CA", none, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_int_equal(x509_make_ca("kscaled CA", NULL, timestamp_now_ms(), 1000, &out, &err), -1);
	assert_null(out.key_pem);
}

/* ---- Clients ---- */

static void clients_are_verified_against_given_roots(void **state)
{
	struct x509_pair proxy_ca, other_ca, client, server;
	struct made *m = *state;
	struct err err = { .kind = ERR_NONE };
	X509_STORE *roots, *others, *both;
	X509 *leaf;
	char *bundle;

	fakepki_authority("proxy CA", timestamp_now_ms(), 1000, &proxy_ca);
	fakepki_authority("other CA", timestamp_now_ms(), 1000, &other_ca);
	fakepki_certificate_for(&proxy_ca, names, "clientAuth", 0, timestamp_now_ms(), 1000, &client);
	fakepki_certificate_for(&proxy_ca, names, "serverAuth", 0, timestamp_now_ms(), 1000, &server);
	roots = x509_store_from_pem(proxy_ca.cert_pem, &err);
	others = x509_store_from_pem(other_ca.cert_pem, &err);
	bundle = mem_printf("# a comment\n%s\n%s\n%s", other_ca.cert_pem, proxy_ca.cert_pem, m->ca.cert_pem);
	both = x509_store_from_pem(bundle, &err);
	leaf = parse(client.cert_pem);
	assert_int_equal(x509_verify_client(roots, leaf, NULL, &err), 0);
	assert_int_equal(x509_verify_client(both, leaf, NULL, &err), 0);
	assert_int_equal(x509_verify_client(others, leaf, NULL, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_non_null(strstr(err.msg, names[0]));
	X509_free(leaf);
	leaf = parse(server.cert_pem);
	assert_int_equal(x509_verify_client(roots, leaf, NULL, &err), -1);
	X509_free(leaf);
	leaf = parse(m->serving.cert_pem); /* ours is not a client certificate */
	assert_int_equal(x509_verify_client(both, leaf, NULL, &err), -1);
	X509_free(leaf);
	assert_null(x509_store_from_pem("nothing here", &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_null(x509_store_from_pem(NULL, &err));
	mem_free_ptr(&bundle);
	X509_STORE_free(roots);
	X509_STORE_free(others);
	X509_STORE_free(both);
	x509_pair_done(&proxy_ca);
	x509_pair_done(&other_ca);
	x509_pair_done(&client);
	x509_pair_done(&server);
}

static void an_expired_client_is_denied(void **state)
{
	struct err err;
	struct x509_pair ca, old;
	X509_STORE *roots;
	X509 *leaf;

	(void)state;
	fakepki_authority("proxy CA", timestamp_now_ms(), 1000, &ca);
	fakepki_certificate(&ca, names, timestamp_now_ms() - 86400000, 3600, &old);
	roots = x509_store_from_pem(ca.cert_pem, &err);
	leaf = parse(old.cert_pem);
	assert_int_equal(x509_verify_client(roots, leaf, NULL, &err), -1);
	assert_non_null(strstr(err.msg, "expired"));
	X509_free(leaf);
	x509_pair_done(&old);
	x509_pair_done(&ca);
	X509_STORE_free(roots);
}

/* A subject of one or two common names. */
static X509 *with_names(const char *first, int first_len, const char *second)
{
	X509 *cert = X509_new();
	X509_NAME *name = X509_get_subject_name(cert);

	if (first)
		X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)first, first_len,
			-1, 0);
	if (second)
		X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)second, -1, -1,
			0);
	return cert;
}

static void a_common_name_is_whole_or_nothing(void **state)
{
	static const struct {
		const char *first;
		int len;
		const char *second, *expected;
	} rows[] = {
		{ "front-proxy-client", -1, NULL, "front-proxy-client" }, { NULL, 0, NULL, "" },
		{ "first", -1, "second", "second" },                   /* as Go reads it */
		{ "admin\0evil", 10, NULL, "" },                       /* a NUL inside makes it no name */
		{ "thirty-one-bytes-are-one-too-many", -1, NULL, "" }, /* does not fit below */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		X509 *cert = with_names(rows[i].first, rows[i].len, rows[i].second);
		char cn[31] = "untouched";

		x509_common_name(cert, cn, sizeof(cn));
		assert_string_equal(cn, rows[i].expected);
		X509_free(cert);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates_and_names_are_as_asked),
		cmocka_unit_test(it_may_end_after_2038),
		cmocka_unit_test(extensions_limit_the_use),
		cmocka_unit_test(serving_certificate_ends_with_its_ca),
		cmocka_unit_test(bad_names_and_keys_are_refused),
		cmocka_unit_test(fits_gives_the_reason),
		cmocka_unit_test(an_authority_vouches_for_our_servers_only),
		cmocka_unit_test(an_authority_makes_no_other),
		cmocka_unit_test(an_authority_is_known_by_its_constraints),
		cmocka_unit_test(clients_are_verified_against_given_roots),
		cmocka_unit_test(an_expired_client_is_denied),
		cmocka_unit_test(a_common_name_is_whole_or_nothing),
	};

	return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
