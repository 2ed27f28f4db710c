/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "certs_fixture.h"
#include "control/certs/takennote.h"

static void injects_under_conflict_retry(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_just_before(KUBE_MERGE_PATCH, APISERVICE, somebody_labels_the_apiservice);
	certs_start(true);
	assert_bundle_is_the_ca();
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 2);
	assert_string_equal(json_string_value(json_object_get(json_object_get(json_object_get(fake_object(APISERVICE),
										      "metadata"),
								      "annotations"),
				    "note")),
		"x");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
}

static void another_takes_it(void)
{
	put_apiservice("keda", "x", "");
}

/* It becomes another's between our look and our write: then our CA has no business there. */
static void writes_only_known_states(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_just_before(KUBE_MERGE_PATCH, APISERVICE, another_takes_it);
	certs_start(true);
	fake_advance(10000);
	assert_null(apiservice_field("caBundle"));
	assert_string_equal(t.who, "keda/x");
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 1);
}

static void ends_skipping_of_verification(void **state)
{
	(void)state;
	put_apiservice("kscaled", "kscaled", ",\"insecureSkipTLSVerify\":true");
	certs_start(true);
	assert_bundle_is_the_ca();
}

static void puts_its_bundle_back(void **state)
{
	(void)state;
	put_our_apiservice();
	certs_start(true);
	put_apiservice("kscaled", "kscaled", ",\"caBundle\":\"AAAA\"");
	fake_advance(100);
	assert_bundle_is_the_ca();
	assert_int_equal(json_integer_value(json_object_get(apiservice_field("service"), "port")), 8443);
	/* And writes nothing more. */
	fake_advance(DAY_MS);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 2);
}

/*
 * A tool that restores the state in Git each second, an admission plugin that strips the field:
 * undone, but not at their pace.
 */
static void a_reverter_is_not_fought_at_full_speed(void **state)
{
	(void)state;
	put_our_apiservice();
	certs_start(true);
	for (int i = 0; i < 6000; i++) {
		put_apiservice("kscaled", "kscaled", ",\"caBundle\":\"AAAA\"");
		fake_advance(100);
	}
	assert_in_range(fake_count(KUBE_MERGE_PATCH, APISERVICE), 8, 40);
	fake_advance(70000);
	assert_bundle_is_the_ca();
}

static void a_failing_write_is_reported_once_and_retried(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, APISERVICE, FAKE_ANY, 403);
	certs_start(true);
	for (int i = 0; i < 600; i++) { /* its status changes meanwhile: no reason to try each time */
		somebody_labels_the_apiservice();
		fake_advance(1000);
	}
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "writing APIService"), 1);
	assert_in_range(fake_count(KUBE_MERGE_PATCH, APISERVICE), 8, 20);
	assert_non_null(strstr(certs_trouble(t.certs), "writing APIService"));
	fake_heal();
	fake_advance(60000);
	assert_bundle_is_the_ca();
	assert_null(certs_trouble(t.certs));
}

static void leaves_a_foreign_one_alone(void **state)
{
	(void)state;
	put_apiservice("keda", "keda-operator-metrics-apiserver", ",\"caBundle\":\"AAAA\"");
	certs_start(true);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "keda/keda-operator-metrics-apiserver");
	fake_advance(DAY_MS);
	assert_int_equal(fake_count(FAKE_ANY, APISERVICES), 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "keda/keda-operator-metrics-apiserver"), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "--take-over"), 1);
	assert_non_null(strstr(certs_trouble(t.certs), "keda/keda-operator-metrics-apiserver"));
	assert_true(serves_the_secret());
	/* It becomes ours by hand. */
	put_our_apiservice();
	fake_advance(100);
	assert_int_equal(t.told, 2);
	assert_string_equal(t.who, "-");
	assert_bundle_is_the_ca();
	/* And foreign again. */
	put_apiservice("other", "x", "");
	fake_advance(100);
	assert_int_equal(t.told, 3);
	assert_string_equal(t.who, "other/x");
}

