/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logins: by token and by JWT, shared by all reads, renewed while in use, and repeated only after
 * the token has died.
 */

#include "vaultserver.h"

#include "../http/httpcworld.h"
#include "net/vault/vaultlogin.h"

static const struct vault_secret secret = { .path = "secret/x" }, forbidden = { .path = "secret/forbidden" };

static void read_until_done(struct vaultserver *s, struct outcome *o, const struct vault_login *login,
	const struct vault_secret *what)
{
	outcome_read(o, s, login, what, "pw");
	UNTIL(s->f, o->done);
}

static void by_jwt(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	struct vault_login other = vaultserver_by_jwt;

	s->hold = true;
	outcome_read(&o, s, &vaultserver_by_jwt, &secret, "pw");
	UNTIL(s->f, s->held_count == 1);
	assert_string_equal(s->last_uri, "POST /v1/auth/kubernetes/login");
	assert_string_equal(s->last_body, "{\"jwt\":\"j.w.t\",\"role\":\"app\"}");
	assert_string_equal(s->last_token, "-");
	vaultserver_release(s);
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "s3cret");
	assert_int_equal(s->lookups, 0);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 1);
	other.jwt = "another"; /* reads are not shared between logins */
	read_until_done(s, &o, &other, &secret);
	assert_int_equal(s->logins, 2);
}

static void refused_token(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	struct vault_login bad = { .token = "bad" };
	char expected[200];

	for (int i = 1; i <= 2; i++) { /* asked again each time: the token may become valid */
		read_until_done(s, &o, &bad, &secret);
		assert_int_equal(o.err.kind, ERR_DENIED);
		snprintf(expected, sizeof(expected),
			"secret/x: looking up the token: %s: HTTP 403: 1 error occurred: * permission denied", s->url);
		assert_string_equal(o.err.msg, expected);
		assert_int_equal(s->lookups, i);
		assert_int_equal(s->reads, 0);
	}
	strcpy(s->token, "bad");
	read_until_done(s, &o, &bad, &secret);
	assert_true(o.ok);
}

static void refused_login(void **state)
{
	struct vaultserver *s = *state;
	static const struct {
		int status;
		enum err_kind kind;
	} rows[] = { { 400, ERR_DENIED }, { 403, ERR_DENIED }, { 404, ERR_DENIED }, { 500, ERR_TEMPORARY } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = { 0 };
		char expected[200];

		s->status = rows[i].status;
		read_until_done(s, &o, &vaultserver_by_jwt, &secret);
		assert_int_equal(o.err.kind, rows[i].kind);
		snprintf(expected, sizeof(expected),
			"secret/x: logging in at auth/kubernetes/login: %s: HTTP %d: Vault is sealed", s->url,
			rows[i].status);
		assert_string_equal(o.err.msg, expected);
	}
}

static void a_denying_policy_causes_no_new_login(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	char expected[200];

	for (int i = 1; i <= 3; i++) {
		read_until_done(s, &o, &vaultserver_by_jwt, &forbidden);
		assert_int_equal(o.err.kind, ERR_DENIED);
		snprintf(expected, sizeof(expected), "secret/forbidden: %s: HTTP 403: permission denied", s->url);
		assert_string_equal(o.err.msg, expected);
		assert_int_equal(s->reads, i);
		assert_int_equal(s->lookups, i);
		assert_int_equal(s->logins, 1);
	}
}

static void a_revoked_token_is_replaced_once(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 }, other = { 0 };

	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	strcpy(s->token, "revoked"); /* until the next login */
	outcome_read(&o, s, &vaultserver_by_jwt, &secret, "pw");
	outcome_read(&other, s, &vaultserver_by_jwt, &(struct vault_secret){ .path = "secret/y" }, "pw");
	UNTIL(s->f, o.done && other.done);
	assert_true(o.ok && other.ok);
	assert_int_equal(s->logins, 2);
	assert_string_equal(s->last_token, "t-2");
	/* If the new one is refused, too, that is final. */
	s->deny_lookup = true;
	read_until_done(s, &o, &vaultserver_by_jwt, &forbidden);
	assert_int_equal(o.err.kind, ERR_DENIED);
	assert_int_equal(s->logins, 3);
}

static void a_revoked_given_token(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	read_until_done(s, &o, &vaultserver_by_token, &secret);
	assert_true(o.ok);
	strcpy(s->token, "other");
	read_until_done(s, &o, &vaultserver_by_token, &secret);
	assert_int_equal(o.err.kind, ERR_DENIED);
	assert_non_null(strstr(o.err.msg, "looking up the token"));
	strcpy(s->token, "t-1");
	read_until_done(s, &o, &vaultserver_by_token, &secret);
	assert_true(o.ok);
}

