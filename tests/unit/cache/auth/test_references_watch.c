/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches of Secrets: by name or of the namespace, the switch between them, and the effect of
 * lists, cuts and permissions on known values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "references_fixture.h"

#include "../../fakes/fakeobjects.h"
#include "kube/denial.h"

/* ---- More than eight names ---- */

static void nine_names_make_one_watch(void **state)
{
	(void)state;
	put_numbered(1, 20);
	want_numbered(1, 8);
	fakeloop_advance(10);
	assert_int_equal(watches(), 8);
	want_numbered(9, 10);
	assert_int_equal(fakecluster_watches(EVERY_SECRET), 1);
	for (int i = 0; i < 10; i++) {
		assert_numbered(1, 8, "v1");
		fakeloop_advance(1);
	}
	assert_numbered(1, 10, "v1");
	assert_int_equal(watches(), 1);
	assert_int_equal(t.told, 10);
	assert_int_equal(references_stats(t.references).objects, 10);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	/* It is the source now. */
	forget_told();
	put(SECRET("s3"), "key", "v2", NULL);
	put(SECRET("s20"), "key", "v2", NULL);
	fakecluster_delete(SECRET("s4"));
	fakecluster_delete(SECRET("s19"));
	fakeloop_advance(3);
	assert_string_equal(t.all, "shop/s3 shop/s4 ");
	assert_numbered(3, 3, "v2");
	assert_int_equal(state_of("shop/s4", "s4", "key"), REFERENCE_MISSING);
	/* Other kinds and namespaces count separately. */
	put("/api/v1/namespaces/bank/secrets/s1", "key", "of the bank", NULL);
	references_key(t.references, fakeobject("shop/x"), KEYDATA_SECRET, "bank", "s1", "key", &(const char *){ NULL },
		&t.err);
	assert_int_equal(fakecluster_watches("/bank/secrets/s1"), 1);
	/* It stays until nothing is referenced. */
	release_numbered(2, 10);
	assert_int_equal(fakecluster_watches(EVERY_SECRET), 1);
	holdings_release(fakeobject("shop/s1"));
	assert_int_equal(fakecluster_watches(EVERY_SECRET), 0);
	want_numbered(1, 1);
	assert_int_equal(fakecluster_watches(SECRET("s1")), 1);
}

/* Names that come at once, before any list has begun. */
static void many_names_at_once(void **state)
{
	(void)state;
	put_numbered(1, 100);
	want_numbered(1, 100);
	fakeloop_advance(20);
	assert_numbered(1, 100, "v1");
	assert_int_equal(t.told, 100);
	assert_int_equal(watches(), 1);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
}

/* The list's pages are of one moment; the watches by name deliver newer states meanwhile. */
static void an_old_list_changes_nothing(void **state)
{
	(void)state;
	fakecluster_page(1, 20);
	put_numbered(1, 7);
	want_numbered(1, 8);
	put_numbered(9, 9);
	fakeloop_advance(10);
	assert_int_equal(state_of("shop/s8", "s8", "key"), REFERENCE_MISSING);
	want_numbered(9, 9);
	fakeloop_advance(5); /* the list is served */
	forget_told();
	put(SECRET("s5"), "key", "v2", NULL);
	put(SECRET("s8"), "key", "v2", NULL);
	fakecluster_delete(SECRET("s6"));
	fakeloop_advance(5);
	assert_string_equal(t.all, "shop/s5 shop/s8 shop/s6 ");
	for (int i = 0; i < 60; i++) {
		assert_numbered(5, 5, "v2");
		assert_numbered(8, 8, "v2");
		assert_int_equal(state_of("shop/s6", "s6", "key"), REFERENCE_MISSING);
		fakeloop_advance(5);
	}
	assert_string_equal(t.all, "shop/s5 shop/s8 shop/s6 shop/s9 ");
	assert_numbered(1, 4, "v1");
	assert_numbered(9, 9, "v1");
	assert_int_equal(watches(), 1);
}