/* The same name in another namespace, and another name in ours, are not ours. */
static void our_apiservices(void **state)
{
	static const char *const foreign[][2] = { { "kscaled", "kscaled2" }, { "kscaled2", "kscaled" }, { "", "" } };

	(void)state;
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		certs_next_case();
		put_apiservice(foreign[i][0], foreign[i][1], "");
		certs_start(true);
		assert_string_not_equal(t.who, "-");
		assert_int_equal(fake_count(FAKE_ANY, APISERVICES), 0);
	}
	certs_next_case();
	fake_put(APISERVICE, "{\"spec\":{\"group\":\"external.metrics.k8s.io\"}}");
	certs_start(true);
	assert_string_equal(t.who, "(none)");
}

static void takes_over_as_leader_with_the_option(void **state)
{
	struct certs_config config = certs_usual();

	(void)state;
	config.take_over = true;
	config.service_port = 9443;
	put_apiservice("keda", "keda-operator-metrics-apiserver", ",\"caBundle\":\"AAAA\"");
	certs_start_with(config);
	fake_advance(1000);
	assert_string_equal(t.who, "-"); /* nothing speaks against leading */
	assert_int_equal(fake_count(FAKE_ANY, APISERVICES), 0);
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_string_equal(json_string_value(json_object_get(apiservice_field("service"), "name")), "kscaled");
	assert_string_equal(json_string_value(json_object_get(apiservice_field("service"), "namespace")), "kscaled");
	assert_int_equal(json_integer_value(json_object_get(apiservice_field("service"), "port")), 9443);
	assert_bundle_is_the_ca();
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "keda/keda-operator-metrics-apiserver"), 1);
}

static void a_missing_one_is_reported_and_found_later(void **state)
{
	(void)state;
	certs_start(true);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "-");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "kubectl apply"), 1);
	assert_true(serves_the_secret());
	assert_int_equal(fake_count(FAKE_ANY, APISERVICES), 0);
	put_our_apiservice();
	fake_advance(100);
	assert_bundle_is_the_ca();
	assert_null(certs_trouble(t.certs));
	fake_remove(APISERVICE);
	fake_advance(100);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "kubectl apply"), 2);
}

static void one_that_may_not_be_read_does_not_block(void **state)
{
	(void)state;
	fake_fail(FAKE_REFUSE, KUBE_LIST, APISERVICES, FAKE_ANY, 403);
	certs_start(true);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "-");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "cannot be watched"), 2); /* of each */
}

static void one_that_cannot_be_read_now_is_not_known(void **state)
{
	(void)state;
	fake_fail(FAKE_REFUSE, KUBE_LIST, APISERVICES, 3, 500);
	put_apiservice("keda", "x", "");
	certs_start(true);
	assert_int_equal(t.told, 0);
	fake_advance(5000);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "keda/x");
}

/* ---- The other one: of the insight API ---- */

#define INSIGHT APISERVICES "/v1.insight.kscaled.io"

static void put_insight(const char *service)
{
	char text[256];

	snprintf(text, sizeof(text),
		"{\"spec\":{\"group\":\"insight.kscaled.io\",\"service\":{\"namespace\":\"kscaled\",\"name\":\"%s\","
		"\"port\":443}}}",
		service);
	fake_put(INSIGHT, text);
}

static void both_get_the_bundle(void **state)
{
	(void)state;
	put_our_apiservice();
	put_insight("kscaled");
	certs_start(true);
	assert_bundle_is_the_ca();
	assert_non_null(fake_text(INSIGHT, "spec", "caBundle"));
	assert_string_equal(fake_text(INSIGHT, "spec", "caBundle"), fake_text(APISERVICE, "spec", "caBundle"));
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, INSIGHT), 1);
	assert_null(certs_trouble(t.certs));
}

static void only_the_leader_writes_into_it(void **state)
{
	(void)state;
	put_our_apiservice();
	put_insight("kscaled");
	certs_start(false);
	fake_advance(1000);
	assert_int_equal(fake_count(FAKE_ANY, INSIGHT), 0);
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, INSIGHT), 1);
}

static void without_it_nothing_is_wrong(void **state)
{
	(void)state;
	put_our_apiservice();
	certs_start(true);
	fake_advance(60000);
	assert_null(certs_trouble(t.certs));
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "-");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_INFO, "APIService v1.insight.kscaled.io does not exist"), 1);
	assert_int_equal(fake_count(FAKE_ANY, INSIGHT), 0);
	/* It comes later. */
	put_insight("kscaled");
	fake_advance(100);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, INSIGHT), 1);
}