static void an_error_while_checking(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	s->hold = true;
	outcome_read(&o, s, &vaultserver_by_jwt, &forbidden, "pw");
	UNTIL(s->f, s->held_count == 1);
	vaultserver_release(s);
	s->status = 500; /* of the look-up that follows */
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	s->status = 0;
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 1);
}

static void an_expired_login_is_repeated(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	s->ttl_s = 1;
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	fixture_linger(s->f, 1010);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 2);
	assert_int_equal(s->renewals, 0);
	assert_int_equal(s->lookups, 0);
}

static void a_renewable_token_is_renewed_in_time(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	int64_t start_ms;

	s->ttl_s = 1;
	s->renewable = true;
	start_ms = loop_now_ms(s->f->loop);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	UNTIL(s->f, s->renewals == 1);
	/* 625 at the latest, on a machine with nothing else to do */
	assert_in_range(loop_now_ms(s->f->loop) - start_ms, 490, 999);
	assert_string_equal(s->last_uri, "POST /v1/auth/token/renew-self");
	assert_string_equal(s->last_body, "{}");
	UNTIL(s->f, s->renewals == 3);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 1);
	/* No longer renewable: it expires and is replaced. */
	s->renewable = false;
	UNTIL(s->f, s->renewals == 4);
	fixture_linger(s->f, 1050);
	assert_int_equal(s->renewals, 4);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 2);
}

static void refused_renewal(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	s->ttl_s = 1;
	s->renewable = true;
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	s->status = 400;
	UNTIL(s->f, s->renewals == 1);
	s->status = 0;
	fixture_linger(s->f, 600);
	assert_int_equal(s->renewals, 1);
	read_until_done(s, &o, &vaultserver_by_jwt, &secret);
	assert_true(o.ok);
	assert_int_equal(s->logins, 2);
}

/* A login alone, with the calls of its owner. */
struct wait {
	struct vaultlogin_waiter waiter;
	struct vaultlogin *login;
	int done;
	bool free;
	struct wait *other;
};

static void on_login(void *arg, const struct err *err)
{
	struct wait *w = arg;

	w->done++;
	assert_null(err);
	if (w->other != NULL)
		vaultlogin_leave(&w->other->waiter);
	if (w->free)
		vaultlogin_free(w->login);
}

static void waiters_come_and_go(void **state)
{
	struct vaultserver *s = *state;
	struct err err;
	struct webclient *client = webclient_new(s->f->loop, VAULTREQUEST_MS);
	struct vault_server server = { .address = s->url };
	struct vaultlogin *l;
	struct wait w[3] = { 0 };

	l = vaultlogin_new(s->f->loop, client, &server, &vaultserver_by_token, NULL, false, &err);
	for (size_t i = 0; i < 3; i++) {
		w[i].waiter.fn = on_login;
		w[i].waiter.arg = &w[i];
		w[i].login = l;
		vaultlogin_wait(l, &w[i].waiter);
	}
	w[0].other = &w[1];
	UNTIL(s->f, w[2].done);
	assert_int_equal(w[0].done, 1);
	assert_int_equal(w[1].done, 0);
	assert_string_equal(vaultlogin_token(l), "t-1");
	assert_int_equal(vaultlogin_generation(l), 1);
	assert_int_equal(vaultlogin_ends_ms(l), 0);
	assert_true(vaultlogin_in_use(l));
	vaultlogin_wait(l, &w[0].waiter);
	vaultlogin_wait(l, &w[1].waiter);
	assert_int_equal(w[0].done, 1); /* never at once */
	w[0].other = NULL;
	w[0].free = true;
	UNTIL(s->f, w[0].done == 2);
	fixture_linger(s->f, 5);
	assert_int_equal(w[1].done, 0);
	vaultlogin_leave(&w[1].waiter); /* nothing happens */
	vaultlogin_free(NULL);
	webclient_free(client);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, vaultserver_setup, vaultserver_teardown)
	const struct CMUnitTest tests[] = {
		T(by_jwt),
		T(refused_token),
		T(refused_login),
		T(a_denying_policy_causes_no_new_login),
		T(a_revoked_token_is_replaced_once),
		T(a_revoked_given_token),
		T(an_error_while_checking),
		T(an_expired_login_is_repeated),
		T(a_renewable_token_is_renewed_in_time),
		T(refused_renewal),
		T(waiters_come_and_go),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
