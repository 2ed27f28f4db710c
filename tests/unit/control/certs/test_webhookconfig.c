/* SPDX-License-Identifier: Apache-2.0 */
/* Our CA in the caBundle of our webhooks, and the path of reviews. */
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
#include "control/certs/reviewpaths.h"

#define CONFIGS "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
#define CONFIG  CONFIGS "/kscaled-admission"

#define WEBHOOK(name, namespace_, service, more)                                                                       \
	"{\"name\":\"" name "\",\"clientConfig\":{\"service\":{\"namespace\":\"" namespace_ "\",\"name\":\"" service   \
	"\"}" more "},\"sideEffects\":\"None\"}"
#define OURS WEBHOOK("a", "kscaled", "kscaled", "") "," WEBHOOK("b", "kscaled", "kscaled", ",\"caBundle\":\"AAAA\"")
#define OTHERS                                                                                                         \
	WEBHOOK("c", "keda", "kscaled", "")                                                                            \
	"," WEBHOOK("d", "kscaled", "keda", ",\"caBundle\":\"BBBB\"") ",{\"name\":\"e\",\"clientConfig\":{\"url\":"    \
								      "\"https://example.com\"}},{\"name\":\"f\"},7"

static void put(const char *webhooks)
{
	MEM_AUTO char *text = mem_printf("{\"metadata\":{\"name\":\"kscaled-admission\"},\"webhooks\":[%s]}", webhooks);

	fake_put(CONFIG, text);
}

static void put_ours(void)
{
	put(OURS "," OTHERS);
}

static const char *bundle(size_t index)
{
	const json_t *webhooks = json_object_get(fake_object(CONFIG), "webhooks");

	return json_str_or_empty(json_object_get(json_array_get(webhooks, index), "clientConfig"), "caBundle");
}

static void expect_bundles(void)
{
	MEM_AUTO char *ca = secret_value("ca.crt");
	MEM_AUTO char *wanted = base64_encode(ca, strlen(ca));

	assert_string_equal(bundle(0), wanted);
	assert_string_equal(bundle(1), wanted);
}

static void ours_get_it_and_others_stay_as_they_are(void **state)
{
	(void)state;
	put_our_apiservice();
	put_ours();
	certs_start(true);
	expect_bundles();
	assert_string_equal(bundle(2), "");
	assert_string_equal(bundle(3), "BBBB");
	assert_int_equal(json_array_size(json_object_get(fake_object(CONFIG), "webhooks")), 7);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 1);
	fake_advance(DAY_MS);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
}

/* ---- The path of reviews ---- */

#define PLAIN    "/validate-keda-sh-v1alpha1-scaledobject"
#define SECRET_1 "/admission/00112233445566778899aabbccddeeff"
#define SECRET_2 "/admission/ffeeddccbbaa99887766554433221100"

#define AT(name, service, path)                                                                                        \
	"{\"name\":\"" name "\",\"clientConfig\":{\"service\":{\"namespace\":\"kscaled\",\"name\":\"" service          \
	"\",\"path\":\"" path "\"}}}"
#define AT_URL(url) "{\"name\":\"u\",\"clientConfig\":{\"url\":\"" url "\"}}"

static const char *path_at(size_t index)
{
	const json_t *webhook = json_array_get(json_object_get(fake_object(CONFIG), "webhooks"), index);

	return json_str_or_empty(json_object_get(json_object_get(webhook, "clientConfig"), "service"), "path");
}

static bool asks_at(const char *path)
{
	return certs_asks_for_reviews_at(t.certs, path, strlen(path));
}

static void an_unguessable_path_is_written(void **state)
{
	char first[128];

	(void)state;
	put_our_apiservice();
	put(OURS "," AT("x", "keda", PLAIN));
	certs_start(true);
	expect_bundles();
	snprintf(first, sizeof first, "%s", path_at(0));
	assert_int_equal(strlen(first), strlen(SECRET_1));
	assert_memory_equal(first, SECRET_1, strlen("/admission/"));
	assert_string_equal(path_at(1), first);
	assert_string_equal(path_at(2), PLAIN); /* foreign */
	assert_true(asks_at(first));
	assert_false(asks_at(SECRET_1));
	assert_false(asks_at(PLAIN));
	/* It stays, and later leaders keep it. */
	fake_advance(DAY_MS);
	certs_next_case();
	put_our_apiservice();
	put(AT("a", "kscaled", SECRET_1) "," AT("b", "kscaled", SECRET_1));
	certs_start(true);
	assert_string_equal(path_at(0), SECRET_1);
	assert_string_equal(path_at(1), SECRET_1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_DEBUG, SECRET_1), 0);
}