static void a_foreign_one_keeps_no_one_from_leading(void **state)
{
	(void)state;
	put_our_apiservice();
	put_insight("other");
	certs_start(true);
	assert_int_equal(t.told, 1);
	assert_string_equal(t.who, "-");
	assert_null(certs_trouble(t.certs));
	assert_int_equal(fake_count(FAKE_ANY, INSIGHT), 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_INFO, "points to Service kscaled/other"), 1);
}

#define SERVICE "/api/v1/namespaces/kscaled/services/kscaled"

static unsigned released;

static void on_released(void *arg)
{
	(void)arg;
	released++;
}

static void start_recreating(void)
{
	struct certs_config config = certs_usual();

	config.recreate = true;
	released = 0;
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	fake_advance(5000);
}

/* Where it led, so that it can go back; and it is not deleted at a stop, for it is another's. */
static void a_taken_one_is_noted_and_never_deleted(void **state)
{
	struct certs_config config = certs_usual();
	MEM_AUTO char *service = NULL;
	json_t *patch;

	(void)state;
	config.take_over = true;
	config.recreate = true;
	put_apiservice("keda", "keda-operator-metrics-apiserver", ",\"insecureSkipTLSVerify\":true");
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	fake_advance(1000);
	assert_bundle_is_the_ca();
	service = takennote_service(fake_object(APISERVICE));
	assert_string_equal(service, "keda/keda-operator-metrics-apiserver");
	patch = takennote_undo(fake_object(APISERVICE));
	assert_true(json_is_true(json_object_get(json_object_get(patch, "spec"), "insecureSkipTLSVerify")));
	assert_true(json_is_null(json_object_get(json_object_get(patch, "spec"), "caBundle")));
	json_decref(patch);
	assert_false(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(5000);
	assert_int_equal(fake_count(KUBE_DELETE, APISERVICE), 0);
}

static void is_released_and_created_again(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_put(SERVICE, "{\"spec\":{\"ports\":[{\"port\":9443}]}}");
	start_recreating();
	assert_bundle_is_the_ca();
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	assert_int_equal(released, 0);
	fake_advance(10000);
	assert_int_equal(released, 1);
	assert_null(fake_object(APISERVICE)); /* and it is not made again by one that ends */
	certs_free(t.certs);
	t.told = 0;
	start_recreating();
	assert_non_null(fake_object(APISERVICE));
	assert_bundle_is_the_ca();
	assert_int_equal(json_integer_value(json_object_get(apiservice_field("service"), "port")), 9443);
	assert_string_equal(json_string_value(apiservice_field("group")), "external.metrics.k8s.io");
	assert_string_equal(json_string_value(apiservice_field("version")), "v1beta1");
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "does not exist"), 0);
	assert_true(fake_logged("was missing; creating it again") >= 1);
}

static void a_foreign_one_is_not_released(void **state)
{
	(void)state;
	put_apiservice("keda", "x", "");
	start_recreating();
	assert_false(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(10000);
	assert_non_null(fake_object(APISERVICE));
	certs_next_case();
	/* it becomes another's between our look and our write */
	put_our_apiservice();
	start_recreating();
	fake_just_before(KUBE_DELETE, APISERVICE, another_takes_it);
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(10000);
	assert_int_equal(released, 1);
	assert_non_null(fake_object(APISERVICE));
	certs_next_case();
	/* nor by a non-leader, or without take_over */
	put_our_apiservice();
	certs_start(true);
	fake_advance(5000);
	assert_false(certs_release(t.certs, 3000, on_released, NULL));
	certs_next_case();
	put_our_apiservice();
	start_recreating();
	certs_set_leading(t.certs, false);
	assert_false(certs_release(t.certs, 3000, on_released, NULL));
}

static void the_api_server_writes_to_it(void)
{
	put_our_apiservice();
}

/* It does so a moment after it was created, and the release is of the version before. */
static void a_release_of_an_old_version_goes_again(void **state)
{
	(void)state;
	put_our_apiservice();
	start_recreating();
	fake_just_before(KUBE_DELETE, APISERVICE, the_api_server_writes_to_it);
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(1000);
	assert_int_equal(released, 1);
	assert_null(fake_object(APISERVICE));
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "could not be released"), 0);
}

/* A new leader: its creation is on its way when it ends. */
static void start_creating(void)
{
	struct certs_config config = certs_usual();

	fake_put(SERVICE, "{\"spec\":{\"ports\":[{\"port\":9443}]}}");
	config.recreate = true;
	released = 0;
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	while (fake_count(KUBE_APPLY, APISERVICE) == 0)
		fake_advance(1);
	assert_null(fake_object(APISERVICE));
}

