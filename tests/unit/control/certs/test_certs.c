/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "certs_fixture.h"

/* ---- No Secret ---- */

static void creates_the_secret(void **state)
{
	struct certpack pack;
	struct certpack_state judged;

	(void)state;
	put_our_apiservice();
	certs_start_with(certs_usual());
	assert_non_null(certs_trouble(t.certs));
	fake_advance(100); /* not leading: anybody creates */
	certpack_decode(fake_object(SECRET), &pack);
	certpack_judge(&pack, certs_names, fake_wall_ms(), &judged);
	assert_true(judged.usable);
	assert_int_equal(judged.need, CERTPACK_NOTHING);
	assert_true(judged.until_unix_ms / 1000 == fake_wall_ms() / 1000 + 365 * 86400);
	assert_string_equal(json_string_value(json_object_get(fake_object(SECRET), "type")), "kubernetes.io/tls");
	assert_true(serves_the_secret());
	/* But only the leader touches the APIService. */
	assert_null(apiservice_field("caBundle"));
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, ""), 0);
	assert_non_null(certs_trouble(t.certs));
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_bundle_is_the_ca();
	assert_null(certs_trouble(t.certs));
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	certpack_done(&pack);
}

static void another_creates_it(void)
{
	struct certpack pack = fresh_pack();

	put_pack(&pack);
	certpack_done(&pack);
}

static void loses_the_race_to_create(void **state)
{
	(void)state;
	fake_just_before(KUBE_CREATE, SECRETS, another_creates_it);
	put_our_apiservice();
	certs_start(true);
	assert_true(serves_the_secret());
	assert_bundle_is_the_ca();
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	fake_advance(120000);
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS), 1);
	assert_null(certs_trouble(t.certs));
}

static void a_secret_that_cannot_be_created_is_tried_again(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_CREATE, SECRETS, FAKE_ANY, 403);
	certs_start(true);
	fake_advance(600000);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "writing Secret kscaled/kscaled-certs"), 1);
	assert_non_null(strstr(certs_trouble(t.certs), "HTTP 403"));
	assert_in_range(fake_count(KUBE_CREATE, SECRETS), 8, 20);
	fake_heal();
	fake_advance(60000);
	assert_true(serves_the_secret());
	assert_null(certs_trouble(t.certs));
}

static void an_unreadable_secret_is_reported_once(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_LIST, "/secrets", FAKE_ANY, 403);
	certs_start(true);
	fake_advance(30000);
	assert_false(tls_server_has_certificate(t.tls));
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS),
		0); /* without the right to read it, its existence is unknown */
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "cannot be watched"), 1);
	assert_non_null(strstr(certs_trouble(t.certs), "Secret kscaled/kscaled-certs cannot be watched"));
	fake_heal();
	fake_advance(2000);
	assert_true(serves_the_secret());
	assert_null(certs_trouble(t.certs));
}

static void a_lost_answer_makes_no_second_ca(void **state)
{
	(void)state;
	fake_fail(FAKE_LOSE, KUBE_CREATE, SECRETS, 1, 0);
	put_our_apiservice();
	certs_start(true);
	assert_true(serves_the_secret());
	fake_advance(60000);
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS), 1);
	assert_null(certs_trouble(t.certs));
}

/* A server whose cache ignores the field selector sends all Secrets. */
static void other_secrets_of_the_namespace_are_not_looked_at(void **state)
{
	(void)state;
	fake_ignore_selectors();
	fake_put(SECRETS "/other", "{\"data\":{}}");
	put_our_apiservice();
	certs_start(true);
	assert_true(serves_the_secret());
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS), 1);
	fake_put(SECRETS "/other", "{\"data\":{\"tls.crt\":\"eA==\"}}");
	fake_advance(100);
	fake_remove(SECRETS "/other");
	fake_advance(120000);
	assert_int_equal(fake_count(FAKE_ANY, SECRETS), 1);
	assert_true(serves_the_secret());
	assert_null(certs_trouble(t.certs));
	/* Ours is still looked after. */
	fake_remove(SECRET);
	fake_advance(100);
	assert_int_equal(fake_count(KUBE_CREATE, SECRETS), 2);
	assert_non_null(fake_object(SECRET));
}

/* ---- A Secret that is there ---- */

static void serves_the_existing_certificate(void **state)
{
	struct certpack pack = fresh_pack();

	(void)state;
	put_our_apiservice();
	put_pack(&pack);
	certs_start(true);
	assert_true(serves(pack.serving.cert_pem));
	assert_bundle_is_the_ca();
	assert_int_equal(fake_count(FAKE_ANY, SECRETS), 0);
	certpack_done(&pack);
}

