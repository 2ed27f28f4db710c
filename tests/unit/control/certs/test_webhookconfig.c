/* SPDX-License-Identifier: Apache-2.0 */
/* Our CA in the caBundle of our webhooks. */
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

static void who_was_faster_is_looked_at_again(void **state)
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
static void without_a_webhook_nobody_asks(void **state)
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
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, APISERVICE), 1);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, CONFIG), 0);
}

static void a_failing_write_is_told_once_and_tried_again(void **state)
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

/* Somebody who puts back what he knows is answered, but not at his pace. */
static void who_takes_it_out_again_is_not_fought_at_full_speed(void **state)
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

static void a_watch_that_is_denied_is_told(void **state)
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
		T(it_may_come_later_and_go),
		T(only_the_leader_writes),
		T(who_was_faster_is_looked_at_again),
		T(without_a_webhook_nobody_asks),
		T(a_failing_write_is_told_once_and_tried_again),
		T(who_takes_it_out_again_is_not_fought_at_full_speed),
		T(a_watch_that_is_denied_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