/* Deleted after the watch by name ended, before the list. */
static void deleted_in_the_switch(void **state)
{
	(void)state;
	put_numbered(1, 9);
	want_numbered(1, 8);
	fakeloop_advance(10);
	fakecluster_watch_lag(1000);
	fakecluster_delete(SECRET("s2"));
	forget_told();
	want_numbered(9, 9);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/s9 shop/s2 ");
	assert_int_equal(state_of("shop/s2", "s2", "key"), REFERENCE_MISSING);
	fakeloop_advance(2000);
	assert_int_equal(state_of("shop/s2", "s2", "key"), REFERENCE_MISSING);
	assert_int_equal(fakecluster_calls(KUBE_GET, SECRET("s2")), 1);
}

static void a_name_wanted_after_the_list_began(void **state)
{
	(void)state;
	put_numbered(1, 12);
	want_numbered(1, 9);
	fakeloop_advance(10);
	forget_told();
	want_numbered(10, 10);
	assert_int_equal(state_of("shop/none", "none", "key"), REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_numbered(10, 10, "v1");
	assert_int_equal(state_of("shop/none", "none", "key"), REFERENCE_MISSING);
	assert_int_equal(t.told, 2);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 2);
	/* In the middle of a list. */
	fakecluster_page(3, 20);
	fakecluster_relist("");
	fakeloop_advance(25);
	want_numbered(11, 12);
	assert_int_equal(state_of("shop/nil", "nil", "key"), REFERENCE_UNREAD);
	fakeloop_advance(200);
	assert_numbered(1, 12, "v1");
	assert_int_equal(state_of("shop/nil", "nil", "key"), REFERENCE_MISSING);
	assert_int_equal(t.told, 5);
	assert_int_equal(watches(), 1);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 5);
}

/*
 * The read may be answered before or after the list's end; the list does not cover a name requested
 * in its middle.
 */
static void a_name_wanted_during_the_first_list(void **state)
{
	(void)state;
	for (int lag = 1; lag < 100; lag += 30) {
		fakecluster_page(4, 20);
		fakecluster_answer_lag(lag);
		put_numbered(1, 20);
		want_numbered(11, 19);
		fakeloop_advance(30);
		want_numbered(1, 1);
		state_of("shop/none", "none", "key");
		fakeloop_advance(1000);
		assert_numbered(1, 1, "v1");
		assert_numbered(11, 19, "v1");
		assert_int_equal(state_of("shop/none", "none", "key"), REFERENCE_MISSING);
		assert_int_equal(t.told, 11);
		assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 2);
		teardown(state);
		setup(state);
	}
}

/* ---- After a cut ---- */

static void a_relist_finds_deletions(void **state)
{
	(void)state;
	for (int names = 5; names <= 10; names += 5) {
		put_numbered(1, names);
		want_numbered(1, names);
		fakeloop_advance(10);
		fakecluster_hold_watches(true);
		fakecluster_delete(SECRET("s2"));
		put(SECRET("s3"), "key", "v2", NULL);
		forget_told();
		fakecluster_relist("");
		fakeloop_advance(10);
		assert_int_equal(state_of("shop/s2", "s2", "key"), REFERENCE_MISSING);
		assert_numbered(3, 3, "v2");
		assert_numbered(4, names, "v1");
		assert_int_equal(t.told, 2);
		teardown(state);
		setup(state);
	}
}

static void a_restored_etcd_counts_backwards(void **state)
{
	(void)state;
	for (int names = 5; names <= 10; names += 5) {
		put_numbered(1, names);
		want_numbered(1, names);
		fakeloop_advance(10);
		fakecluster_hold_watches(true);
		fakecluster_restored(50);
		put(SECRET("s3"), "key", "from the backup", NULL);
		fakecluster_relist("");
		fakecluster_hold_watches(false);
		fakeloop_advance(10);
		assert_numbered(3, 3, "from the backup");
		put(SECRET("s3"), "key", "v2", NULL);
		fakeloop_advance(10);
		assert_numbered(3, 3, "v2");
		teardown(state);
		setup(state);
	}
}

