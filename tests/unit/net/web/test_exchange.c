/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges against our own server: number of requests, deadlines, callbacks of the kind, hidden
 * texts, and no callback after the end in any state. Then those of an identity: signatures, source
 * of the credential, and renewal after a refusal.
 */
#include "../../fakes/fakekey.h"
#include "../http/httpcworld.h"
#include "base/mem.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/googlekey.h"
#include "net/identity/oauthclient.h"
#include "net/network.h"
#include "net/sourcerules.h"
#include "net/web/webauth.h"

/* What this test's kind does, and what its callbacks received. */
struct run {
	struct webauth auth; /* or only its exchange */
	struct world *w;
	struct webclient *web;
	const char *base, *paths[4]; /* one request each; NULL: the last one's response is the end */
	unsigned step, made;
	bool forever, waits_first, asks_again, ends_at_once;
	bool refuses_pieces;
	unsigned late;
	/* Results. */
	int done, status;
	int64_t retry_after_ms;
	char body[1024], project[64];
	struct err err;
};

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct run *r = arg;
	unsigned at = r->forever ? 0 : r->step;

	if (r->waits_first && r->made == 0) {
		r->made++;
		return EXCHANGE_WAIT;
	}
	if (r->ends_at_once)
		return EXCHANGE_DONE;
	if (!r->paths[at]) {
		err_set(err, ERR_INVALID, "there is no path %u", at);
		return EXCHANGE_FAILED;
	}
	r->made++;
	if (r->auth.project)
		snprintf(r->project, sizeof(r->project), "%s", r->auth.project);
	out->url = mem_printf("%s%s", r->base, r->paths[at]);
	return EXCHANGE_SEND;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct run *r = arg;

	if (r->asks_again) {
		r->asks_again = false;
		return EXCHANGE_WAIT;
	}
	r->step++;
	r->status = response->status;
	r->retry_after_ms = response->retry_after_ms;
	snprintf(r->body, sizeof(r->body), "%s", response->body);
	if (!response->status)
		*err = *response->transport;
	else if (response->status >= 300)
		err_set(err, ERR_DENIED, "HTTP status %d: %s", response->status, response->body);
	err->retry_after_ms = response->retry_after_ms;
	if (err->kind != ERR_NONE)
		return EXCHANGE_FAILED;
	return r->forever || r->paths[r->step] ? EXCHANGE_NEXT : EXCHANGE_DONE;
}

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct run *r = arg;

	(void)bytes;
	(void)len;
	(void)kept;
	if (r->refuses_pieces)
		err_set(err, ERR_INVALID, "not of this kind");
	return !r->refuses_pieces;
}

static void on_late(void *arg, struct err *err)
{
	struct run *r = arg;

	r->late++;
	err_set(err, ERR_TEMPORARY, "it came to nothing");
}

static void on_end(void *arg, const struct err *err)
{
	struct run *r = arg;

	assert_int_equal(r->done, 0);
	r->done++;
	if (err)
		r->err = *err;
}

static const struct exchange_kind kind = { .next = on_next,
	.read = on_read,
	.piece = on_piece,
	.late = on_late,
	.end = on_end };

static void run_init(struct run *r, struct world *w)
{
	*r = (struct run){ .w = w, .web = webclient_new(w->f->loop, 3000), .base = w->plain_url };
	r->auth.exchange = (struct exchange){ .loop = w->f->loop, .client = r->web, .steps_max = 5 };
	r->auth.tokens = webtoken_store_new(w->f->loop, r->web, NULL);
}

static void run_done(struct run *r)
{
	webtoken_store_free(r->auth.tokens);
	webclient_free(r->web);
}

static void begin(struct run *r)
{
	r->step = r->made = 0;
	r->done = 0;
	err_clear(&r->err);
	exchange_start(&r->auth.exchange, &kind, r);
	assert_int_equal(r->done, 0);
}

static void finish(struct run *r)
{
	UNTIL(r->w->f, r->done);
	assert_null(r->auth.exchange.kind);
	assert_null(r->auth.exchange.request.url);
}

static void expect_err(struct run *r, enum err_kind expected, const char *part)
{
	finish(r);
	assert_int_equal(r->err.kind, expected);
	if (!strstr(r->err.msg, part))
		fail_msg("\"%s\" is not in \"%s\"", part, r->err.msg);
}

