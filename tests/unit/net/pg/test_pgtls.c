/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sslmode and related settings before a handshake; tests/live/test_postgresql.py has the
 * handshakes.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/pg/pgtls.h"

static struct pgendpoint *endpoint_of(const char *more, struct err *err)
{
	MEM_AUTO char *text = mem_printf("user=me %s", more);

	return pgendpoint_new(&(struct pgendpoint_config){ .connection = text }, err);
}

static SSL *session_of(const char *more)
{
	struct err err = { 0 };
	struct pgendpoint *e = endpoint_of(more, &err);
	SSL *ssl;

	if (!e)
		fail_msg("%s", err.msg);
	ssl = pgtls_session(e, e->hosts, &err);
	if (!ssl)
		fail_msg("%s", err.msg);
	endpoint_unref(e);
	return ssl;
}

static const struct {
	const char *more;
	const char *name; /* required in the certificate; NULL: any */
	const char *sni;  /* NULL: none */
	bool verifies;
} sessions[] = {
	{ "host=db.shop sslmode=verify-full", "db.shop", "db.shop", true },
	{ "host=db.shop. sslmode=verify-full", "db.shop", "db.shop", true },
	{ "host=db.shop. sslmode=require", NULL, "db.shop", false },
	{ "host=db.shop sslmode=verify-ca", NULL, "db.shop", true },
	{ "host=db.shop sslmode=require", NULL, "db.shop", false },
	{ "host=db.shop", NULL, "db.shop", false },
	{ "host=db.shop sslmode=require sslsni=0", NULL, NULL, false },
	{ "host=127.0.0.1 sslmode=verify-ca", NULL, NULL, true },
	{ "hostaddr=127.0.0.1 sslmode=require", NULL, NULL, false },
	{ "host=db.shop sslrootcert=system", "db.shop", "db.shop", true },
	{ "host=db.shop sslmode=require channel_binding=require", "db.shop", "db.shop", true },
	{ "host=db.shop sslmode=verify-ca channel_binding=require", NULL, "db.shop", true },
	{ "host=db.shop sslmode=require channel_binding=prefer", NULL, "db.shop", false },
};

static void names_and_verification(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(sessions); i++) {
		SSL *ssl = session_of(sessions[i].more);
		const char *name = X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0),
			   *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

		if (sessions[i].name ? !name || strcmp(name, sessions[i].name) != 0 : name != NULL)
			fail_msg("%s: name %s", sessions[i].more, name);
		if (sessions[i].sni ? !sni || strcmp(sni, sessions[i].sni) != 0 : sni != NULL)
			fail_msg("%s: SNI %s", sessions[i].more, sni);
		if (sessions[i].verifies != (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE))
			fail_msg("%s: verification", sessions[i].more);
		SSL_free(ssl);
	}
}

static void versions(void **state)
{
	SSL *least = session_of("host=db sslmode=require ssl_min_protocol_version=TLSv1.3"),
	    *most = session_of("host=db sslmode=require ssl_max_protocol_version=tlsv1.2");

	(void)state;
	assert_int_equal(SSL_get_min_proto_version(least), TLS1_3_VERSION);
	assert_int_equal(SSL_get_max_proto_version(most), TLS1_2_VERSION);
	assert_int_equal(SSL_get_min_proto_version(most), TLS1_2_VERSION);
	SSL_free(least);
	SSL_free(most);
}

static void connections_share_roots(void **state)
{
	char path[] = "/tmp/rootsXXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct x509_pair ca;
	struct err err = { 0 };

	(void)state;
	fakepki_authority("ca", timestamp_now_ms(), 1000, &ca);
	fputs(ca.cert_pem, file);
	fclose(file);
	for (int of_file = 0; of_file < 2; of_file++) {
		const struct pgendpoint_config config = { .connection = "user=me host=db sslmode=verify-full",
			.ca_pem = of_file ? NULL : ca.cert_pem };
		struct pgendpoint *e = pgendpoint_new(&config, &err);
		SSL *a, *b;

		if (of_file) /* not one of the allowed folders */
			strmap_set(&e->settings, "sslrootcert", path);
		a = pgtls_session(e, e->hosts, &err);
		b = pgtls_session(e, e->hosts, &err);
		assert_ptr_equal(SSL_CTX_get_cert_store(SSL_get_SSL_CTX(a)),
			SSL_CTX_get_cert_store(SSL_get_SSL_CTX(b)));
		assert_int_equal(X509_VERIFY_PARAM_get_flags(SSL_get0_param(a)) & X509_V_FLAG_PARTIAL_CHAIN,
			of_file ? 0 : X509_V_FLAG_PARTIAL_CHAIN);
		SSL_free(a);
		SSL_free(b);
		endpoint_unref(e);
	}
	remove(path);
	x509_pair_done(&ca);
}

/* With or without TLS, in the first and the second attempt; "": none. */
static const struct {
	const char *mode;
	bool first, second_after_tls, second_after_clear, required;
} modes[] = {
	{ "sslmode=disable", false, false, false, false },
	{ "sslmode=allow", false, false, true, false },
	{ "sslmode=prefer", true, true, false, false },
	{ "", true, true, false, false },
	{ "sslmode=require", true, false, false, true },
	{ "sslmode=verify-ca", true, false, false, true },
	{ "sslmode=verify-full", true, false, false, true },
};

static void attempts(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(modes); i++) {
		MEM_AUTO char *more = mem_printf("host=db %s", modes[i].mode);
		struct pgendpoint *e = endpoint_of(more, NULL);

		assert_int_equal(pgtls_is_tried(e, false), modes[i].first);
		assert_int_equal(pgtls_may_change(e, true), modes[i].second_after_tls);
		assert_int_equal(pgtls_may_change(e, false), modes[i].second_after_clear);
		assert_int_equal(pgtls_is_required(e), modes[i].required);
		if (pgtls_may_change(e, modes[i].first))
			assert_int_equal(pgtls_is_tried(e, true), !modes[i].first);
		endpoint_unref(e);
	}
}

static void refused(void **state)
{
	struct pgendpoint *e = endpoint_of("host=db sslmode=require sslrootcert=/etc/ssl/se-cret", NULL);
	struct err err;

	(void)state;
	assert_null(pgtls_session(e, e->hosts, &err));
	assert_string_equal(err.msg, "sslrootcert names no usable file");
	endpoint_unref(e);
	e = endpoint_of("hostaddr=127.0.0.1 sslmode=verify-full", NULL);
	assert_null(pgtls_session(e, e->hosts, &err));
	assert_non_null(strstr(err.msg, "host name must be specified"));
	endpoint_unref(e);
	assert_null(endpoint_of("host=db channel_binding=require", &err));
	assert_non_null(strstr(err.msg, "\"channel_binding=require\" needs TLS"));
	assert_null(endpoint_of("host=db sslnegotiation=direct", &err));
	assert_non_null(strstr(err.msg, "needs sslmode require"));
	assert_null(endpoint_of("host=db sslnegotiation=other", &err));
	assert_non_null(strstr(err.msg, "must be postgres or direct"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_verification),
		cmocka_unit_test(versions),
		cmocka_unit_test(connections_share_roots),
		cmocka_unit_test(attempts),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