/* ---- Permissions ---- */

static void denials_name_the_permission(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", NULL);
	fakecluster_trouble(REDIS, ERR_DENIED,
		"secrets is forbidden: User \"kscaled\" cannot list resource \"secrets\" in API group \"\" in the "
		"namespace \"shop\"");
	assert_int_equal(state_of("shop/a", "redis", "password"), REFERENCE_UNREAD);
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/a ");
	assert_int_equal(state_of("shop/a", "redis", "password"), REFERENCE_DENIED);
	assert_int_equal(t.err.kind, ERR_DENIED);
	assert_string_equal(t.err.msg,
		"Secret shop/redis may not be read: grant get, list and watch on secrets \"redis\" in namespace shop: "
		"secrets is forbidden: User \"kscaled\" cannot list resource \"secrets\" in API group \"\" in the "
		"namespace \"shop\"");
	assert_int_equal(t.warnings, 1);
	assert_non_null(strstr(t.warning, "Secret shop/redis: cannot be watched at the moment: secrets is forbidden"));
	fakecluster_trouble(REDIS, ERR_NONE, NULL);
	fakeloop_advance(2000);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	/* Revoked again: known values stay. */
	forget_told();
	fakecluster_trouble(REDIS, ERR_DENIED, "forbidden");
	fakeloop_advance(60000);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	assert_int_equal(t.told, 0);
}

static void a_get_that_is_denied(void **state)
{
	(void)state;
	put(REDIS, "password", "pw1", "user", "u", NULL);
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", FAKECLUSTER_ANY, 403);
	round_of("shop/b", "redis", "user");
	fakeloop_advance(DENIAL_GRACE_MS / 2);
	assert_int_equal(state_of("shop/b", "redis", "user"), REFERENCE_UNREAD); /* it may pass */
	fakeloop_advance(2 * DENIAL_GRACE_MS);
	assert_int_equal(state_of("shop/b", "redis", "user"), REFERENCE_DENIED);
	assert_string_equal(t.err.msg,
		"Secret shop/redis may not be read: grant get, list and watch on secrets \"redis\" in namespace shop: "
		"HTTP 403 refused by the test");
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	/* Expired credentials recover by themselves. */
	fakecluster_heal();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "", FAKECLUSTER_ANY, 401);
	fakeloop_advance(60000);
	assert_int_equal(state_of("shop/b", "redis", "user"), REFERENCE_UNREAD);
	assert_string_equal(t.err.msg, "Secret shop/redis is not read yet: HTTP 401 refused by the test");
}

static void a_denied_scope_is_watched_by_name(void **state)
{
	(void)state;
	put_numbered(1, 30);
	want_numbered(1, 8);
	fakeloop_advance(10);
	fakecluster_trouble(EVERY_SECRET, ERR_DENIED, "forbidden");
	want_numbered(9, 12);
	fakeloop_advance(10);
	assert_int_equal(fakecluster_watches(EVERY_SECRET), 0);
	assert_int_equal(watches(), 12);
	assert_numbered(1, 12, "v1");
	assert_int_equal(t.told, 16); /* four of them also with the error of the scope's watch */
	want_numbered(13, 13);
	fakeloop_advance(10);
	assert_numbered(13, 13, "v1");
	/* Retried until it is allowed. */
	fakeloop_advance(1300000);
	assert_int_equal(watches(), 13);
	assert_int_equal(t.warnings, 3);
	fakecluster_trouble(EVERY_SECRET, ERR_NONE, NULL);
	fakeloop_advance(600000);
	assert_int_equal(watches(), 1);
	assert_int_equal(fakecluster_watches(EVERY_SECRET), 1);
	assert_numbered(1, 13, "v1");
	put(SECRET("s13"), "key", "v2", NULL);
	fakeloop_advance(10);
	assert_numbered(13, 13, "v2");
}

