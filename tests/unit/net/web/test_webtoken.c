/* SPDX-License-Identifier: Apache-2.0 */
/* The credential store, with a fake clock and given responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeloop.h"
#include "base/mem.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsrole.h"
#include "net/identity/oauthclient.h"
#include "net/web/webtoken.h"

static struct {
	struct loop *loop;
	struct webtoken_store *store;
	webclient_fn asking; /* callback of the request in progress; NULL: none */
	void *asking_arg;
	unsigned sent;
	char *body;             /* owned; of the last request */
	const char *namespace_; /* borrowed; of the last request */
} w;

static const char *env(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "AWS_ACCESS_KEY_ID") == 0 ? "AK" : strcmp(name, "AWS_SECRET_ACCESS_KEY") == 0 ? "s" : NULL;
}

static const struct identity_environment environment = { .env = env };

struct webclient_call *webclient_start(struct webclient *c, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg)
{
	(void)c;
	w.namespace_ = options->namespace_;
	assert_string_equal(webaccess_key(options->access), "open");
	assert_null(w.asking);
	w.asking = fn;
	w.asking_arg = arg;
	w.sent++;
	free(w.body);
	w.body = mem_dup(request->body);
	return (struct webclient_call *)&w;
}

void webclient_cancel(struct webclient_call *call)
{
	if (call)
		w.asking = NULL;
}

int64_t webclient_timeout_ms(const struct webclient *c)
{
	(void)c;
	return 3000;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.loop = fakeloop_start();
	w.store = webtoken_store_new(w.loop, NULL, &environment);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	webtoken_store_free(w.store);
	free(w.body);
	fakeloop_end();
	return 0;
}

struct got {
	unsigned times;
	struct credential credential;
	struct err err;
};

static void on_credential(void *arg, const struct credential *credential, const struct err *err)
{
	struct got *g = arg;

	g->times++;
	credential_done(&g->credential);
	g->err = err ? *err : (struct err){ 0 };
	if (credential)
		credential_copy(&g->credential, credential);
}

static void answer_with(int status, const char *body, int64_t retry_after_ms)
{
	const struct webresponse a = { .status = status,
		.body = body,
		.len = strlen(body),
		.retry_after_ms = retry_after_ms };
	webclient_fn fn = w.asking;

	assert_non_null(fn);
	w.asking = NULL;
	fn(w.asking_arg, &a, NULL);
	fakeloop_advance(0);
}

static void answer(int status, const char *body)
{
	answer_with(status, body, 0);
}

static struct identity *client(void)
{
	const struct oauthclient_config config = { .token_url = "https://t/token",
		.client_id = "c",
		.client_secret = "s" };

	return oauthclient_new(&config, NULL);
}

#define TOKEN(text) "{\"access_token\":\"" text "\",\"expires_in\":1000}"

static void ask(struct got *g, struct identity *i)
{
	unsigned before = g->times;

	webtoken_ask(w.store, i, "shop", on_credential, g);
	assert_int_equal(g->times, before);
	fakeloop_advance(0);
}

static void shared_renewed_early_dropped_when_refused(void **state)
{
	struct identity *one = client(), *same = client();
	struct got a = { 0 }, b = { 0 };
	struct credential old = { 0 };

	(void)state;
	ask(&a, one);
	ask(&b, same);
	assert_int_equal(w.sent, 1);
	answer(200, TOKEN("first"));
	assert_string_equal(a.credential.token, "first");
	assert_string_equal(b.credential.token, "first");
	fakeloop_advance(799000);
	ask(&a, one);
	assert_int_equal(w.sent, 1);
	fakeloop_advance(1000); /* four fifths: in the background */
	ask(&a, one);
	assert_int_equal(a.times, 3);
	assert_int_equal(w.sent, 2);
	answer(200, TOKEN("second"));
	credential_copy(&old, &a.credential);
	ask(&a, one);
	assert_string_equal(a.credential.token, "second");
	assert_true(webtoken_reject(w.store, one, &old)); /* it was replaced already */
	ask(&a, one);
	assert_int_equal(w.sent, 2);
	assert_true(webtoken_reject(w.store, one, &a.credential));
	ask(&a, one);
	assert_int_equal(w.sent, 3);
	answer(200, TOKEN("third"));
	assert_string_equal(a.credential.token, "third");
	credential_done(&old);
	credential_done(&a.credential);
	credential_done(&b.credential);
	identity_unref(one);
	identity_unref(same);
}