/* A new path is written to the API server at once, which may use it late. */
static void a_plain_path_is_answered_until_it_is_replaced(void **state)
{
	(void)state;
	put_our_apiservice();
	put(AT("a", "kscaled", PLAIN) "," AT("b", "kscaled", PLAIN "/"));
	certs_start(false);
	assert_true(asks_at(PLAIN));
	assert_false(asks_at("/validate-keda-sh-v1alpha1-scaledjob"));
	certs_set_leading(t.certs, true);
	fake_advance(100);
	assert_string_equal(path_at(1), path_at(0));
	assert_true(asks_at(path_at(0)));
	assert_true(asks_at(PLAIN));
	fake_advance(REVIEWPATHS_LAG_MS);
	assert_false(asks_at(PLAIN));
	assert_true(asks_at(path_at(0)));
}

static void a_follower_uses_the_configuration(void **state)
{
	(void)state;
	put_our_apiservice();
	certs_start(false);
	assert_false(asks_at(PLAIN)); /* it does not exist: no reviews */
	put(AT("a", "kscaled", SECRET_1));
	fake_advance(100);
	assert_true(asks_at(SECRET_1));
	put(AT("a", "kscaled", SECRET_2));
	fake_advance(100);
	assert_true(asks_at(SECRET_1) && asks_at(SECRET_2));
	fake_advance(REVIEWPATHS_LAG_MS);
	assert_false(asks_at(SECRET_1));
	fake_remove(CONFIG);
	fake_advance(100 + REVIEWPATHS_LAG_MS);
	assert_false(asks_at(SECRET_2));
	/* a configuration for a kscaled outside of the cluster */
	put(AT_URL("https://kscaled.example:8443" SECRET_1) "," AT_URL("https://other.example") "," AT_URL("nonsense"));
	fake_advance(100);
	assert_true(asks_at(SECRET_1));
	assert_false(asks_at("/"));
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 0);
}

static void put_one_secret(void)
{
	put(AT("a", "kscaled", PLAIN) "," AT("b", "kscaled", SECRET_1));
}

static void one_path_for_all(void **state)
{
	(void)state;
	put_our_apiservice();
	put_one_secret();
	certs_start(true);
	assert_string_equal(path_at(0), SECRET_1);
	assert_string_equal(path_at(1), SECRET_1);
	/* A removed path is replaced by a new one: so a leaked path can be changed. */
	put(AT("a", "kscaled", "") "," AT("b", "kscaled", "/"));
	fake_advance(REVIEWPATHS_LAG_MS + 1000);
	assert_string_not_equal(path_at(0), SECRET_1);
	assert_string_equal(path_at(1), path_at(0));
	assert_true(asks_at(path_at(0)));
	assert_false(asks_at(SECRET_1));
	assert_false(asks_at("/"));
}

/* Before it is known where the API server asks, it is no stranger's business either. */
static void before_the_first_read_no_path_is_answered(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_LIST, CONFIGS, FAKE_ANY, 500);
	put(AT("a", "kscaled", PLAIN));
	certs_start(false);
	fake_advance(5000);
	assert_false(asks_at(PLAIN));
	fake_heal();
	fake_advance(70000);
	assert_true(asks_at(PLAIN));
}

/*
 * A configuration written for us by someone, without a right for us to read it, has the plain
 * paths.
 */
static void without_the_right_to_read_plain_paths_are_answered(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_LIST, CONFIGS, FAKE_ANY, 403);
	certs_start(true);
	fake_advance(5000);
	assert_true(asks_at(PLAIN));
	assert_false(asks_at(SECRET_1));
	fake_heal();
}

