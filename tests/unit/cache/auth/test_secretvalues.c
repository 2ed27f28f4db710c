/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of secrets: members from one read, renewals, notifications, pauses, shares; with a
 * kind whose secrets are JSON objects that the test hands out. The real kinds are in test_lookups
 * (Vault) and test_managervalues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeloop.h"
#include "../../fakes/fakeobjects.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/secretvalues.h"

#define SECOND  1000
#define MINUTE  (60 * SECOND)
#define APART   (15 * SECOND)
#define MEGA    ((size_t)1 << 20)
#define CHANGED "the value read before stays in use"

struct source {
	const char *namespace_, *hint, *name;
};

struct thing {
	struct secretvalue value;
	struct source source;
};

static struct {
	struct secretvalues *keeper;
	const char *text; /* what a read gives; NULL: it fails with err */
	struct err err;
	int64_t again_ms;
	unsigned reads, freed;
	bool fixed;
	struct secretvalue *last; /* asked for */
	char told[256], logged[512];
	struct err got;
} t;

static void thing_read(struct secretvalue *v)
{
	t.reads++;
	if (t.text)
		secretvalue_take(v, t.text, t.again_ms);
	else
		secretvalue_failed(v, &t.err);
}

static bool thing_is_fixed(const struct secretvalue *v)
{
	(void)v;
	return t.fixed;
}

static void thing_done(struct secretvalue *v)
{
	(void)v;
	t.freed++;
}

static const char *thing_also(const void *source)
{
	(void)source;
	return "";
}

static int thing_member(const struct secretvalue *v, const json_t *whole, const char *member, char **out,
	struct err *err)
{
	const char *text = json_string_value(json_object_get(whole, member));

	(void)v;
	*out = mem_dup(text);
	return text ? 0 : err_set(err, ERR_MISSING, "no key \"%s\"", member);
}

static void thing_unread(const void *source, struct err *err)
{
	err_set(err, ERR_WAITING, "%s is not read yet", ((const struct source *)source)->name);
}

static void thing_wrap(const struct secretvalue *v, struct err *err)
{
	err_wrap(err, "%s", ((const struct thing *)v)->source.name);
}

static const size_t texts[] = { offsetof(struct source, namespace_), offsetof(struct source, hint),
	offsetof(struct source, name) };

#define KIND(name)                                                                                                     \
	{                                                                                                              \
		.log = name, .size = sizeof(struct thing), .source = offsetof(struct thing, source),                   \
		.source_size = sizeof(struct source), .texts = texts, .loose_count = 2,                                \
		.text_count = MEM_COUNT(texts), .also = thing_also, .read = thing_read, .is_fixed = thing_is_fixed,    \
		.done = thing_done, .member = thing_member, .unread = thing_unread, .wrap = thing_wrap                 \
	}

static const struct secretvalues_kind one = KIND("one"), other = KIND("other");