/* Refused at each poll, once a second: renewed after 5 s, then 10, 20, 40, then each minute. */
static void renewals_after_refusals_back_off(void **state)
{
	static const unsigned fetched_at_s[] = { 0, 0, 5, 15, 35, 75, 135, 195 };
	struct identity *i = client();
	struct got g = { 0 };
	unsigned fetched = 0;

	(void)state;
	for (unsigned second = 0; second < 200; second++) {
		ask(&g, i);
		for (int again = 0; again < 2; again++) { /* as net/web/webauth does: retry once with the new one */
			if (w.asking) {
				assert_true(fetched < MEM_COUNT(fetched_at_s));
				assert_int_equal(second, fetched_at_s[fetched]);
				fetched++;
				answer(200, TOKEN("t"));
			}
			if (again == 0 && webtoken_reject(w.store, i, &g.credential))
				ask(&g, i);
		}
		assert_string_equal(g.credential.token, "t"); /* there is always one */
		fakeloop_advance(1000);
	}
	assert_int_equal(fetched, MEM_COUNT(fetched_at_s));
	/* After a while without refusals the renewal is immediate. */
	fakeloop_advance(120000);
	ask(&g, i);
	assert_true(webtoken_reject(w.store, i, &g.credential));
	ask(&g, i);
	answer(200, TOKEN("t"));
	assert_false(webtoken_reject(w.store, i, &g.credential));
	fakeloop_advance(5000);
	assert_true(webtoken_reject(w.store, i, &g.credential));
	credential_done(&g.credential);
	identity_unref(i);
}

static void failures_are_cached_for_a_second(void **state)
{
	struct identity *i = client();
	struct got g = { 0 };

	(void)state;
	ask(&g, i);
	answer(503, "");
	assert_int_equal(g.err.kind, ERR_TEMPORARY);
	assert_string_equal(g.err.msg, "OAuth token: https://t:443: no token: HTTP status 503");
	fakeloop_advance(999);
	ask(&g, i);
	assert_int_equal(w.sent, 1);
	assert_int_equal(g.times, 2);
	fakeloop_advance(1);
	ask(&g, i);
	assert_int_equal(w.sent, 2);
	answer(200, TOKEN("t"));
	assert_string_equal(g.credential.token, "t");
	credential_done(&g.credential);
	identity_unref(i);
}

/* With Retry-After, or by STS's error code alone; but not for ever. */
static void retry_after_is_respected(void **state)
{
	struct identity *one = client(), *role = awsrole_new("eu-west-1", "arn:r", NULL, false);
	const struct {
		struct identity *identity;
		int status;
		const char *body, *words;
		int64_t asked_ms, kept_ms;
	} rows[] = {
		{ one, 429, "", "HTTP status 429", 30000, 30000 },
		{ one, 503, "", "HTTP status 503", 3600000, 600000 },
		{ one, 503, "", "HTTP status 503", 500, 1000 },
		{ one, 403, "", "HTTP status 403", 30000, 1000 },
		{ role, 400, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>", "Throttling", 0,
			5000 },
	};
	struct got g = { 0 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		unsigned before = w.sent;

		ask(&g, rows[i].identity);
		assert_int_equal(w.sent, before + 1);
		answer_with(rows[i].status, rows[i].body, rows[i].asked_ms);
		assert_non_null(strstr(g.err.msg, rows[i].words));
		fakeloop_advance(rows[i].kept_ms - 1);
		ask(&g, rows[i].identity);
		assert_non_null(strstr(g.err.msg, rows[i].words));
		assert_int_equal(w.sent, before + 1);
		fakeloop_advance(1);
	}
	identity_unref(one);
	identity_unref(role);
}

static void cancelled_waits(void **state)
{
	struct identity *i = client();
	struct got g = { 0 };

	(void)state;
	webtoken_cancel(webtoken_ask(w.store, i, "shop", on_credential, &g));
	webtoken_cancel(NULL);
	answer(200, TOKEN("t"));
	assert_int_equal(g.times, 0);
	ask(&g, i);
	assert_int_equal(w.sent, 1);
	assert_string_equal(w.namespace_, "shop");
	assert_string_equal(g.credential.token, "t");
	credential_done(&g.credential);
	identity_unref(i);
}