/* Each thing that can be wrong, and whether the CA survives its repair. */
static void spoil(struct certpack *pack, int how)
{
	struct certpack other;
	static const char *const other_names[] = { "elsewhere", NULL };

	switch (how) {
	case 0: /* garbage */ pack->serving.cert_pem[100] ^= 1; break;
	case 1: /* key of another certificate */
		other = fresh_pack();
		free(pack->serving.key_pem);
		pack->serving.key_pem = mem_dup(other.serving.key_pem);
		certpack_done(&other);
		break;
	case 2: /* other names */
		x509_pair_done(&pack->serving);
		assert_int_equal(x509_make_serving(&pack->ca, other_names, fake_wall_ms(), 1000000, &pack->serving,
					 NULL),
			0);
		break;
	case 3: /* expired */
		x509_pair_done(&pack->serving);
		assert_int_equal(x509_make_serving(&pack->ca, certs_names, fake_wall_ms() - 40 * DAY_MS, 30 * 86400,
					 &pack->serving, NULL),
			0);
		break;
	case 4: /* a third of its life is left, and a little less */
		x509_pair_done(&pack->serving);
		assert_int_equal(x509_make_serving(&pack->ca, certs_names, fake_wall_ms() - 201 * DAY_MS, 300 * 86400,
					 &pack->serving, NULL),
			0);
		break;
	case 5: /* signed by another CA */
		other = fresh_pack();
		free(pack->ca.cert_pem);
		pack->ca.cert_pem = mem_dup(other.ca.cert_pem);
		certpack_done(&other);
		break;
	case 6: /* the CA is garbage */
		free(pack->ca.cert_pem);
		pack->ca.cert_pem = mem_dup("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
		break;
	case 7: /* expired, and no key to sign another with */
		spoil(pack, 3);
		mem_free_secret(pack->ca.key_pem);
		pack->ca.key_pem = mem_dup("");
		break;
	default: fail();
	}
}

static void repairs(void **state)
{
	static const bool keeps_ca[] = { true, true, true, true, true, false, false, false };
	static const bool usable[] = { false, false, false, false, true, false, false, false };

	(void)state;
	for (int how = 0; how < (int)(sizeof keeps_ca); how++) {
		struct certpack pack, repaired;
		struct certpack_state judged;

		certs_next_case();
		pack = fresh_pack();
		spoil(&pack, how);
		put_our_apiservice();
		put_pack(&pack);
		certs_start(false);
		/* Not the leader: looks on. */
		assert_int_equal(fake_count(FAKE_ANY, SECRETS), 0);
		if (tls_server_has_certificate(t.tls) != usable[how] ||
			(certs_trouble(t.certs) && strstr(certs_trouble(t.certs), "cannot be used")) == usable[how])
			fail_msg("case %d", how);
		assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "cannot be used"), usable[how] ? 0 : 1);
		certs_set_leading(t.certs, true);
		fake_advance(100);
		certpack_decode(fake_object(SECRET), &repaired);
		certpack_judge(&repaired, certs_names, fake_wall_ms(), &judged);
		if (!judged.usable || judged.need != CERTPACK_NOTHING ||
			(strcmp(repaired.ca.cert_pem, pack.ca.cert_pem) == 0) != keeps_ca[how])
			fail_msg("case %d: %s", how, judged.why);
		assert_true(serves_the_secret());
		assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
		if (keeps_ca[how])
			assert_bundle_is_the_ca();
		assert_null(certs_trouble(t.certs));
		certpack_done(&pack);
		certpack_done(&repaired);
	}
}

/* Somebody's own PKI without the CA's key is left alone while it works. */
static void a_ca_without_a_key_is_kept_while_its_certificate_is_good(void **state)
{
	struct certpack pack = fresh_pack();

	(void)state;
	mem_free_secret(pack.ca.key_pem);
	pack.ca.key_pem = mem_dup("");
	put_our_apiservice();
	put_pack(&pack);
	certs_start(true);
	assert_true(serves(pack.serving.cert_pem));
	fake_advance(60000);
	assert_int_equal(fake_count(FAKE_ANY, SECRETS), 0);
	assert_null(certs_trouble(t.certs));
	certpack_done(&pack);
}