static void without_the_right_to_write_the_given_paths_are_answered(void **state)
{
	(void)state;
	put_our_apiservice();
	put(AT("a", "kscaled", PLAIN));
	fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, CONFIG, FAKE_ANY, 403);
	certs_start(true);
	fake_advance(600000);
	assert_true(asks_at(PLAIN));
	assert_false(asks_at(SECRET_1));
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "writing webhook configuration kscaled-admission"), 1);
	fake_heal();
}

static void it_may_come_later_and_go(void **state)
{
	(void)state;
	put_our_apiservice();
	certs_start(true);
	assert_null(certs_trouble(t.certs)); /* it need not exist */
	assert_int_equal(fake_count(FAKE_ANY, CONFIG), 0);
	put_ours();
	fake_advance(100);
	expect_bundles();
	fake_remove(CONFIG);
	fake_advance(100);
	put_ours();
	fake_advance(100);
	expect_bundles();
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 2);
}

static void only_the_leader_writes(void **state)
{
	(void)state;
	put_our_apiservice();
	put_ours();
	certs_start(false);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 0);
	certs_set_leading(t.certs, true);
	fake_advance(100);
	expect_bundles();
}

static void a_faster_writer_is_read_again(void **state)
{
	(void)state;
	put_our_apiservice();
	put_ours();
	fake_just_before(KUBE_MERGE_PATCH, CONFIG, put_ours);
	certs_start(true);
	fake_advance(5000);
	expect_bundles();
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 2);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
}

/* `kscaled manifests --no-webhook` gives no right to look for one. */
static void without_a_webhook_no_path_is_answered(void **state)
{
	struct certs_config config = certs_usual();

	(void)state;
	config.webhook = false;
	put_our_apiservice();
	put_ours();
	certs_start_with(config);
	certs_set_leading(t.certs, true);
	fake_advance(5000);
	assert_string_equal(bundle(0), "");
	assert_false(certs_asks_for_reviews_at(t.certs, PLAIN, strlen(PLAIN)));
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 1);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 0);
}

static void a_failing_write_is_reported_once_and_retried_later(void **state)
{
	(void)state;
	put_our_apiservice();
	put_ours();
	fake_fail(FAKE_REFUSE, KUBE_MERGE_PATCH, CONFIG, FAKE_ANY, 403);
	certs_start(true);
	for (int i = 0; i < 600; i++) {
		put_ours();
		fake_advance(1000);
	}
	assert_in_range(fake_count(KUBE_MERGE_PATCH, CONFIG), 8, 20);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "writing webhook configuration kscaled-admission"), 1);
	assert_null(certs_trouble(t.certs)); /* scaling goes on */
	fake_heal();
	fake_advance(70000);
	expect_bundles();
}

/* A tool that restores its own state is undone, but not at its pace. */
static void a_reverter_is_not_fought_at_full_speed(void **state)
{
	(void)state;
	put_our_apiservice();
	put_ours();
	certs_start(true);
	for (int i = 0; i < 6000; i++) {
		put_ours();
		fake_advance(100);
	}
	assert_in_range(fake_count(KUBE_MERGE_PATCH, CONFIG), 8, 20);
	fake_advance(70000);
	expect_bundles();
	/* After a quiet while it is another matter. */
	fake_advance(DAY_MS);
	put_ours();
	fake_advance(100);
	expect_bundles();
}

static void a_denied_watch_is_reported(void **state)
{
	(void)state;
	put_our_apiservice();
	fake_fail(FAKE_REFUSE, KUBE_LIST, CONFIGS, FAKE_ANY, 403);
	certs_start(true);
	fake_advance(60000);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "cannot be watched"), 1);
	assert_null(certs_trouble(t.certs));
	fake_heal();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(ours_get_it_and_others_stay_as_they_are),
		T(an_unguessable_path_is_written),
		T(a_plain_path_is_answered_until_it_is_replaced),
		T(a_follower_uses_the_configuration),
		T(one_path_for_all),
		T(before_the_first_read_no_path_is_answered),
		T(without_the_right_to_read_plain_paths_are_answered),
		T(without_the_right_to_write_the_given_paths_are_answered),
		T(it_may_come_later_and_go),
		T(only_the_leader_writes),
		T(a_faster_writer_is_read_again),
		T(without_a_webhook_no_path_is_answered),
		T(a_failing_write_is_reported_once_and_retried_later),
		T(a_reverter_is_not_fought_at_full_speed),
		T(a_denied_watch_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