/* A cached credential is returned at once; it is fetched and renewed all the same. */
static void cached_credentials(void **state)
{
	struct identity *i = client();
	const struct credential *kept;

	(void)state;
	assert_null(webtoken_cached(w.store, i, "shop"));
	assert_int_equal(w.sent, 1);
	assert_null(webtoken_cached(w.store, i, "shop"));
	answer(200, TOKEN("first"));
	kept = webtoken_cached(w.store, i, "shop");
	assert_string_equal(kept->token, "first");
	fakeloop_advance(800000);
	assert_ptr_equal(webtoken_cached(w.store, i, "shop"), kept);
	assert_int_equal(w.sent, 2);
	answer(503, "");
	fakeloop_advance(200000);
	assert_null(webtoken_cached(w.store, i, "shop"));
	identity_unref(i);
}

static void fixed_credentials(void **state)
{
	struct identity *i = awskeys_new("AK", "s", NULL, NULL);
	struct got g = { 0 };

	(void)state;
	ask(&g, i);
	assert_string_equal(g.credential.key_id, "AK");
	assert_int_equal(w.sent, 0);
	credential_done(&g.credential);
	identity_unref(i);
}

#define ROLE_KEYS                                                                                                      \
	"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>r"         \
	"</SecretAccessKey></Credentials></AssumeRoleResult></AssumeRoleResponse>"

/* A role needs another identity's keys. */
static void credentials_of_a_source(void **state)
{
	struct identity *i = awsrole_new("eu-west-1", "arn:r", NULL, false);
	struct got g = { 0 };

	(void)state;
	ask(&g, i);
	assert_int_equal(w.sent, 1);
	assert_string_equal(w.namespace_, ""); /* kscaled's own belongs to no namespace */
	assert_non_null(strstr(w.body, "Action=AssumeRole&"));
	answer(200, ROLE_KEYS);
	assert_string_equal(g.credential.key_id, "ASIA");
	/* and without a waiter at the end */
	webtoken_reject(w.store, i, &g.credential);
	webtoken_ask(w.store, i, "shop", on_credential, &g);
	webtoken_store_free(w.store);
	w.store = NULL;
	assert_null(w.asking);
	credential_done(&g.credential);
	identity_unref(i);
}

/* An expired credential, from the server or by clock skew: one exchange each 4 s. */
static void minimum_life(void **state)
{
	static const char *const lives[] = { "0", "-7", "0.05", "\"0\"", "1" };
	struct identity *i = client();
	struct got g = { 0 };

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(lives); n++) {
		MEM_AUTO char *body = mem_printf("{\"access_token\":\"t\",\"expires_in\":%s}", lives[n]);

		w.sent = 0;
		for (unsigned ms = 0; ms < 12000; ms += 10) {
			ask(&g, i);
			if (w.asking)
				answer(200, body);
			assert_string_equal(g.credential.token, "t");
			fakeloop_advance(10);
		}
		assert_int_equal(w.sent, 3);
		fakeloop_advance(10000); /* expired, and fetched again */
	}
	credential_done(&g.credential);
	identity_unref(i);
}

static void renewal_times(void **state)
{
	(void)state;
	assert_int_equal(webtoken_due_ms(3600000, 0), 2880000);
	assert_int_equal(webtoken_due_ms(3600000, 300000), 2880000);
	assert_int_equal(webtoken_due_ms(900000, 300000), 600000);
	assert_int_equal(webtoken_due_ms(60000, 300000), 30000);
	assert_int_equal(webtoken_due_ms(43200000, 300000), 34560000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shared_renewed_early_dropped_when_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(renewals_after_refusals_back_off, setup, teardown),
		cmocka_unit_test_setup_teardown(minimum_life, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_cached_for_a_second, setup, teardown),
		cmocka_unit_test_setup_teardown(retry_after_is_respected, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(cached_credentials, setup, teardown),
		cmocka_unit_test_setup_teardown(fixed_credentials, setup, teardown),
		cmocka_unit_test_setup_teardown(credentials_of_a_source, setup, teardown),
		cmocka_unit_test(renewal_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