static struct webaccess *access_of(struct webaccess_config config)
{
	struct err err = { 0 };
	struct webaccess *a = webaccess_new(&config, &err);

	if (!a)
		fail_msg("%s", err.msg);
	return a;
}

/* ---- Exchanges ---- */

static void one_request_after_the_other(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/a";
	r.paths[1] = "/b";
	begin(&r);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_int_equal(r.step, 2);
	assert_non_null(strstr(r.body, "GET /b"));
	/* It can run again, also without any request. */
	r.ends_at_once = true;
	begin(&r);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	r.ends_at_once = false;
	r.paths[0] = NULL;
	begin(&r);
	expect_err(&r, ERR_INVALID, "there is no path 0");
	run_done(&r);
}

static void steps_are_limited(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/a";
	r.forever = true;
	begin(&r);
	expect_err(&r, ERR_INVALID, "more than 5 requests for one answer");
	assert_int_equal(r.made, 5);
	run_done(&r);
}

/* The request's, and the exchange's, which also ends the second request. */
static void deadlines(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/hold";
	r.auth.exchange.options.timeout_ms = 40;
	begin(&r);
	expect_err(&r, ERR_TEMPORARY, "no complete answer within 40 ms");
	assert_int_equal(r.status, 0);
	assert_int_equal(r.step, 1);
	r.paths[0] = "/a";
	r.paths[1] = "/hold";
	r.auth.exchange.options.timeout_ms = 60000;
	r.auth.exchange.options.deadline_ms = loop_now_ms(r.w->f->loop) + 100;
	begin(&r);
	expect_err(&r, ERR_TEMPORARY, "no complete answer");
	assert_int_equal(r.step, 2);
	run_done(&r);
}

/* Before the first request a wait has the exchange's deadline, then the request's. */
static void waits(void **state)
{
	struct run r;
	struct err lost = { 0 };

	run_init(&r, *state);
	r.paths[0] = "/a";
	r.waits_first = true;
	begin(&r);
	exchange_resume(&r.auth.exchange, NULL);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	/* The wait fails before the first request: the exchange fails, and read is not called. */
	begin(&r);
	err_set(&lost, ERR_DENIED, "no credential");
	exchange_resume(&r.auth.exchange, &lost);
	expect_err(&r, ERR_DENIED, "no credential");
	assert_int_equal(r.step, 0);
	r.auth.exchange.options.deadline_ms = loop_now_ms(r.w->f->loop) + 30;
	begin(&r);
	expect_err(&r, ERR_TEMPORARY, "it came to nothing");
	assert_int_equal(r.late, 1);
	assert_int_equal(r.step, 0);
	/* Sending a request again does not count as a step. */
	r.auth.exchange.options.deadline_ms = 0;
	r.waits_first = false;
	r.asks_again = true;
	begin(&r);
	UNTIL(r.w->f, !r.asks_again);
	exchange_resume(&r.auth.exchange, NULL);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_int_equal(r.made, 1);
	assert_int_equal(r.auth.exchange.step, 1);
	r.asks_again = true;
	r.auth.exchange.options.timeout_ms = 200;
	begin(&r);
	expect_err(&r, ERR_TEMPORARY, "it came to nothing");
	assert_int_equal(r.late, 2);
	assert_int_equal(r.step, 1); /* read is told that it is lost */
	run_done(&r);
}

static void redirects(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/307";
	begin(&r);
	finish(&r);
	assert_non_null(strstr(r.body, "GET /elsewhere?a=b"));
	assert_int_equal(r.step, 1);
	run_done(&r);
}

static void retry_after(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/503";
	begin(&r);
	expect_err(&r, ERR_DENIED, "HTTP status 503: busy");
	assert_int_equal(r.retry_after_ms, 7000);
	run_done(&r);
}

