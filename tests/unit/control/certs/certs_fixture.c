/* SPDX-License-Identifier: Apache-2.0 */
#include "certs_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "../../fakes/fakepki.h"
#include "base/base64.h"
#include "base/mem.h"

const char *const certs_names[] = { "kscaled", "kscaled.kscaled", "kscaled.kscaled.svc",
	"kscaled.kscaled.svc.cluster.local", NULL };

struct certs_fixture t;

static void on_foreign(void *arg, const char *who)
{
	assert_ptr_equal(arg, &t);
	t.told++;
	snprintf(t.who, sizeof t.who, "%s", who ? who : "-");
}

int certs_setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof t);
	fake_start();
	t.tls = tls_server_new(NULL);
	assert_non_null(t.tls);
	return 0;
}

int certs_teardown(void **state)
{
	(void)state;
	certs_free(t.certs);
	tls_server_free(t.tls);
	fake_end();
	return 0;
}

struct certs_config certs_usual(void)
{
	return (struct certs_config){ .namespace_ = "kscaled",
		.service_name = "kscaled",
		.webhook = true,
		.on_foreign = on_foreign,
		.on_foreign_arg = &t };
}

void certs_next_case(void)
{
	certs_teardown(NULL);
	certs_setup(NULL);
}

int certs_try_with(struct certs_config config, struct err *err)
{
	t.certs = certs_new(fake_kube(), t.tls, &config, err);
	assert_int_equal(t.told, 0);
	return t.certs ? 0 : -1;
}

void certs_start_with(struct certs_config config)
{
	struct err err;

	if (certs_try_with(config, &err) != 0)
		fail_msg("%s", err.msg);
}

void certs_start(bool leading)
{
	certs_start_with(certs_usual());
	certs_set_leading(t.certs, leading);
	fake_advance(100);
}

/* ---- The cluster's state ---- */

void put_apiservice(const char *namespace_, const char *service, const char *more)
{
	char *text = mem_printf("{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"group\":\"external.metrics.k8s."
				"io\",\"groupPriorityMinimum\":100%s,"
				"\"service\":{\"namespace\":\"%s\",\"name\":\"%s\",\"port\":8443}}}",
		more, namespace_, service);

	fake_put(APISERVICE, text);
	free(text);
}

void put_our_apiservice(void)
{
	put_apiservice("kscaled", "kscaled", "");
}

void put_our_apiservice_trusting(const char *ca_pem)
{
	MEM_AUTO char *text = base64_encode(ca_pem, strlen(ca_pem));
	MEM_AUTO char *more = mem_printf(",\"caBundle\":\"%s\"", text);

	put_apiservice("kscaled", "kscaled", more);
}

void somebody_labels_the_apiservice(void)
{
	json_t *copy = json_deep_copy(fake_object(APISERVICE));

	json_object_set_new(json_object_get(copy, "metadata"), "annotations", json_pack("{s:s}", "note", "x"));
	fake_put_json(APISERVICE, copy);
}

const json_t *apiservice_field(const char *key)
{
	return json_object_get(json_object_get(fake_object(APISERVICE), "spec"), key);
}

char *ca_bundle(void)
{
	const char *text = json_string_value(apiservice_field("caBundle"));

	return text ? base64_decode(text, NULL) : NULL;
}

char *secret_value(const char *key)
{
	const char *text = fake_text(SECRET, "data", key);

	return text[0] ? base64_decode(text, NULL) : NULL;
}

void put_pack(const struct certpack *pack)
{
	char *text = certpack_encode(pack, "kscaled", "kscaled-certs", NULL);

	fake_put(SECRET, text);
	mem_free_secret(text);
}

struct certpack make_pack(const char *const *dns_names, int64_t serving_ago_ms, int64_t serving_valid_ms,
	int64_t ca_ago_ms, int64_t ca_valid_ms)
{
	struct certpack pack = { 0 };
	struct err err;

	if (x509_make_ca("a CA", dns_names, fake_wall_ms() - ca_ago_ms, ca_valid_ms / 1000, &pack.ca, &err) != 0 ||
		x509_make_serving(&pack.ca, dns_names, fake_wall_ms() - serving_ago_ms, serving_valid_ms / 1000,
			&pack.serving, &err) != 0)
		fail_msg("%s", err.msg);
	return pack;
}

struct certpack loose_pack(void)
{
	struct certpack pack = { 0 };

	fakepki_authority("kscaled CA", fake_wall_ms() - DAY_MS, 3650 * 86400, &pack.ca);
	fakepki_certificate(&pack.ca, certs_names, fake_wall_ms() - DAY_MS, 365 * 86400, &pack.serving);
	return pack;
}

struct certpack fresh_pack(void)
{
	return make_pack(certs_names, 0, 365 * DAY_MS, 0, 3650 * DAY_MS);
}

static bool same_cert(const char *pem, const X509 *cert)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *other = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	bool same = other && X509_cmp(other, cert) == 0;

	BIO_free(bio);
	X509_free(other);
	return same;
}

bool serves(const char *cert_pem)
{
	SSL *ssl = tls_server_session(t.tls);
	bool same = ssl && same_cert(cert_pem, SSL_get_certificate(ssl));

	SSL_free(ssl);
	return same;
}

bool serves_the_secret(void)
{
	char *cert = secret_value("tls.crt");
	bool same = cert && serves(cert);

	free(cert);
	return same;
}

void assert_bundle_is_the_ca(void)
{
	char *bundle = ca_bundle(), *ca = secret_value("ca.crt");

	assert_non_null(bundle);
	assert_string_equal(bundle, ca);
	assert_true(json_is_false(apiservice_field("insecureSkipTLSVerify")));
	free(bundle);
	free(ca);
}
