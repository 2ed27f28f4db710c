/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of secret managers: shared, read again, kept while the manager fails, and released. The
 * manager is AWS's table with fake responses.
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
#include "../../fakes/fakeweb.h"

#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "cache/auth/managervalues.h"
#include "net/identity/awskeys.h"
#include "net/secretmanagers/awssecrets.h"
#include "net/secretmanagers/googlesecrets.h"

#define MINUTE (60 * 1000)
#define PLACE  "AWS Secrets Manager https://s.example:443"

static struct {
	struct secretvalues *values;
	struct webaccess *keys, *others;
	char told[256], logged[512]; /* the last line */
	struct err err;
} t;

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

static struct webaccess *access_of(const char *key_id)
{
	struct webaccess_config config = { .region = "r", .service = AWSSECRETS_SERVICE };
	struct webaccess *a;

	config.identity = awskeys_new(key_id, "secret-key", NULL, NULL);
	a = webaccess_new(&config, NULL);
	identity_unref(config.identity);
	return a;
}

static int setup(void **state)
{
	struct loop *loop = fakeloop_start();

	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(on_line, NULL);
	t.keys = access_of("AKID");
	t.others = access_of("OTHER");
	t.values = secretvalues_new(&(struct secretvalues_config){ .loop = loop,
		.web = fakeweb_start(loop),
		.tokens = fakeweb_tokens(),
		.apart_ms = 15000 });
	secretvalues_listen(t.values, on_owner, &t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	secretvalues_free(t.values);
	fakeobjects_end();
	fakeloop_advance(0);
	fakeweb_end();
	fakeloop_end();
	webaccess_unref(t.keys);
	webaccess_unref(t.others);
	log_set_sink(NULL, NULL);
	return 0;
}

static void expect_told(const char *owners)
{
	assert_string_equal(t.told, owners);
	t.told[0] = '\0';
}

static void expect_err(enum err_kind kind, const char *message)
{
	if (t.err.kind != kind || strcmp(t.err.msg, message) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(t.err.kind), t.err.msg, message);
}

/* One round of the owner. */
static enum reference_state get_as(const char *owner, const struct managervalues_source *source, const char **value)
{
	struct object *o = fakeobject(owner);
	enum reference_state state;

	err_clear(&t.err);
	holdings_begin(o);
	state = managervalues_get(t.values, o, source, value, &t.err);
	holdings_end(o);
	if (state != REFERENCE_FOUND)
		*value = NULL;
	return state;
}

static struct managervalues_source source_of(const char *name, const char *member)
{
	return (struct managervalues_source){ .manager = &awssecrets,
		.access = t.keys,
		.secret = { .endpoint = "https://s.example", .name = name },
		.member = member,
		.namespace_ = "shop" };
}

static const char *get(const char *owner, const char *member)
{
	const struct managervalues_source source = source_of("db", member);
	const char *value;

	get_as(owner, &source, &value);
	return value;
}

static void a_value_is_shared_and_read_again(void **state)
{
	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\"one\"}", 0);
	assert_null(get("shop/web", NULL));
	expect_err(ERR_WAITING, "secret db of AWS Secrets Manager is not read yet");
	assert_null(get("shop/api", ""));
	fakeloop_advance(10);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/web", NULL), "one");
	assert_string_equal(get("shop/api", NULL), "one");
	assert_int_equal(fakeweb_asked(), 1);
	assert_string_equal(fakeweb_last(), "POST https://s.example/ {\"SecretId\":\"db\"}");
	/* The same value is no change. */
	fakeloop_advance(MINUTE - 20);
	assert_int_equal(fakeweb_asked(), 1);
	fakeloop_advance(30);
	assert_int_equal(fakeweb_asked(), 2);
	expect_told("");
	fakeweb_answer(200, "{\"SecretString\":\"two\"}", 0);
	fakeloop_advance(MINUTE + 10);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/web", NULL), "two");
	/* Without holders it is not read. */
	holdings_release(fakeobject("shop/web"));
	holdings_release(fakeobject("shop/api"));
	fakeloop_advance(10 * MINUTE);
	assert_int_equal(fakeweb_asked(), 3);
}