static void on_owner(void *arg, struct object *o, unsigned changes)
{
	assert_int_equal(changes, OBJECT_NEEDS);
	assert_ptr_equal(arg, &t);
	assert_true(strlen(t.told) + strlen(o->key) + 2 < sizeof(t.told));
	strcat(t.told, o->key);
	strcat(t.told, " ");
}

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	snprintf(t.logged, sizeof(t.logged), "%s", line);
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.again_ms = MINUTE;
	log_set_sink(on_line, NULL);
	t.keeper = secretvalues_new(&(struct secretvalues_config){ .loop = fakeloop_start(), .apart_ms = APART });
	secretvalues_listen(t.keeper, on_owner, &t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	secretvalues_free(t.keeper);
	fakeobjects_end();
	fakeloop_advance(0);
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static void expect_told(const char *owners)
{
	assert_string_equal(t.told, owners);
	t.told[0] = '\0';
}

/* One round of the owner, whose key begins with its namespace; NULL, and t.got, without a value. */
static const char *get_of(const struct secretvalues_kind *kind, const char *owner, const char *name, const char *member)
{
	struct object *o = fakeobject(owner);
	MEM_AUTO char *namespace_ = mem_dupn(owner, strcspn(owner, "/"));
	const struct source source = { .namespace_ = namespace_, .hint = owner, .name = name };
	const char *value;
	enum reference_state state;

	err_clear(&t.got);
	holdings_begin(o);
	state = secretvalues_get(t.keeper, kind, o, &source, member, &t.last, &value, &t.got);
	holdings_end(o);
	assert_int_equal(state == REFERENCE_FOUND, t.got.kind == ERR_NONE);
	return state == REFERENCE_FOUND ? value : NULL;
}

static const char *get(const char *owner, const char *member)
{
	return get_of(&one, owner, "db", member);
}

static void expect_err(enum err_kind kind, const char *message)
{
	assert_int_equal(t.got.kind, kind);
	assert_string_equal(t.got.msg, message);
}

/* Both owners wait, and have their members. */
static void read_pair(const char *text)
{
	t.text = text;
	get("shop/web", "cert");
	get("shop/api", "key");
	fakeloop_advance(10);
	expect_told("shop/web shop/api ");
	assert_non_null(get("shop/web", "cert"));
	assert_non_null(get("shop/api", "key"));
	assert_int_equal(t.reads, 1);
}

static void a_certificate_and_its_key_are_of_one_read(void **state)
{
	(void)state;
	read_pair("{\"cert\":\"C1\",\"key\":\"K1\"}");
	assert_string_equal(get("shop/web", "cert"), "C1");
	assert_string_equal(get("shop/api", "key"), "K1");
	t.text = "{\"cert\":\"C2\",\"key\":\"K2\"}";
	fakeloop_advance(MINUTE - 20);
	assert_int_equal(t.reads, 1);
	assert_string_equal(get("shop/web", "cert"), "C1");
	fakeloop_advance(20);
	assert_int_equal(t.reads, 2);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/web", "cert"), "C2");
	assert_string_equal(get("shop/api", "key"), "K2");
	/* A third owner needs no read. */
	assert_string_equal(get("shop/late", "key"), "K2");
	assert_int_equal(t.reads, 2);
}

/* As the rest of a password's life, which Vault's database roles send with it. */
static void what_nobody_has_is_no_change(void **state)
{
	(void)state;
	read_pair("{\"cert\":\"C\",\"key\":\"K\",\"ttl\":\"60\"}");
	t.text = "{\"cert\":\"C\",\"key\":\"K\",\"ttl\":\"30\"}";
	fakeloop_advance(MINUTE);
	assert_int_equal(t.reads, 2);
	expect_told("");
	assert_string_equal(get("shop/late", "ttl"), "30");
	t.text = "{\"cert\":\"C\",\"key\":\"K\",\"ttl\":\"90\"}";
	fakeloop_advance(MINUTE);
	expect_told("shop/web shop/api shop/late ");
	/* All of it concerns its owner. */
	holdings_release(fakeobject("shop/late"));
	get("shop/web", "cert");
	assert_string_equal(get("shop/api", NULL), t.text);
	t.text = "{\"cert\":\"C\",\"key\":\"K\"}";
	fakeloop_advance(MINUTE);
	expect_told("shop/web shop/api ");
}

static void a_vanished_member_is_missing(void **state)
{
	(void)state;
	read_pair("{\"cert\":\"C\",\"key\":\"K\"}");
	t.text = "{\"cert\":\"C\"}";
	fakeloop_advance(MINUTE);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/web", "cert"), "C");
	assert_null(get("shop/api", "key"));
	expect_err(ERR_MISSING, "no key \"key\"");
	/* It appears again, perhaps in the same turn. */
	secretvalue_take(t.last, "{\"cert\":\"C\",\"key\":\"K2\"}", MINUTE);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/api", "key"), "K2");
}

/* Whatever a server's lease says; without one it is a minute. */
static void it_is_read_again_within_a_second_to_a_day(void **state)
{
	static const struct {
		int64_t good_for_ms, again_ms;
	} rows[] = { { 0, MINUTE }, { 1, SECOND }, { 5 * SECOND, 5 * SECOND },
		{ INT64_C(9999) * 60 * MINUTE, 24 * 60 * MINUTE } };

	(void)state;
	t.text = "{}";
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		t.again_ms = rows[i].good_for_ms;
		get_of(&one, "shop/web", i % 2 ? "a" : "b", NULL);
		fakeloop_advance(10);
		assert_int_equal(t.reads, 1);
		fakeloop_advance(rows[i].again_ms - 20);
		assert_int_equal(t.reads, 1);
		fakeloop_advance(20);
		assert_int_equal(t.reads, 2);
		t.reads = 0;
	}
}