static void echoed_secrets_are_hidden(void **state)
{
	struct webaccess *access = access_of(
		(struct webaccess_config){ .query_name = "key", .query_value = "not here" });
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/404";
	r.auth.exchange.options.access = access;
	begin(&r);
	expect_err(&r, ERR_DENIED, "HTTP status 404; its text is not shown, as it repeats a credential");
	r.auth.exchange.options.access = NULL;
	begin(&r);
	expect_err(&r, ERR_DENIED, "HTTP status 404: not here");
	webaccess_unref(access);
	/* Only the text is. */
	access = access_of((struct webaccess_config){ .query_name = "key", .query_value = "busy" });
	r.paths[0] = "/503";
	r.auth.exchange.options.access = access;
	begin(&r);
	expect_err(&r, ERR_DENIED, "HTTP status 503; its text is not shown");
	assert_int_equal(r.err.retry_after_ms, 7000);
	webaccess_unref(access);
	run_done(&r);
}

static void pieces(void **state)
{
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/big";
	r.auth.exchange.pieces = true;
	begin(&r);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.body, "");
	r.refuses_pieces = true;
	begin(&r);
	expect_err(&r, ERR_INVALID, "not of this kind");
	assert_int_equal(r.step, 0); /* read was not called */
	run_done(&r);
}

static void cancelled_in_each_state(void **state)
{
	struct world *w = *state;
	struct run r;

	run_init(&r, w);
	exchange_done(&r.auth.exchange); /* never started */
	r.paths[0] = "/hold";
	begin(&r); /* waiting for a turn */
	exchange_done(&r.auth.exchange);
	begin(&r); /* waiting for a response */
	UNTIL(w->f, w->held_count == 1);
	exchange_done(&r.auth.exchange);
	r.waits_first = true;
	r.auth.exchange.options.deadline_ms = loop_now_ms(w->f->loop) + 10;
	begin(&r); /* waiting for exchange_resume */
	exchange_done(&r.auth.exchange);
	r.waits_first = false;
	r.paths[0] = NULL;
	begin(&r); /* ending */
	exchange_done(&r.auth.exchange);
	exchange_done(&r.auth.exchange);
	UNTIL(w->f, w->gone == 1);
	fixture_linger(w->f, 30);
	assert_int_equal(r.done, 0);
	assert_int_equal(r.late, 0);
	run_done(&r);
}

/* ---- As an identity ---- */

static void begin_as(struct run *r, struct webaccess *access)
{
	r->step = r->made = 0;
	r->done = 0;
	err_clear(&r->err);
	r->auth.exchange.options.access = access;
	webauth_start(&r->auth, &kind, r);
	assert_int_equal(r->done, 0);
}

/* AWS keys sign the request; its query is sent as signed, sorted and encoded. */
static void signatures(void **state)
{
	struct identity *keys = awskeys_new("AK", "secret", NULL, NULL);
	struct webaccess *access = access_of(
		(struct webaccess_config){ .identity = keys, .region = "eu-west-1", .service = "aps" });
	struct run r;

	run_init(&r, *state);
	r.paths[0] = "/x?b=(1)&a=2";
	begin_as(&r, access);
	finish(&r);
	assert_non_null(strstr(r.body, "GET /x?a=2&b=%281%29 auth=AWS4-HMAC-SHA256 Credential=AK/"));
	assert_non_null(strstr(r.body, "/eu-west-1/aps/aws4_request, SignedHeaders=host;x-amz-date, Signature="));
	webaccess_unref(access);
	identity_unref(keys);
	run_done(&r);
}

/*
 * An address from the environment is exempt from the rules for triggers' servers; the trigger's own
 * is not.
 */
static void operator_addresses_skip_the_rules(void **state)
{
	struct world *w = *state;
	struct identity *own = awsown_new("eu-west-1");
	struct webaccess *access = access_of(
		(struct webaccess_config){ .identity = own, .region = "eu-west-1", .service = "sqs" });
	MEM_AUTO char *busy = mem_printf("%s/503", w->plain_url), *elsewhere = mem_printf("%s/307", w->plain_url);
	struct run r;

	network_of(w->f->loop)->rules = (struct sourcerules){ .judges = true };
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", busy, 1);
	run_init(&r, w);
	r.paths[0] = "/x";
	begin_as(&r, NULL);
	expect_err(&r, ERR_TEMPORARY, "--allow-local-sources");
	begin_as(&r, access);
	expect_err(&r, ERR_TEMPORARY, "kscaled's own AWS identity: http://127.0.0.1:");
	expect_err(&r, ERR_TEMPORARY, "the container's credentials: no keys: HTTP status 503");
	run_done(&r);
	/* redirects are not followed */
	run_init(&r, w);
	r.paths[0] = "/x";
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", elsewhere, 1);
	begin_as(&r, access);
	expect_err(&r, ERR_INVALID, "no keys: HTTP status 307");
	unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	network_of(w->f->loop)->rules = (struct sourcerules){ .judges = false };
	webaccess_unref(access);
	identity_unref(own);
	run_done(&r);
}