static void members_come_from_one_read(void **state)
{
	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\"{\\\"user\\\":\\\"u\\\",\\\"pw\\\":\\\"p1\\\",\\\"n\\\":1}\"}", 0);
	get("shop/web", "user");
	get("shop/api", "pw");
	fakeloop_advance(10);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/web", "user"), "u");
	assert_string_equal(get("shop/api", "pw"), "p1");
	assert_string_equal(get("shop/api", "pw"), "p1");
	assert_null(get("shop/api", "gone"));
	expect_err(ERR_MISSING, "secret db: secretKey \"gone\": SecretKey Not Found");
	assert_null(get("shop/api", "n"));
	expect_err(ERR_INVALID, "secret db: secretKey \"n\": SecretKey value is not a string");
	assert_int_equal(fakeweb_asked(), 1);
	fakeweb_answer(200, "{\"SecretString\":\"{\\\"user\\\":\\\"u\\\",\\\"pw\\\":\\\"p2\\\"}\"}", 0);
	fakeloop_advance(MINUTE + 10);
	expect_told("shop/web shop/api ");
	assert_string_equal(get("shop/api", "pw"), "p2");
}

static size_t parsed;

json_t *__real_json_parse_foreign(const char *text, size_t len, struct err *err);
json_t *__wrap_json_parse_foreign(const char *text, size_t len, struct err *err);

json_t *__wrap_json_parse_foreign(const char *text, size_t len, struct err *err)
{
	parsed++;
	return __real_json_parse_foreign(text, len, err);
}

/* The text was parsed for each member, and for a missing one at each look-up. */
static void a_text_is_parsed_once_for_many_members(void **state)
{
	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\"{\\\"a\\\":\\\"1\\\",\\\"b\\\":\\\"2\\\"}\"}", 0);
	get("shop/web", "a");
	fakeloop_advance(10);
	for (int turn = 1; turn <= 3; turn++) {
		parsed = 0;
		assert_string_equal(get("shop/web", "a"), "1");
		assert_string_equal(get("shop/api", "b"), "2");
		for (int i = 0; i < 100; i++) {
			MEM_AUTO char *gone = mem_printf("gone%d", i);

			assert_null(get("shop/api", gone));
		}
		assert_int_equal(parsed, 1);
		fakeloop_advance(10);
	}
	/* a new text, in whichever turn */
	fakeweb_answer(200, "{\"SecretString\":\"{\\\"gone1\\\":\\\"3\\\"}\"}", 0);
	fakeloop_advance(MINUTE + 10);
	assert_string_equal(get("shop/web", "gone1"), "3");
}

static void different_sources_are_read_separately(void **state)
{
	struct managervalues_source sources[5];
	const char *value;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		sources[i] = source_of("db", NULL);
	sources[1].access = t.others;
	sources[2].secret.version = "v";
	sources[3].secret.stage = "v";
	sources[4].secret.endpoint = "https://other.example";
	fakeweb_answer(200, "{\"SecretString\":\"x\"}", 0);
	for (size_t i = 0; i < 5; i++) {
		MEM_AUTO char *owner = mem_printf("shop/%zu", i);

		get_as(owner, &sources[i], &value);
	}
	fakeloop_advance(10);
	assert_int_equal(fakeweb_asked(), 5);
	/* A fixed version does not change: it is read each hour. */
	fakeloop_advance(2 * MINUTE + 10);
	assert_int_equal(fakeweb_asked(), 5 + 2 * 4);
	fakeloop_advance(58 * MINUTE + 1000);
	assert_int_equal(fakeweb_asked(), 5 + 60 * 4 + 1);
	sources[0].secret.version = sources[0].secret.stage = "";
	get_as("shop/0", &sources[0], &value);
	assert_string_equal(value, "x");
}

static void a_failure_keeps_the_value(void **state)
{
	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\"s3cret\"}", 0);
	get("shop/web", NULL);
	fakeloop_advance(10);
	expect_told("shop/web ");
	fakeweb_fail(ERR_TEMPORARY, "https://s.example:443: refused");
	fakeloop_advance(5 * MINUTE);
	assert_true(fakeweb_asked() > 8);
	expect_told("");
	assert_string_equal(get("shop/web", NULL), "s3cret");
	assert_non_null(strstr(t.logged,
		"AWS Secrets Manager: https://s.example:443: refused; the value read before stays in use"));
	assert_null(strstr(t.logged, "s3cret"));
	fakeweb_answer(400, "{\"__type\":\"ResourceNotFoundException\"}", 0);
	fakeloop_advance(MINUTE + 10);
	assert_string_equal(get("shop/web", NULL), "s3cret");
	fakeweb_answer(200, "{\"SecretString\":\"s3cret2\"}", 0);
	fakeloop_advance(MINUTE + 10);
	expect_told("shop/web ");
	assert_string_equal(get("shop/web", NULL), "s3cret2");
}

