/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets and ConfigMaps: requested in rounds, watched by name, with notifications of changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "references_fixture.h"

#include "../../fakes/fakeobjects.h"

#include "base/mem.h"

/* ---- One object ---- */

static void a_secret_is_watched_by_its_name(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "other", "x", NULL);
	assert_string_equal(round_of("shop/a", "redis", "password"), "Secret shop/redis is not read yet");
	assert_int_equal(t.err.kind, ERR_WAITING);
	assert_int_equal(t.told, 0);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/a ");
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	assert_int_equal(fakecluster_watches(REDIS), 1);
	assert_int_equal(watches(), 1);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

static enum reference_state role_of(const char *account, const char **value)
{
	return references_key(t.references, fakeobject("shop/a"), KEYDATA_SERVICE_ACCOUNT, "shop", account, "role",
		value, &t.err);
}

static void annotations_of_service_accounts(void **state)
{
	static const char path[] = "/api/v1/namespaces/shop/serviceaccounts/worker";
	const char *value = NULL;

	(void)state;
	fakecluster_apply(path, "{'metadata':{'annotations':{'role':'arn','other':'x'}}}");
	holdings_begin(fakeobject("shop/a"));
	assert_int_equal(role_of("worker", &value), REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_int_equal(role_of("worker", &value), REFERENCE_FOUND);
	assert_string_equal(value, "arn");
	assert_int_equal(role_of("nobody", &value), REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_int_equal(role_of("nobody", &value), REFERENCE_MISSING);
	assert_string_equal(t.err.msg, "ServiceAccount shop/nobody does not exist (its annotation \"role\" is needed)");
	fakecluster_apply(path, "{'metadata':{'annotations':{}}}");
	fakeloop_advance(10);
	assert_int_equal(role_of("worker", &value), REFERENCE_MISSING);
	assert_string_equal(t.err.msg, "ServiceAccount shop/worker has no annotation \"role\"");
	holdings_end(fakeobject("shop/a"));
}

static void config_maps(void **state)
{
	const char *value;

	(void)state;
	fakecluster_apply(CONFIG, "{'data':{'queue':'jobs','empty':''},'binaryData':{'image':'AAEC'}}");
	put(SECRET("config"), "queue", "another", NULL);
	holdings_begin(fakeobject("shop/a"));
	for (int i = 0; i < 2; i++) {
		references_key(t.references, fakeobject("shop/a"), KEYDATA_CONFIG_MAP, "shop", "config", "queue",
			&value, &t.err);
		fakeloop_advance(10);
	}
	assert_string_equal(value, "jobs");
	fakeloop_advance(10);
	assert_int_equal(references_key(t.references, fakeobject("shop/a"), KEYDATA_CONFIG_MAP, "shop", "config",
				 "image", &value, &t.err),
		REFERENCE_UNREAD);
	assert_int_equal(references_key(t.references, fakeobject("shop/a"), KEYDATA_CONFIG_MAP, "shop", "config",
				 "empty", &value, &t.err),
		REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_int_equal(references_key(t.references, fakeobject("shop/a"), KEYDATA_CONFIG_MAP, "shop", "config",
				 "empty", &value, &t.err),
		REFERENCE_FOUND);
	assert_string_equal(value, "");
	assert_int_equal(references_key(t.references, fakeobject("shop/a"), KEYDATA_CONFIG_MAP, "shop", "config",
				 "image", &value, &t.err),
		REFERENCE_MISSING);
	assert_string_equal(t.err.msg, "ConfigMap shop/config has no key \"image\"");
	holdings_end(fakeobject("shop/a"));
}

static void missing_objects_and_keys_are_named(void **state)
{
	const struct strmap *data;

	(void)state;
	put(REDIS, "password", "", NULL);
	round_of("shop/a", "redis", "pw");
	round_of("shop/b", "none", "pw");
	round_of("shop/c", "redis", "password");
	fakeloop_advance(10);
	assert_int_equal(t.told, 3);
	assert_string_equal(round_of("shop/a", "redis", "pw"), "Secret shop/redis has no key \"pw\"");
	assert_int_equal(t.err.kind, ERR_MISSING);
	assert_string_equal(round_of("shop/b", "none", "pw"),
		"Secret shop/none does not exist (its key \"pw\" is needed)");
	assert_int_equal(t.err.kind, ERR_MISSING);
	assert_string_equal(round_of("shop/c", "redis", "password"), "");
	holdings_begin(fakeobject("shop/d"));
	assert_int_equal(references_all(t.references, fakeobject("shop/d"), KEYDATA_SECRET, "shop", "none", &data,
				 &t.err),
		REFERENCE_MISSING);
	assert_string_equal(t.err.msg, "Secret shop/none does not exist");
	assert_null(data);
	holdings_end(fakeobject("shop/d"));
	/* The missing one comes. */
	forget_told();
	put(SECRET("none"), "pw", "pw1", NULL);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/d shop/b ");
	assert_string_equal(round_of("shop/b", "none", "pw"), "pw1");
}

/* Also names that would change a path or a selector. */
static void impossible_names_are_refused(void **state)
{
	static const char *const names[] = { "", "Redis", "a/b", "..", "-a", "a.", "a,metadata.namespace=bank", "a b",
		"a%2fb" };
	const char *value;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		MEM_AUTO char *expected = mem_printf("Secret shop/%s: \"%s\" cannot be the name of a Secret", names[i],
			names[i]);

		assert_string_equal(round_of("shop/a", names[i], "key"), expected);
		assert_int_equal(t.err.kind, ERR_INVALID);
	}
	assert_int_equal(references_key(t.references, fakeobject("shop/a"), KEYDATA_SECRET, "a.b", "redis", "key",
				 &value, &t.err),
		REFERENCE_MISSING);
	assert_string_equal(t.err.msg, "Secret a.b/redis: \"a.b\" cannot be the name of a namespace");
	assert_string_equal(round_of("shop/a", "redis", ""), "Secret shop/redis: no key is named");
	assert_int_equal(watches(), 0);
}

static void binary_values_are_named(void **state)
{
	(void)state;
	fakecluster_apply(REDIS, "{'data':{'a':'AAEC','b':'?','c':'YQ=='}}");
	round_of("shop/a", "redis", "a");
	round_of("shop/b", "redis", "b");
	fakeloop_advance(10);
	round_of("shop/a", "redis", "a");
	assert_string_equal(t.err.msg, "Secret shop/redis: key \"a\" contains a NUL character");
	assert_int_equal(t.err.kind, ERR_INVALID);
	assert_string_equal(round_of("shop/b", "redis", "b"), "Secret shop/redis: key \"b\" is not base64");
	forget_told();
	put(REDIS, "a", "text", NULL);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/a ");
	assert_string_equal(round_of("shop/a", "redis", "a"), "text");
}

static void holders_of_a_changed_key_are_notified(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	round_of("shop/b", "redis", "user");
	fakeloop_advance(10);
	forget_told();
	fakecluster_change(REDIS, "{'metadata':{'labels':{'a':'b'}}}");
	put(REDIS, "third", "x", NULL);
	fakeloop_advance(10);
	assert_int_equal(t.told, 0);
	put(REDIS, "password", "pw2", NULL);
	fakeloop_advance(3);
	assert_string_equal(t.all, "shop/a ");
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw2");
	put(REDIS, "user", NULL, NULL);
	fakeloop_advance(3);
	assert_string_equal(t.all, "shop/a shop/b ");
	assert_string_equal(round_of("shop/b", "redis", "user"), "Secret shop/redis has no key \"user\"");
	forget_told();
	fakecluster_delete(REDIS);
	fakeloop_advance(3);
	assert_int_equal(t.told, 2);
	assert_int_equal(state_of("shop/a", "redis", "password"), REFERENCE_MISSING);
	put(REDIS, "password", "pw3", NULL);
	fakeloop_advance(3);
	assert_int_equal(t.told, 4);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw3");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

/* Otherwise a Secret with a thousand keys and a thousand owners would cause a million. */
static void holders_of_several_keys_are_notified_once(void **state)
{
	static const char *const keys[] = { "password", "user", "third" };
	const char *value;

	(void)state;
	put(REDIS, "password", "pw1", "user", "u1", "third", "x1", NULL);
	for (int round = 0; round < 2; round++) {
		holdings_begin(fakeobject("shop/a"));
		for (size_t i = 0; i < 3; i++)
			ask("shop/a", "redis", keys[i], &value);
		holdings_end(fakeobject("shop/a"));
		if (round > 0)
			break;
		fakeloop_advance(10);
		assert_string_equal(t.all, "shop/a "); /* waited for */
		forget_told();
	}
	round_of("shop/b", "redis", "user");
	fakeloop_advance(10);
	forget_told();
	put(REDIS, "password", "pw2", "user", "u2", "third", "x2", NULL);
	fakeloop_advance(3);
	assert_int_equal(t.told, 2);
}

static void a_thousand_owners_of_one_secret(void **state)
{
	char owner[32];

	(void)state;
	put(REDIS, "password", "pw1", NULL);
	for (int i = 0; i < 1000; i++) {
		snprintf(owner, sizeof(owner), "shop/o%d", i);
		round_of(owner, "redis", "password");
	}
	fakeloop_advance(10);
	assert_int_equal(t.told, 1000);
	assert_int_equal(watches(), 1);
	assert_int_equal(references_stats(t.references).objects, 1);
	put(REDIS, "password", "pw2", NULL);
	fakeloop_advance(10);
	assert_int_equal(t.told, 2000);
	for (int i = 0; i < 1000; i++) {
		snprintf(owner, sizeof(owner), "shop/o%d", i);
		assert_string_equal(round_of(owner, "redis", "password"), "pw2");
		holdings_release(fakeobject(owner));
	}
	assert_int_equal(watches(), 0);
	assert_int_equal(references_stats(t.references).objects, 0);
}

/* ---- Rounds ---- */

static void unrequested_keys_are_released(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", NULL);
	put(SECRET("mail"), "password", "pw1", NULL);
	holdings_begin(fakeobject("shop/a"));
	ask("shop/a", "redis", "password", NULL);
	ask("shop/a", "mail", "password", NULL);
	ask("shop/a", "mail", "password", NULL);
	holdings_end(fakeobject("shop/a"));
	round_of("shop/b", "redis", "password");
	fakeloop_advance(10);
	assert_int_equal(watches(), 2);
	round_of("shop/a", "redis", "password");
	assert_int_equal(watches(), 1);
	holdings_begin(fakeobject("shop/a"));
	holdings_end(fakeobject("shop/a"));
	forget_told();
	put(REDIS, "password", "pw2", NULL);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/b ");
	holdings_release(fakeobject("shop/b"));
	holdings_release(fakeobject("shop/b"));
	holdings_end(fakeobject("shop/b"));
	assert_int_equal(watches(), 0);
}

static size_t kept_values(void)
{
	const struct referenced *o = references_object_find(t.references, KEYDATA_SECRET, "shop", "redis");

	return o->data.count;
}

static void a_released_value_is_not_kept(void **state)
{
	const struct strmap *data;

	(void)state;
	put(REDIS, "password", "pw1", "user", "u", "third", "x", NULL);
	holdings_begin(fakeobject("shop/a"));
	references_all(t.references, fakeobject("shop/a"), KEYDATA_SECRET, "shop", "redis", &data, &t.err);
	holdings_end(fakeobject("shop/a"));
	round_of("shop/b", "redis", "user");
	fakeloop_advance(10);
	assert_int_equal(kept_values(), 3);
	holdings_release(fakeobject("shop/a"));
	assert_int_equal(kept_values(), 1);
	/* It is read again. */
	assert_int_equal(state_of("shop/a", "redis", "password"), REFERENCE_UNREAD);
	assert_string_equal(round_of("shop/b", "redis", "user"), "u");
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	assert_int_equal(kept_values(), 2);
	round_of("shop/a", "redis", "user");
	assert_int_equal(kept_values(), 1);
	assert_int_equal(state_of("shop/a", "redis", "password"), REFERENCE_UNREAD);
	assert_string_equal(round_of("shop/b", "redis", "user"), "u");
}

static void keys_per_owner_are_limited(void **state)
{
	char key[32];

	(void)state;
	holdings_begin(fakeobject("shop/a"));
	for (int i = 0; i < REFERENCES_PER_OWNER_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(ask("shop/a", "redis", key, NULL), REFERENCE_UNREAD);
	}
	assert_int_equal(ask("shop/a", "redis", "more", NULL), REFERENCE_MISSING);
	assert_string_equal(t.err.msg,
		"Secret shop/redis: more than 1024 keys of Secrets and ConfigMaps are referred to");
	assert_int_equal(ask("shop/a", "mail", "more", NULL), REFERENCE_MISSING);
	assert_int_equal(ask("shop/a", "redis", "k0", NULL), REFERENCE_UNREAD);
	holdings_end(fakeobject("shop/a"));
	assert_int_equal(references_stats(t.references).objects, 1);
}

/* ---- Keys requested late ---- */

static void a_key_wanted_late_is_read_once(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	forget_told();
	assert_string_equal(round_of("shop/b", "redis", "user"), "Secret shop/redis is not read yet");
	round_of("shop/c", "redis", "none");
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	fakeloop_advance(10);
	assert_int_equal(t.told, 2);
	assert_null(strstr(t.all, "shop/a"));
	assert_string_equal(round_of("shop/b", "redis", "user"), "u");
	assert_int_equal(state_of("shop/c", "redis", "none"), REFERENCE_MISSING);
	assert_int_equal(fakecluster_calls(KUBE_GET, REDIS), 1);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 1);
	/* All keys of a missing object are known. */
	round_of("shop/d", "gone", "key");
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/e", "gone", "other"), REFERENCE_MISSING);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 1);
}

static void all_keys_wanted_late(void **state)
{
	const struct strmap *data;

	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	holdings_begin(fakeobject("shop/b"));
	assert_int_equal(references_all(t.references, fakeobject("shop/b"), KEYDATA_SECRET, "shop", "redis", &data,
				 &t.err),
		REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_int_equal(references_all(t.references, fakeobject("shop/b"), KEYDATA_SECRET, "shop", "redis", &data,
				 &t.err),
		REFERENCE_FOUND);
	holdings_end(fakeobject("shop/b"));
	assert_int_equal(data->count, 2);
	/* Now every key is there. */
	assert_string_equal(round_of("shop/c", "redis", "user"), "u");
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 1);
	forget_told();
	put(REDIS, "third", "x", NULL);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/b ");
}

static void the_watch_beats_the_read(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	fakecluster_answer_lag(1000);
	round_of("shop/b", "redis", "user");
	fakeloop_advance(10); /* read at the server, the answer on its way */
	put(REDIS, "user", "v", NULL);
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/b", "redis", "user"), "v");
	assert_int_equal(fakecluster_under_way(), 0);
	round_of("shop/c", "redis", "third");
	fakeloop_advance(10);
	fakecluster_delete(REDIS);
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/c", "redis", "third"), REFERENCE_MISSING);
	fakeloop_advance(2000);
	assert_int_equal(state_of("shop/c", "redis", "third"), REFERENCE_MISSING);
}

/*
 * Deleted and recreated: the read saw the new object, and the watch then delivers the deletion of
 * the old one.
 */
static void a_recreated_object(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	fakecluster_watch_lag(50);
	fakecluster_delete(REDIS);
	put(REDIS, "password", "pw2", "user", "u", NULL);
	round_of("shop/b", "redis", "user");
	forget_told();
	fakeloop_advance(10);
	assert_int_equal(t.told, 2);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw2");
	fakeloop_advance(100);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw2");
	assert_int_equal(t.told, 2);
}

static void a_read_that_fails_is_tried_again(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	forget_told();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", 2, 500);
	round_of("shop/b", "redis", "user");
	fakeloop_advance(100);
	assert_string_equal(round_of("shop/b", "redis", "user"), "Secret shop/redis is not read yet");
	assert_int_equal(t.told, 0);
	fakeloop_advance(1000);
	assert_string_equal(round_of("shop/b", "redis", "user"), "u");
	assert_int_equal(t.warnings, 0);
	/* A lasting failure is reported once. */
	forget_told();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", FAKECLUSTER_ANY, 500);
	round_of("shop/c", "redis", "third");
	fakeloop_advance(600000);
	assert_string_equal(t.all, "shop/c ");
	assert_string_equal(round_of("shop/c", "redis", "third"),
		"Secret shop/redis is not read yet: HTTP 500 refused by the test");
	assert_int_equal(t.warnings, 1);
	assert_in_range(fakecluster_calls(KUBE_GET, ""), 10, 40);
	fakecluster_heal();
	fakeloop_advance(31000);
	assert_int_equal(state_of("shop/c", "redis", "third"), REFERENCE_MISSING);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
}

static void released_during_a_read(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	round_of("shop/a", "redis", "user");
	assert_int_equal(fakecluster_under_way(), 1);
	holdings_release(fakeobject("shop/a"));
	assert_int_equal(fakecluster_under_way(), 0);
	fakeloop_advance(60000);
	assert_int_equal(t.told, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_secret_is_watched_by_its_name),
		CASE(config_maps),
		CASE(annotations_of_service_accounts),
		CASE(missing_objects_and_keys_are_named),
		CASE(impossible_names_are_refused),
		CASE(binary_values_are_named),
		CASE(holders_of_a_changed_key_are_notified),
		CASE(holders_of_several_keys_are_notified_once),
		CASE(a_thousand_owners_of_one_secret),
		CASE(unrequested_keys_are_released),
		CASE(a_released_value_is_not_kept),
		CASE(keys_per_owner_are_limited),
		CASE(a_key_wanted_late_is_read_once),
		CASE(all_keys_wanted_late),
		CASE(the_watch_beats_the_read),
		CASE(a_recreated_object),
		CASE(a_read_that_fails_is_tried_again),
		CASE(released_during_a_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