static void keeps_type_and_labels(void **state)
{
	struct certpack pack = make_pack(certs_names, 200 * DAY_MS, 250 * DAY_MS, 0, 3650 * DAY_MS);
	char *text = certpack_encode(&pack, "kscaled", "kscaled-certs", NULL);
	json_t *object = json_parse(text, strlen(text), NULL);

	(void)state;
	json_object_set_new(object, "type", json_string("Opaque"));
	json_object_set_new(json_object_get(object, "data"), "other", json_string("AAAA"));
	json_object_set_new(json_object_get(json_object_get(object, "metadata"), "labels"), "team", json_string("a"));
	fake_put_json(SECRET, object);
	certs_start(true);
	assert_false(serves(pack.serving.cert_pem));
	assert_true(serves_the_secret());
	assert_string_equal(json_string_value(json_object_get(fake_object(SECRET), "type")), "Opaque");
	assert_string_equal(fake_text(SECRET, "data", "other"), "AAAA");
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(json_object_get(fake_object(SECRET), "metadata"),
							    "labels"),
					    "team")),
		"a");
	mem_free_secret(text);
	certpack_done(&pack);
}

/* ---- Time ---- */

/* Lives of days instead of years: the rules are the same, and the hourly looks fewer. */
static struct certs_config short_lived(void)
{
	struct certs_config config = certs_usual();

	config.serving_valid_s = 3 * 86400;
	config.ca_valid_s = 30 * 86400;
	return config;
}

static void start_short_lived(bool leading)
{
	certs_start_with(short_lived());
	certs_set_leading(t.certs, leading);
	fake_advance(100);
}

static void renews_when_a_third_is_left(void **state)
{
	char *first;
	int64_t due_ms = 3 * DAY_MS - (3 * DAY_MS + X509_BACKDATE_S * 1000LL) / 3;

	(void)state;
	put_our_apiservice();
	start_short_lived(true);
	first = secret_value("tls.crt");
	fake_advance(due_ms - 10000);
	assert_true(serves(first));
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 0);
	fake_advance(10000);
	assert_false(serves(first));
	assert_true(serves_the_secret());
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
	assert_bundle_is_the_ca(); /* the same */
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 1);
	free(first);
}

/* The wall clock is set while timers run on: checked each hour. */
static void notices_a_clock_that_is_set(void **state)
{
	char *first;

	(void)state;
	put_our_apiservice();
	certs_start(true);
	first = secret_value("tls.crt");
	fake_set_wall_ahead(300 * DAY_MS);
	fake_advance(3600000);
	assert_false(serves(first));
	assert_true(serves_the_secret());
	free(first);
}

static void only_the_leader_renews(void **state)
{
	char *first;

	(void)state;
	put_our_apiservice();
	start_short_lived(false);
	first = secret_value("tls.crt");
	fake_advance(5 * DAY_MS / 2);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 0);
	assert_true(serves(first));
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_false(serves(first));
	assert_true(serves_the_secret());
	free(first);
}

/*
 * A new CA: both are trusted while the old one is valid, and a certificate of the new one is not
 * served before it is trusted.
 */
static void replaces_the_ca_with_overlap(void **state)
{
	struct certpack pack = make_pack(certs_names, 0, 2 * DAY_MS, 3 * DAY_MS, 4 * DAY_MS);
	struct certpack next;
	char *bundle;

	(void)state;
	put_our_apiservice();
	put_pack(&pack);
	fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, APISERVICE, 1, 500);
	start_short_lived(false);
	assert_true(serves(pack.serving.cert_pem));
	certs_set_leading(t.certs, true);
	fake_advance(500);
	certpack_decode(fake_object(SECRET), &next);
	assert_string_not_equal(next.ca.cert_pem, pack.ca.cert_pem);
	assert_string_equal(next.old_ca, pack.ca.cert_pem);
	fake_advance(1500);
	bundle = ca_bundle();
	assert_non_null(strstr(bundle, next.ca.cert_pem));
	assert_non_null(strstr(bundle, pack.ca.cert_pem));
	free(bundle);
	assert_true(serves(pack.serving.cert_pem)); /* written, but not every API server has seen it */
	fake_advance(2000);
	assert_true(serves(next.serving.cert_pem));
	/* The old one is removed after its time. */
	fake_advance(DAY_MS + 3600000);
	bundle = ca_bundle();
	assert_null(strstr(bundle, pack.ca.cert_pem));
	free(bundle);
	certpack_done(&next);
	certpack_done(&pack);
}

/* ---- An authority that could sign for other names ---- */

#define WEBHOOKS "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kscaled-admission"

static void put_webhook_trusting(const char *ca_pem)
{
	MEM_AUTO char *text = base64_encode(ca_pem, strlen(ca_pem));
	MEM_AUTO char *object =
		mem_printf("{\"metadata\":{\"name\":\"kscaled-admission\"},\"webhooks\":[{\"name\":\"a\","
			   "\"clientConfig\":{\"service\":{\"namespace\":\"kscaled\",\"name\":\"kscaled\"},"
			   "\"caBundle\":\"%s\"}}]}",
			text);

	fake_put(WEBHOOKS, object);
}