/*
 * A rotation, which the source notices first. Sources that refuse for other reasons cause few
 * reads.
 */
static void a_refused_value_is_read_again_soon(void **state)
{
	const struct managervalues_source pinned = { .manager = &awssecrets,
		.access = t.keys,
		.secret = { .endpoint = "https://s.example", .name = "db", .version = "v" },
		.namespace_ = "shop" };
	const char *value;

	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\"old\"}", 0);
	get("shop/web", NULL);
	secretvalues_reread(t.values, fakeobject("shop/web")); /* nothing is read yet */
	fakeloop_advance(10);
	expect_told("shop/web ");
	assert_string_equal(get("shop/web", NULL), "old");
	fakeweb_answer(200, "{\"SecretString\":\"new\"}", 0);
	for (int i = 0; i < 14; i++) { /* with each poll */
		secretvalues_reread(t.values, fakeobject("shop/web"));
		secretvalues_reread(t.values, fakeobject("shop/stranger"));
		fakeloop_advance(1000);
	}
	assert_int_equal(fakeweb_asked(), 1);
	fakeloop_advance(1000);
	assert_int_equal(fakeweb_asked(), 2);
	expect_told("shop/web ");
	assert_string_equal(get("shop/web", NULL), "new");
	/* after a while: at once */
	fakeloop_advance(20000);
	secretvalues_reread(t.values, fakeobject("shop/web"));
	fakeloop_advance(10);
	assert_int_equal(fakeweb_asked(), 3);
	expect_told("");
	fakeloop_advance(MINUTE - 20);
	assert_int_equal(fakeweb_asked(), 3);
	fakeloop_advance(30);
	assert_int_equal(fakeweb_asked(), 4);
	/* a fixed version is not read again */
	get_as("shop/pinned", &pinned, &value);
	fakeloop_advance(20000);
	secretvalues_reread(t.values, fakeobject("shop/pinned"));
	fakeloop_advance(10);
	assert_int_equal(fakeweb_asked(), 5);
}

/* Treated as a failed read: an empty parameter would be an error. */
static void an_empty_value_is_an_error(void **state)
{
	(void)state;
	fakeweb_answer(200, "{\"SecretString\":\" \\n\"}", 0);
	get("shop/web", NULL);
	fakeloop_advance(10);
	assert_null(get("shop/web", NULL));
	expect_err(ERR_INVALID, PLACE ": secret db: its value is empty");
	fakeweb_answer(200, "{\"SecretString\":\"one\"}", 0);
	fakeloop_advance(1010);
	assert_string_equal(get("shop/web", NULL), "one");
	fakeweb_answer(200, "{\"SecretString\":\"\"}", 0);
	fakeloop_advance(MINUTE + 10);
	assert_string_equal(get("shop/web", NULL), "one");
}

static void failures_are_reported_once_by_kind(void **state)
{
	static const struct {
		int status;
		const char *body, *message;
		enum err_kind kind;
		enum reference_state state;
	} rows[] = {
		{ 503, "", PLACE ": secret db: HTTP status 503", ERR_TEMPORARY, REFERENCE_UNREAD },
		{ 400, "{\"__type\":\"ResourceNotFoundException\"}",
			PLACE ": secret db: HTTP status 400, ResourceNotFoundException", ERR_MISSING,
			REFERENCE_MISSING },
		{ 400, "{\"__type\":\"AccessDeniedException\"}",
			PLACE ": secret db: HTTP status 400, AccessDeniedException; missing permission: "
			      "secretsmanager:GetSecretValue",
			ERR_DENIED, REFERENCE_DENIED },
		{ 200, "{}", PLACE ": secret db: its value (SecretString) is not a string", ERR_INVALID,
			REFERENCE_MISSING },
	};
	const struct managervalues_source source = source_of("db", "pw");
	const char *value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fakeweb_answer(rows[i].status, rows[i].body, 0);
		get_as("shop/web", &source, &value);
		fakeloop_advance(MINUTE + 10);
		expect_told("shop/web ");
		assert_int_equal(get_as("shop/web", &source, &value), rows[i].state);
		expect_err(rows[i].kind, rows[i].message);
		fakeloop_advance(5 * MINUTE);
		expect_told("");
	}
}