static struct webaccess *access_by_token(const char *token_url)
{
	const struct oauthclient_config config = { .token_url = token_url, .client_id = "c", .client_secret = "s" };
	struct identity *client = oauthclient_new(&config, NULL);
	struct webaccess *access = access_of((struct webaccess_config){ .identity = client });

	identity_unref(client);
	return access;
}

static void a_token_is_sent(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *good = mem_printf("%s/token", w->plain_url), *held = mem_printf("%s/hold", w->plain_url),
		      *other = mem_printf("%s/token?other", w->plain_url);
	struct webaccess *access = access_by_token(good), *none = access_by_token(held), *late = access_by_token(other);
	struct run r;

	run_init(&r, w);
	r.paths[0] = "/x";
	begin_as(&r, access);
	finish(&r);
	assert_non_null(strstr(r.body, "GET /x auth=Bearer t"));
	/* No token comes: the request is lost at its own deadline. */
	r.auth.exchange.options.timeout_ms = 40;
	begin_as(&r, none);
	expect_err(&r, ERR_TEMPORARY, ": no OAuth token for it within 40 ms");
	assert_int_equal(r.step, 1);
	/* A token comes after the exchange ended. */
	begin_as(&r, late);
	webauth_done(&r.auth);
	UNTIL(w->f, w->tokens == 2);
	fixture_linger(w->f, 20);
	assert_int_equal(r.done, 0);
	webaccess_unref(late);
	webaccess_unref(access);
	webaccess_unref(none);
	run_done(&r);
	UNTIL(w->f, w->gone > 0);
}

/* A refused token is renewed once for each request. */
static void a_refused_token_is_renewed_once(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *good = mem_printf("%s/token", w->plain_url);
	struct webaccess *access = access_by_token(good);
	struct run r;

	run_init(&r, w);
	r.paths[0] = "/401";
	begin_as(&r, access);
	expect_err(&r, ERR_DENIED, "HTTP status 401");
	assert_int_equal(r.made, 1);
	assert_int_equal(r.step, 1); /* read gets only the second refusal */
	assert_int_equal(w->tokens, 2);
	assert_int_equal(w->refused, 2);
	webaccess_unref(access);
	run_done(&r);
}

static void a_project_comes_before_the_first_request(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *url = mem_printf("%s/token", w->plain_url), *key = fakekey_google(url, "my-project");
	struct identity *robot = googlekey_new(key, GOOGLEKEY_MONITORING_READ, NULL);
	struct webaccess *access = access_of((struct webaccess_config){ .identity = robot });
	struct run r;

	run_init(&r, w);
	r.paths[0] = "/a";
	r.paths[1] = "/b";
	r.auth.needs_project = true;
	begin_as(&r, access);
	finish(&r);
	assert_int_equal(r.err.kind, ERR_NONE);
	assert_string_equal(r.project, "my-project");
	assert_non_null(strstr(r.body, "GET /b auth=Bearer t"));
	assert_null(r.auth.project);
	assert_int_equal(w->tokens, 1);
	webaccess_unref(access);
	identity_unref(robot);
	run_done(&r);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(one_request_after_the_other),
		IN_WORLD(steps_are_limited),
		IN_WORLD(deadlines),
		IN_WORLD(waits),
		IN_WORLD(redirects),
		IN_WORLD(retry_after),
		IN_WORLD(echoed_secrets_are_hidden),
		IN_WORLD(pieces),
		IN_WORLD(cancelled_in_each_state),
		IN_WORLD(signatures),
		IN_WORLD(operator_addresses_skip_the_rules),
		IN_WORLD(a_token_is_sent),
		IN_WORLD(a_refused_token_is_renewed_once),
		IN_WORLD(a_project_comes_before_the_first_request),
	};

	world_without_proxies();
	return cmocka_run_group_tests_name("net/web/exchange", tests, NULL, NULL);
}