static void a_working_scope_watch_is_given_up_late(void **state)
{
	(void)state;
	put_numbered(1, 10);
	want_numbered(1, 9);
	fakeloop_advance(10);
	forget_told();
	fakecluster_trouble(EVERY_SECRET, ERR_DENIED, "forbidden");
	fakeloop_advance(20000);
	assert_int_equal(watches(), 1);
	fakecluster_trouble(EVERY_SECRET, ERR_NONE, NULL);
	fakeloop_advance(60000);
	assert_int_equal(watches(), 1);
	fakecluster_trouble(EVERY_SECRET, ERR_DENIED, "forbidden");
	fakeloop_advance(10000);
	want_numbered(10, 10); /* meanwhile read with a GET */
	fakeloop_advance(10);
	assert_numbered(10, 10, "v1");
	fakecluster_delete(SECRET("s2"));
	for (int i = 0; i < 300; i++) {
		assert_numbered(3, 9, "v1");
		fakeloop_advance(100);
	}
	assert_int_equal(watches(), 10);
	assert_int_equal(state_of("shop/s2", "s2", "key"), REFERENCE_MISSING);
	assert_string_equal(t.all, "shop/s10 shop/s2 ");
	/* Given up for good without any reference. */
	release_numbered(1, 10);
	fakeloop_advance(700000);
	assert_int_equal(watches(), 0);
}

/* ---- Trouble ---- */

static void waiting_owners_get_the_reason(void **state)
{
	(void)state;
	put_numbered(1, 12);
	fakecluster_trouble(SECRETS, ERR_TEMPORARY, "connection refused");
	want_numbered(1, 1);
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/s1", "s1", "key"), "Secret shop/s1 is not read yet: connection refused");
	assert_int_equal(t.err.kind, ERR_TEMPORARY);
	assert_string_equal(t.all, "shop/s1 ");
	want_numbered(2, 10);
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/s10", "s10", "key"),
		"Secret shop/s10 is not read yet: watching Secrets of namespace shop: connection refused");
	assert_int_equal(t.warnings, 1); /* not one for each */
	fakecluster_trouble(SECRETS, ERR_NONE, NULL);
	fakeloop_advance(5000);
	assert_numbered(1, 10, "v1");
	/* Later failures are no change: known values stay. */
	forget_told();
	fakecluster_trouble(SECRETS, ERR_TEMPORARY, "connection refused");
	fakeloop_advance(3600000);
	assert_numbered(1, 10, "v1");
	assert_int_equal(t.told, 0);
	assert_int_equal(t.warnings, 2);
}

static void undecodable_objects_are_named(void **state)
{
	(void)state;
	fakecluster_apply(REDIS, "{'data':'pw1'}");
	round_of("shop/a", "redis", "password");
	fakeloop_advance(10);
	assert_string_equal(t.all, "shop/a ");
	assert_int_equal(t.warnings, 1);
	assert_non_null(
		strstr(t.warning, "Secret shop/redis: cannot be decoded and is ignored: data: must be an object"));
	round_of("shop/a", "redis", "password");
	assert_true(strncmp(t.err.msg, "Secret shop/redis is not read yet: data: must be an object", 58) == 0);
	fakecluster_apply(REDIS, "{'data':{'password':'cHcx'}}");
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	forget_told();
	fakecluster_apply(REDIS, "{'data':'pw1'}");
	fakeloop_advance(10);
	assert_string_equal(round_of("shop/a", "redis", "password"), "pw1");
	assert_int_equal(t.told, 0);
	assert_int_equal(t.warnings, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(nine_names_make_one_watch),
		CASE(many_names_at_once),
		CASE(an_old_list_changes_nothing),
		CASE(deleted_in_the_switch),
		CASE(a_name_wanted_after_the_list_began),
		CASE(a_name_wanted_during_the_first_list),
		CASE(a_relist_finds_deletions),
		CASE(a_restored_etcd_counts_backwards),
		CASE(denials_name_the_permission),
		CASE(a_get_that_is_denied),
		CASE(a_denied_scope_is_watched_by_name),
		CASE(a_working_scope_watch_is_given_up_late),
		CASE(waiting_owners_get_the_reason),
		CASE(undecodable_objects_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