static void a_failed_read_keeps_the_secret(void **state)
{
	(void)state;
	read_pair("{\"cert\":\"C\",\"key\":\"K\"}");
	t.text = NULL;
	err_set(&t.err, ERR_MISSING, "gone");
	fakeloop_advance(MINUTE);
	assert_string_equal(get("shop/web", "cert"), "C");
	assert_non_null(strstr(t.logged, "db: gone; " CHANGED));
	fakeloop_advance(MINUTE);
	assert_in_range(t.reads, 5, 12); /* back-off */
	expect_told("");
}

static void retry_after_is_obeyed_for_ten_minutes(void **state)
{
	(void)state;
	err_set(&t.err, ERR_TEMPORARY, "HTTP 429");
	t.err.retry_after_ms = 2 * MINUTE;
	assert_null(get("shop/web", "cert"));
	fakeloop_advance(10);
	assert_int_equal(t.reads, 1);
	assert_null(get("shop/web", "cert"));
	expect_err(ERR_TEMPORARY, "db: HTTP 429");
	fakeloop_advance(2 * MINUTE - 20);
	assert_int_equal(t.reads, 1);
	t.err.retry_after_ms = INT64_C(1000) * MINUTE;
	fakeloop_advance(20);
	assert_int_equal(t.reads, 2);
	fakeloop_advance(10 * MINUTE - 20);
	assert_int_equal(t.reads, 2);
	fakeloop_advance(30);
	assert_int_equal(t.reads, 3);
}

/* The member "x" of so many bytes; the caller frees it. */
static char *text_of_size(size_t size, char filler)
{
	char *text = mem_array(1, size + 1);

	memset(text, filler, size);
	memcpy(text, "{\"x\":\"", 6);
	memcpy(text + size - 2, "\"}", 2);
	return text;
}

/* A namespace gets three eighths of 32 MiB, and a secret is counted once while it changes. */
static void secrets_beyond_the_share_are_not_read(void **state)
{
	MEM_AUTO char *large = text_of_size(7 * MEGA, 'a'), *changed = text_of_size(8 * MEGA, 'b'),
		      *larger = text_of_size(13 * MEGA, 'c');

	(void)state;
	t.text = large;
	get("shop/web", "x");
	fakeloop_advance(10);
	assert_non_null(get("shop/web", "x"));
	get_of(&one, "shop/api", "second", "x");
	fakeloop_advance(10);
	assert_null(get_of(&one, "shop/api", "second", "x"));
	expect_err(ERR_TEMPORARY,
		"second: this namespace has used up its share of the 32 MiB for secrets: its TriggerAuthentications "
		"read too many, or too large ones");
	/* Both kinds have one share, and namespaces their own. */
	get_of(&other, "shop/third", "db", "x");
	get("far/web", "x");
	get_of(&one, "far/web", "far", "x");
	holdings_release(fakeobject("shop/api"));
	fakeloop_advance(10);
	assert_null(get_of(&other, "shop/third", "db", "x"));
	expect_err(ERR_TEMPORARY, t.got.msg);
	assert_non_null(get_of(&one, "far/web", "far", "x"));
	holdings_release(fakeobject("shop/third"));
	holdings_release(fakeobject("far/web"));
	/* A larger value has room; one beyond the share has not, and the old value stays. */
	t.text = changed;
	fakeloop_advance(MINUTE);
	assert_int_equal(*get("shop/web", "x"), 'b');
	t.text = larger;
	fakeloop_advance(MINUTE);
	assert_int_equal(*get("shop/web", "x"), 'b');
	assert_non_null(strstr(t.logged, "its share of the 32 MiB"));
	/* What is released, or has shrunk, has room for others. */
	t.text = "{\"x\":\"d\"}";
	fakeloop_advance(MINUTE);
	assert_string_equal(get("shop/web", "x"), "d");
	t.text = large;
	get_of(&one, "shop/api", "second", "x");
	fakeloop_advance(10);
	assert_non_null(get_of(&one, "shop/api", "second", "x"));
	holdings_release(fakeobject("shop/api"));
	get_of(&one, "shop/last", "third", "x");
	fakeloop_advance(10);
	assert_non_null(get_of(&one, "shop/last", "third", "x"));
}