static void a_release_waits_for_a_write_on_its_way(void **state)
{
	(void)state;
	fake_cancelled_land(true);
	start_creating();
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	assert_int_equal(released, 0);
	fake_advance(1000);
	assert_int_equal(released, 1);
	assert_null(fake_object(APISERVICE));
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "could not be released"), 0);
	fake_cancelled_land(false);
}

/* Its answer is lost, and the watch shows the result. */
static void a_release_learns_of_it_from_the_watch(void **state)
{
	(void)state;
	fake_fail(FAKE_LOSE, KUBE_APPLY, APISERVICE, FAKE_ANY, 0);
	start_creating();
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(3001);
	assert_int_equal(released, 1);
	assert_null(fake_object(APISERVICE));
}

static void a_release_without_an_answer_ends(void **state)
{
	(void)state;
	fake_fail(FAKE_HANG, KUBE_APPLY, APISERVICE, FAKE_ANY, 0);
	start_creating();
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(2999);
	assert_int_equal(released, 0);
	fake_advance(2);
	assert_int_equal(released, 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "could not be released: a write to it is on its way"), 1);
	certs_next_case();
	/* refused: then there is nothing, and no reason to wait */
	fake_fail(FAKE_REFUSE, KUBE_APPLY, APISERVICE, FAKE_ANY, 403);
	start_creating();
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(300);
	assert_int_equal(released, 1);
	assert_null(fake_object(APISERVICE));
}

/* One that has nothing yet, and waits for the other one's release, creates nothing meanwhile. */
static void an_ending_process_creates_nothing(void **state)
{
	struct certs_config config = certs_usual();

	(void)state;
	fake_put(SERVICE, "{\"spec\":{\"ports\":[{\"port\":9443}]}}");
	config.recreate = true;
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	while (fake_count(KUBE_GET, SERVICE) == 0)
		fake_advance(1);
	certs_release(t.certs, 3000, on_released, NULL);
	fake_advance(5000);
	assert_int_equal(fake_count(KUBE_APPLY, ""), 0);
}

static void a_release_that_hangs_ends(void **state)
{
	(void)state;
	put_our_apiservice();
	start_recreating();
	fake_fail(FAKE_HANG, KUBE_DELETE, APISERVICES, FAKE_ANY, 0);
	assert_true(certs_release(t.certs, 3000, on_released, NULL));
	fake_advance(3001);
	assert_int_equal(released, 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "could not be released"), 1);
}

static void without_its_service_it_waits(void **state)
{
	(void)state;
	start_recreating();
	fake_advance(60000);
	assert_null(fake_object(APISERVICE));
	assert_true(fake_logged_at(LOG_LEVEL_WARN,
			    "is missing, and cannot be created again: Service kscaled/kscaled") >= 1);
	fake_put(SERVICE, "{\"spec\":{\"ports\":[{\"port\":443}]}}");
	fake_advance(60000);
	assert_bundle_is_the_ca();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(injects_under_conflict_retry),
		T(is_released_and_created_again),
		T(a_foreign_one_is_not_released),
		T(a_release_of_an_old_version_goes_again),
		T(a_release_waits_for_a_write_on_its_way),
		T(a_release_learns_of_it_from_the_watch),
		T(a_release_without_an_answer_ends),
		T(an_ending_process_creates_nothing),
		T(a_release_that_hangs_ends),
		T(without_its_service_it_waits),
		T(writes_only_known_states),
		T(ends_skipping_of_verification),
		T(puts_its_bundle_back),
		T(a_reverter_is_not_fought_at_full_speed),
		T(a_failing_write_is_reported_once_and_retried),
		T(leaves_a_foreign_one_alone),
		T(our_apiservices),
		T(takes_over_as_leader_with_the_option),
		T(a_taken_one_is_noted_and_never_deleted),
		T(a_missing_one_is_reported_and_found_later),
		T(one_that_may_not_be_read_does_not_block),
		T(one_that_cannot_be_read_now_is_not_known),
		T(both_get_the_bundle),
		T(only_the_leader_writes_into_it),
		T(without_it_nothing_is_wrong),
		T(a_foreign_one_keeps_no_one_from_leading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