static char *webhook_bundle(void)
{
	const json_t *webhooks = json_object_get(fake_object(WEBHOOKS), "webhooks");
	const json_t *client_config = json_object_get(json_array_get(webhooks, 0), "clientConfig");

	return base64_decode(json_str_or_empty(client_config, "caBundle"), NULL);
}

/* The API server's caBundle contains the CA of the served certificate. */
static void assert_served_is_trusted(const struct certpack *old)
{
	MEM_AUTO char *metrics = ca_bundle();
	MEM_AUTO char *reviews = webhook_bundle();
	MEM_AUTO char *secrets = secret_value("ca.crt");
	const char *ca = serves(old->serving.cert_pem) ? old->ca.cert_pem : secrets;

	assert_true(serves(old->serving.cert_pem) || serves_the_secret());
	assert_non_null(strstr(metrics, ca));
	assert_non_null(strstr(reviews, ca));
}

/* how: which of the two caBundles cannot be written at first */
static void start_with_loose_authority(struct certpack *loose, const char *how)
{
	certs_next_case();
	*loose = loose_pack();
	put_our_apiservice_trusting(loose->ca.cert_pem);
	put_webhook_trusting(loose->ca.cert_pem);
	put_pack(loose);
	if (how)
		fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, how, 3, 500);
	certs_start(false);
	fake_advance(DAY_MS);
	assert_true(serves(loose->serving.cert_pem)); /* no leader: as before */
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, ""), 0);
	certs_set_leading(t.certs, true);
}

static void a_loose_authority_is_replaced_without_a_gap(void **state)
{
	static const char *const hows[] = { NULL, APISERVICE, WEBHOOKS };

	(void)state;
	for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
		struct certpack loose;
		MEM_AUTO char *ca = NULL;

		start_with_loose_authority(&loose, hows[i]);
		for (int ms = 0; ms < 30000; ms += ms < 200 ? 1 : 50) {
			fake_advance(ms < 200 ? 1 : 50);
			assert_served_is_trusted(&loose);
		}
		assert_true(serves_the_secret());
		ca = secret_value("ca.crt");
		assert_string_not_equal(ca, loose.ca.cert_pem);
		assert_true(x509_ca_is_confined(ca, certs_names));
		assert_null(certs_trouble(t.certs));
		/* A day later the old key's signatures are not trusted. */
		fake_advance(DAY_MS + 2 * 3600000);
		assert_served_is_trusted(&loose);
		assert_bundle_is_the_ca();
		assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
		certpack_done(&loose);
	}
}

/* Metrics do not wait for webhooks that cannot be written: only reviews are left out then. */
static void webhooks_that_cannot_be_written_hold_up_an_hour(void **state)
{
	struct certpack loose;

	(void)state;
	start_with_loose_authority(&loose, NULL);
	fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, WEBHOOKS, FAKE_ANY, 403);
	fake_advance(3500000);
	assert_true(serves(loose.serving.cert_pem));
	fake_advance(200000);
	assert_true(serves_the_secret());
	certpack_done(&loose);
}

/* --service-name is another: the authority could not sign for it. */
static void another_service_name_has_another_authority(void **state)
{
	struct certpack pack = fresh_pack();
	struct certs_config config = certs_usual();
	MEM_AUTO char *ca = NULL;

	(void)state;
	config.service_name = "scaler";
	put_apiservice("kscaled", "scaler", "");
	put_pack(&pack);
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_true(serves_the_secret());
	ca = secret_value("ca.crt");
	assert_string_not_equal(ca, pack.ca.cert_pem);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
	assert_null(certs_trouble(t.certs));
	certpack_done(&pack);
}

/* Nobody leads: the old certificate is trusted still, the new one would not be. */
static void waits_for_the_new_ca_to_be_trusted(void **state)
{
	struct certpack pack = fresh_pack(), other = fresh_pack();

	(void)state;
	put_our_apiservice_trusting(pack.ca.cert_pem);
	put_pack(&pack);
	certs_start(false);
	put_pack(&other);
	fake_advance(DAY_MS);
	assert_true(serves(pack.serving.cert_pem));
	/* When the bundle has come to hold the new one only, there is nothing more to wait for. */
	put_our_apiservice_trusting(other.ca.cert_pem);
	fake_advance(10);
	assert_true(serves(other.serving.cert_pem));
	certpack_done(&pack);
	certpack_done(&other);
}

/* ---- Changes by others ---- */