static void retry_after(void **state)
{
	unsigned asked;

	(void)state;
	fakeweb_answer(429, "", 2 * MINUTE);
	get("shop/web", NULL);
	fakeloop_advance(2 * MINUTE - 10);
	assert_int_equal(fakeweb_asked(), 1);
	fakeweb_answer(429, "", INT64_C(1000) * MINUTE);
	fakeloop_advance(30);
	asked = fakeweb_asked();
	assert_int_equal(asked, 2);
	fakeloop_advance(9 * MINUTE);
	assert_int_equal(fakeweb_asked(), asked);
	fakeloop_advance(MINUTE + 20);
	assert_int_equal(fakeweb_asked(), asked + 1);
}

/* It comes with the identity's token. */
static void project_of_the_identity(void **state)
{
	char *project = (char[]){ "home" };
	struct managervalues_source source = { .manager = &googlesecrets,
		.access = t.keys,
		.secret = { .endpoint = "https://s.example", .name = "db" } };
	const char *value;

	(void)state;
	fakeweb_answer(200, "{\"payload\":{\"data\":\"eA==\"}}", 0);
	fakeweb_no_token(ERR_DENIED, "Google token: no");
	get_as("shop/web", &source, &value);
	fakeloop_advance(10);
	assert_int_equal(get_as("shop/web", &source, &value), REFERENCE_DENIED);
	expect_err(ERR_DENIED, "Google Secret Manager https://s.example:443: Google token: no");
	assert_int_equal(fakeweb_asked(), 0);
	fakeweb_project(NULL);
	fakeloop_advance(MINUTE);
	assert_int_equal(get_as("shop/web", &source, &value), REFERENCE_MISSING);
	expect_err(ERR_INVALID,
		"Google Secret Manager https://s.example:443: secret db: its project is not known: set "
		"CLOUDSDK_CORE_PROJECT in kscaled's environment");
	fakeweb_project(project);
	fakeloop_advance(MINUTE + 20);
	get_as("shop/web", &source, &value);
	assert_string_equal(value, "x");
	assert_string_equal(fakeweb_last(),
		"GET https://s.example/v1/projects/home/secrets/db/versions/latest:access ");
	source.secret.project = "shop";
	get_as("shop/web", &source, &value);
	fakeloop_advance(10);
	assert_string_equal(fakeweb_last(),
		"GET https://s.example/v1/projects/shop/secrets/db/versions/latest:access ");
	source.secret.project = NULL;
	get_as("shop/api", &source, &value);
	fakeloop_advance(2); /* its token is being asked for */
	holdings_release(fakeobject("shop/api"));
}

static void a_request_ends_with_its_last_holder(void **state)
{
	(void)state;
	fakeweb_hang();
	get("shop/web", NULL);
	fakeloop_advance(10);
	assert_int_equal(fakeweb_asked(), 1);
	holdings_release(fakeobject("shop/web"));
	fakeweb_end();
	/* An invalid name. */
	get_as("shop/web",
		&(struct managervalues_source){ .manager = &awssecrets,
			.access = t.keys,
			.secret = { .endpoint = "https://s.example", .name = "\xff" } },
		&(const char *){ NULL });
	fakeloop_advance(10);
	assert_int_equal(fakeweb_asked(), 1);
	assert_non_null(strstr(t.logged, PLACE ": its name, version or stage is not UTF-8"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_value_is_shared_and_read_again),
		CASE(members_come_from_one_read),
		CASE(a_text_is_parsed_once_for_many_members),
		CASE(different_sources_are_read_separately),
		CASE(a_failure_keeps_the_value),
		CASE(a_refused_value_is_read_again_soon),
		CASE(an_empty_value_is_an_error),
		CASE(failures_are_reported_once_by_kind),
		CASE(retry_after),
		CASE(project_of_the_identity),
		CASE(a_request_ends_with_its_last_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