/* Each read of a lease is another one. */
static void a_refused_secret_is_read_again_after_a_quarter_of_its_time(void **state)
{
	(void)state;
	t.again_ms = 40 * MINUTE;
	t.text = "{\"pw\":\"old\"}";
	get("shop/web", "pw");
	secretvalues_reread(t.keeper, fakeobject("shop/web")); /* nothing is read yet */
	fakeloop_advance(10);
	assert_string_equal(get("shop/web", "pw"), "old");
	t.text = "{\"pw\":\"new\"}";
	fakeloop_advance(5 * MINUTE);
	secretvalues_reread(t.keeper, fakeobject("shop/stranger"));
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(5 * MINUTE - 20);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	assert_int_equal(t.reads, 1);
	fakeloop_advance(20);
	assert_int_equal(t.reads, 2);
	assert_string_equal(get("shop/web", "pw"), "new");
	/* later at once, and the next one after its whole time */
	fakeloop_advance(20 * MINUTE);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(10);
	assert_int_equal(t.reads, 3);
	fakeloop_advance(40 * MINUTE - 20);
	assert_int_equal(t.reads, 3);
	fakeloop_advance(30);
	assert_int_equal(t.reads, 4);
}

static void reads_of_refused_secrets_are_apart(void **state)
{
	(void)state;
	t.again_ms = 20 * SECOND;
	t.text = "{\"pw\":\"old\"}";
	get("shop/web", "pw");
	fakeloop_advance(10);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(APART - 20);
	assert_int_equal(t.reads, 1);
	fakeloop_advance(20);
	assert_int_equal(t.reads, 2);
	/* A read that is due sooner is not put off. */
	t.again_ms = 10 * SECOND;
	fakeloop_advance(20 * SECOND);
	assert_int_equal(t.reads, 3);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(10 * SECOND);
	assert_int_equal(t.reads, 4);
	/* A failed read has its own pause. */
	t.again_ms = 20 * SECOND;
	fakeloop_advance(10 * SECOND);
	assert_int_equal(t.reads, 5);
	t.text = NULL;
	err_set(&t.err, ERR_TEMPORARY, "HTTP 429");
	t.err.retry_after_ms = 5 * MINUTE;
	fakeloop_advance(20 * SECOND);
	assert_int_equal(t.reads, 6);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(5 * MINUTE - 20);
	assert_int_equal(t.reads, 6);
	/* A fixed one is not read. */
	t.text = "{\"pw\":\"new\"}";
	t.again_ms = 60 * MINUTE;
	t.fixed = true;
	fakeloop_advance(30 * MINUTE);
	assert_int_equal(t.reads, 7);
	secretvalues_reread(t.keeper, fakeobject("shop/web"));
	fakeloop_advance(10);
	assert_int_equal(t.reads, 7);
}

static void a_secret_is_dropped_with_its_last_owner(void **state)
{
	(void)state;
	read_pair("{\"cert\":\"C1\",\"key\":\"K1\"}");
	holdings_release(fakeobject("shop/web"));
	assert_int_equal(t.freed, 0);
	holdings_release(fakeobject("shop/api"));
	assert_int_equal(t.freed, 1);
	fakeloop_advance(5 * MINUTE);
	assert_int_equal(t.reads, 1);
	t.text = "{\"cert\":\"C2\",\"key\":\"K2\"}";
	assert_null(get("shop/web", "cert"));
	expect_err(ERR_WAITING, "db is not read yet");
	fakeloop_advance(10);
	assert_string_equal(get("shop/web", "cert"), "C2");
}

static void sources_are_told_apart(void **state)
{
	(void)state;
	t.text = "{\"x\":\"1\"}";
	get_of(&one, "shop/a", "db", "x");
	get_of(&one, "shop/b", "db", "x"); /* another hint */
	get_of(&one, "far/c", "db", "x");  /* another namespace */
	fakeloop_advance(10);
	assert_int_equal(t.reads, 1);
	get_of(&one, "shop/d", "db2", "x");
	get_of(&other, "shop/e", "db", "x");
	fakeloop_advance(10);
	assert_int_equal(t.reads, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_certificate_and_its_key_are_of_one_read),
		CASE(what_nobody_has_is_no_change),
		CASE(a_vanished_member_is_missing),
		CASE(it_is_read_again_within_a_second_to_a_day),
		CASE(a_failed_read_keeps_the_secret),
		CASE(retry_after_is_obeyed_for_ten_minutes),
		CASE(secrets_beyond_the_share_are_not_read),
		CASE(a_refused_secret_is_read_again_after_a_quarter_of_its_time),
		CASE(reads_of_refused_secrets_are_apart),
		CASE(a_secret_is_dropped_with_its_last_owner),
		CASE(sources_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