static void takes_up_another_replicas_secret(void **state)
{
	struct certpack next = { 0 }, pack;
	struct certpack_plan plan = { certs_names, fake_wall_ms(), 86400, 0, NULL };

	(void)state;
	put_our_apiservice();
	certs_start(true);
	certpack_decode(fake_object(SECRET), &pack);
	plan.now_unix_ms = fake_wall_ms();
	assert_int_equal(certpack_renew(&pack, CERTPACK_SERVING, &plan, &next, NULL), 0);
	put_pack(&next);
	fake_advance(10);
	assert_true(serves(next.serving.cert_pem)); /* the same CA: nothing to wait for */
	certpack_done(&next);
	certpack_done(&pack);
}

static void a_deleted_secret_is_recreated_with_overlap(void **state)
{
	struct certpack pack, next;

	(void)state;
	put_our_apiservice();
	certs_start(true);
	certpack_decode(fake_object(SECRET), &pack);
	fake_remove(SECRET);
	fake_advance(1000);
	certpack_decode(fake_object(SECRET), &next);
	assert_string_not_equal(next.ca.cert_pem, pack.ca.cert_pem);
	assert_string_equal(next.old_ca, pack.ca.cert_pem);
	assert_true(serves(pack.serving.cert_pem));
	fake_advance(2000);
	assert_true(serves(next.serving.cert_pem));
	certpack_done(&next);
	certpack_done(&pack);
}

static void garbage_leaves_the_old_certificate_in_use(void **state)
{
	struct certpack pack;

	(void)state;
	put_our_apiservice();
	certs_start(true);
	certpack_decode(fake_object(SECRET), &pack);
	certs_set_leading(t.certs, false);
	fake_put(SECRET,
		"{\"type\":\"kubernetes.io/tls\",\"data\":{\"tls.crt\":7,\"tls.key\":\"!!!\",\"ca.crt\":null}}");
	fake_advance(1000);
	assert_true(serves(pack.serving.cert_pem));
	assert_non_null(strstr(certs_trouble(t.certs), "cannot be used"));
	/* Nor does a Secret without any data harm. */
	fake_put(SECRET, "{\"data\":[]}");
	fake_advance(1000);
	certs_set_leading(t.certs, true);
	fake_advance(3000);
	assert_true(serves_the_secret());
	assert_null(certs_trouble(t.certs));
	certpack_done(&pack);
}

static struct certpack others_pack;

static void another_renews(void)
{
	put_pack(&others_pack);
}

static void a_conflict_while_renewing_keeps_the_stored_one(void **state)
{
	struct certpack pack = make_pack(certs_names, 200 * DAY_MS, 250 * DAY_MS, 0, 3650 * DAY_MS);

	(void)state;
	others_pack = fresh_pack();
	put_pack(&pack);
	put_our_apiservice();
	fake_just_before(KUBE_MERGE_PATCH, SECRET, another_renews);
	certs_start(true);
	fake_advance(3000); /* the CA is another, so until the API servers know */
	assert_true(serves(others_pack.serving.cert_pem));
	assert_bundle_is_the_ca();
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
	fake_advance(60000);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, SECRET), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	assert_null(certs_trouble(t.certs));
	certpack_done(&others_pack);
	certpack_done(&pack);
}

static void freed_in_any_state(void **state)
{
	(void)state;
	certs_free(NULL);
	for (int64_t ms = 0; ms < 12; ms++) {
		certs_next_case();
		put_our_apiservice();
		certs_start_with(certs_usual());
		certs_set_leading(t.certs, true);
		fake_advance(ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(creates_the_secret),
		T(loses_the_race_to_create),
		T(a_secret_that_cannot_be_created_is_tried_again),
		T(an_unreadable_secret_is_reported_once),
		T(a_lost_answer_makes_no_second_ca),
		T(serves_the_existing_certificate),
		T(repairs),
		T(a_ca_without_a_key_is_kept_while_its_certificate_is_good),
		T(keeps_type_and_labels),
		T(other_secrets_of_the_namespace_are_not_looked_at),
		T(renews_when_a_third_is_left),
		T(notices_a_clock_that_is_set),
		T(only_the_leader_renews),
		T(replaces_the_ca_with_overlap),
		T(a_loose_authority_is_replaced_without_a_gap),
		T(webhooks_that_cannot_be_written_hold_up_an_hour),
		T(another_service_name_has_another_authority),
		T(waits_for_the_new_ca_to_be_trusted),
		T(takes_up_another_replicas_secret),
		T(a_deleted_secret_is_recreated_with_overlap),
		T(garbage_leaves_the_old_certificate_in_use),
		T(a_conflict_while_renewing_keeps_the_stored_one),
		T(freed_in_any_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
