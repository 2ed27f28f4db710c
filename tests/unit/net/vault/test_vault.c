/* SPDX-License-Identifier: Apache-2.0 */

/* Reads: requests, sharing, caching and errors. test_vaultlogin.c covers logins. */

#include "vaultserver.h"

#include <ctype.h>
#include <unistd.h>

#include "../http/httpcworld.h"
#include "net/listen.h"

static const struct vault_secret certificate = { VAULT_ENGINE_PKI, "pki/issue/web", "a.example", NULL, NULL, NULL, NULL,
	"1h", NULL };

static void a_secret_is_read(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	strcat(s->url, "//");
	s->namespace_ = "team";
	s->secret = "{'lease_duration':2764800,'data':{'data':{'pw':'s3cret'},'metadata':{}}}";
	outcome_secret(&o, s, "secret/data/my app", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "s3cret");
	assert_int_equal(o.good_for_ms, 0);
	assert_string_equal(s->last_uri, "GET /v1/secret/data/my%20app");
	assert_string_equal(s->last_namespace, "team");
	assert_int_equal(s->lookups, 1);
	s->namespace_ = NULL; /* another namespace needs another login */
	outcome_secret(&o, s, "secret/data/my app", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(s->last_namespace, "-");
	assert_int_equal(s->lookups, 2);
}

static void values_are_read_anew_each_time(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	for (int i = 1; i <= 3; i++) {
		outcome_secret(&o, s, "secret/x", "pw");
		UNTIL(s->f, o.done);
		assert_int_equal(s->reads, i);
	}
	assert_int_equal(s->lookups, 1);
	s->secret = "{'data':{'pw':'changed'}}";
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "changed");
}

static void readers_share_a_login(void **state)
{
	struct vaultserver *s = *state;
	struct outcome a = { 0 }, b = { 0 }, c = { 0 };

	s->secret = "{'data':{'user':'u','pw':'p'}}";
	outcome_secret(&a, s, "secret/x", "user");
	outcome_secret(&b, s, "secret/y", "pw");
	outcome_secret(&c, s, "secret/x", "none");
	UNTIL(s->f, a.done && b.done && c.done);
	assert_int_equal(s->lookups, 1);
	assert_int_equal(s->reads, 3);
	assert_string_equal(a.value, "u");
	assert_string_equal(b.value, "p");
	assert_int_equal(c.err.kind, ERR_MISSING);
	assert_string_equal(c.err.msg, "no key \"none\"");
}

static void a_certificate_is_issued(void **state)
{
	struct vaultserver *s = *state;
	struct outcome a = { 0 };

	s->certificate_s = 3600;
	outcome_read(&a, s, &vaultserver_by_token, &certificate, "certificate");
	UNTIL(s->f, a.done);
	assert_string_equal(a.value, "CERT-1");
	assert_string_equal(s->last_uri, "POST /v1/pki/issue/web");
	assert_string_equal(s->last_body, "{\"common_name\":\"a.example\",\"ttl\":\"1h\"}");
	assert_in_range(a.good_for_ms, 2390000, 2400000);
	outcome_read(&a, s, &vaultserver_by_token, &certificate, "ca_chain");
	UNTIL(s->f, a.done);
	assert_string_equal(a.value, "A\nB");
	s->certificate_s = 1;
	outcome_read(&a, s, &vaultserver_by_token, &certificate, "certificate");
	UNTIL(s->f, a.done);
	assert_in_range(a.good_for_ms, 1, 1400);
	s->certificate_s = 0; /* without an expiration */
	outcome_read(&a, s, &vaultserver_by_token, &certificate, "certificate");
	UNTIL(s->f, a.done);
	assert_in_range(a.good_for_ms, 9000, 10000);
}

static void leases_end_with_the_token(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	s->ttl_s = 60; /* not renewable */
	s->secret = "{'lease_id':'db/1','lease_duration':3600,'data':{'pw':'dynamic'}}";
	outcome_secret(&o, s, "secret/db", "pw");
	UNTIL(s->f, o.done);
	assert_in_range(o.good_for_ms, 58000, 60000);
	assert_string_equal(o.value, "dynamic");
}

static void failures_have_their_kind(void **state)
{
	struct vaultserver *s = *state;
	char expected[300];
	static const struct {
		const char *path;
		enum err_kind kind;
		int status;
		const char *msg;
	} rows[] = {
		{ "secret/x", ERR_MISSING, 404, "HTTP 404: nothing is there" },
		{ "none/x", ERR_MISSING, 404, "HTTP 404: no handler for route" },
		{ "secret/forbidden", ERR_DENIED, 403, "HTTP 403: permission denied" },
		{ "echo", ERR_TEMPORARY, 400, "HTTP 400" }, /* the answer repeats the token */
	};

	s->secret = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = { 0 };

		outcome_secret(&o, s, rows[i].path, "pw");
		UNTIL(s->f, o.done);
		assert_false(o.ok);
		assert_int_equal(o.err.kind, rows[i].kind);
		assert_int_equal(o.err.http_status, rows[i].status);
		snprintf(expected, sizeof(expected), "%s: %s: %s", rows[i].path, s->url, rows[i].msg);
		assert_string_equal(o.err.msg, expected);
	}
}

static void invalid_settings_are_named(void **state)
{
	struct vaultserver *s = *state;
	static const struct {
		const char *address;
		struct vault_login login;
		const char *msg;
	} rows[] = {
		{ "vault:8200", { .token = "t" }, "address \"vault:8200\": must begin with http:// or https://" },
		{ "unix:///run/vault", { .token = "t" },
			"address \"unix:///run/vault\": must begin with http:// or https://" },
		{ "https://", { .token = "t" }, "address: must be a host, perhaps with a port and a path" },
		{ "https://user:pw@vault", { .token = "t" },
			"address: must be a host, perhaps with a port and a path" },
		{ "http://v", { .token = "" }, "the token is empty" },
		{ "http://v", { .token = "t\n" }, "the token contains invalid characters" },
		{ "http://v", { .jwt = "j", .role = "r" }, "a login by kubernetes needs a role and a mount" },
		{ "http://v", { .jwt = "j", .mount = "m" }, "a login by kubernetes needs a role and a mount" },
		{ "http://v", { .jwt = "", .role = "r", .mount = "m" }, "the service account's token is empty" },
		{ "http://v", { .jwt = "j", .role = "r", .mount = "" },
			"a login by kubernetes needs a role and a mount" },
		{ "http://v", { .jwt = "j", .role = "r", .mount = "../sys" },
			"mount: path \"../sys\" has \".\" or \"..\" in it" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = { 0 };

		snprintf(s->url, sizeof(s->url), "%s", rows[i].address);
		outcome_read(&o, s, &rows[i].login, &(struct vault_secret){ .path = "x" }, "y");
		UNTIL(s->f, o.done);
		assert_false(o.ok);
		assert_int_equal(o.err.kind, ERR_INVALID);
		assert_string_equal(o.err.msg, rows[i].msg);
	}
}

static void dot_segments_are_refused(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	outcome_secret(&o, s, "a/../b", "pw");
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_INVALID);
	assert_string_equal(o.err.msg, "path \"a/../b\" has \".\" or \"..\" in it");
	assert_int_equal(s->lookups, 0);
}

static void a_server_in_trouble_is_temporary(void **state)
{
	static const int statuses[] = { 429, 500, 502, 503 };
	struct vaultserver *s = *state;

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct outcome o = { 0 };
		char expected[200];

		s->status = statuses[i];
		outcome_secret(&o, s, "secret/x", "pw");
		UNTIL(s->f, o.done);
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_int_equal(o.err.retry_after_ms, 3000);
		snprintf(expected, sizeof(expected), "secret/x: looking up the token: %s: HTTP %d: Vault is sealed",
			s->url, statuses[i]);
		assert_string_equal(o.err.msg, expected);
	}
	struct outcome o = { 0 };
	s->status = 0;
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_true(o.ok);
	s->status = 503;
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	s->status = 0; /* the login is still valid */
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_true(o.ok);
	assert_int_equal(s->lookups, 5);
}

static void refused_connections(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	char expected[200];

	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", fixture_dead_port());
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	snprintf(expected, sizeof(expected), "secret/x: looking up the token: %s: Connection refused", s->url);
	assert_string_equal(o.err.msg, expected);
}

static void large_answers_are_refused(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	char *big = mem_zalloc((size_t)1200000);

	memset(big, ' ', 1199999);
	s->secret = big;
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_false(o.ok);
	assert_non_null(strstr(o.err.msg, "the answer is larger than 1048576 bytes"));
	free(big);
}

static void a_redirect_leads_back_to_the_same_server(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };

	s->redirects = 1;
	strcpy(s->active_url, s->url);
	outcome_read(&o, s, &vaultserver_by_jwt, &certificate, "private_key"); /* a POST stays a POST, with its body */
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "KEY-1");
	assert_string_equal(s->last_body, "{\"common_name\":\"a.example\",\"ttl\":\"1h\"}");
	assert_string_equal(s->last_token, "t-1");
	o = (struct outcome){ 0 };
	s->redirects = 100;
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_non_null(strstr(o.err.msg, "redirected more than once"));
}

/* Its body holds a service account's token, its header Vault's. */
static void no_redirect_leads_to_another_server(void **state)
{
	struct vaultserver *s = *state;
	const struct vault_login *const logins[] = { &vaultserver_by_token, &vaultserver_by_jwt };
	const struct vault_secret secret = { .path = "secret/x" };
	MEM_AUTO char *downgrade = mem_dup(s->url), *told = NULL;

	told = mem_printf("redirected to another server, %s, which does not get the token: give that as the address",
		s->active_url);
	for (size_t i = 0; i < MEM_COUNT(logins); i++) {
		struct outcome o = { 0 };

		s->redirects = 100;
		outcome_read(&o, s, logins[i], &secret, "pw");
		UNTIL(s->f, o.done);
		assert_non_null(strstr(o.err.msg, told));
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_string_equal(s->last_uri, ""); /* no request arrived */
	}
	/* The same host without TLS is another server. */
	vault_pool_free(s->pool);
	s->pool = vault_pool_new(s->f->loop, NULL, true);
	strcpy(s->active_url, downgrade);
	strcpy(s->url, s->secure_url);
	{
		struct outcome o = { 0 };

		outcome_secret(&o, s, "secret/x", "pw");
		UNTIL(s->f, o.done);
		assert_non_null(strstr(o.err.msg, "redirected to another server, http://"));
		assert_string_equal(s->last_uri, "");
	}
}

/* Readers of the error may not see the token. */
static void no_redirect_makes_an_error_show_what_was_sent(void **state)
{
	struct vaultserver *s = *state;
	const struct vault_login *const logins[] = { &vaultserver_by_token, &vaultserver_by_jwt };
	const char *const sent[] = { vaultserver_by_token.token, vaultserver_by_jwt.jwt };
	const struct vault_secret secret = { .path = "secret/x" };

	for (size_t i = 0; i < MEM_COUNT(logins); i++) {
		struct outcome o = { 0 };

		s->redirects = 100;
		snprintf(s->active_url, sizeof(s->active_url), "http://%s.example:81", sent[i]);
		for (char *c = s->active_url + strlen("http://"); *c; c++)
			*c = (char)toupper((unsigned char)*c);
		outcome_read(&o, s, logins[i], &secret, "pw");
		UNTIL(s->f, o.done);
		assert_non_null(strstr(o.err.msg, "redirected to another server, whose name repeats what was sent"));
		assert_null(strcasestr(o.err.msg, sent[i]));
	}
}

static void certificates_are_verified(void **state)
{
	struct vaultserver *s = *state;
	struct outcome o = { 0 };
	char file[] = "/tmp/test-vault-ca-XXXXXX";
	int fd = mkstemp(file);

	strcpy(s->url, s->secure_url);
	outcome_secret(&o, s, "secret/x", "pw"); /* the CA is not one of the system's */
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(o.err.msg, "certificate"));
	vault_pool_free(s->pool);
	s->pool = vault_pool_new(s->f->loop, file, false);
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_int_equal(o.err.kind, ERR_INVALID);
	assert_non_null(strstr(o.err.msg, ": empty"));
	assert_int_equal(write(fd, s->f->ca.cert_pem, strlen(s->f->ca.cert_pem)), (ssize_t)strlen(s->f->ca.cert_pem));
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "s3cret");
	vault_pool_free(s->pool);
	s->pool = vault_pool_new(s->f->loop, NULL, true);
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "s3cret");
	close(fd);
	unlink(file);
	vault_pool_free(s->pool);
	s->pool = vault_pool_new(s->f->loop, file, false);
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_non_null(strstr(o.err.msg, ": No such file or directory"));
}

static void on_late(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *err)
{
	struct outcome *o = arg;

	assert_null(answer);
	assert_int_equal(good_for_ms, 0);
	o->done++;
	o->err = *err;
}

static void each_call_has_its_own_deadline(void **state)
{
	struct vaultserver *s = *state;
	struct outcome early = { 0 }, late = { 0 };
	struct vault_server server = { .address = s->url };
	struct vault_secret secret = { .path = "secret/x" };
	char expected[200];

	outcome_secret(&late, s, "secret/x", "pw");
	UNTIL(s->f, late.done);
	s->hold = true;
	vault_read(s->pool, &server, &vaultserver_by_token, &secret, loop_now_ms(s->f->loop) + 20, on_late, &early);
	outcome_secret(&late, s, "secret/x", "pw");
	UNTIL(s->f, early.done);
	assert_int_equal(early.err.kind, ERR_TEMPORARY);
	snprintf(expected, sizeof(expected), "secret/x: %s: no answer in time", s->url);
	assert_string_equal(early.err.msg, expected);
	assert_int_equal(late.done, 0);
	vaultserver_release(s);
	UNTIL(s->f, late.done);
	assert_string_equal(late.value, "s3cret");
	assert_int_equal(s->reads, 3);
	/* The deadline has passed already. */
	vault_read(s->pool, &server, &vaultserver_by_token, &secret, loop_now_ms(s->f->loop) - 5, on_late, &early);
	UNTIL(s->f, early.done == 2);
}

static void cancelled_calls_get_no_callback(void **state)
{
	struct vaultserver *s = *state;
	struct outcome a = { 0 }, b = { 0 };

	vault_cancel(NULL);
	outcome_secret(&a, s, "a/../b", "pw"); /* one that ends at the end of the turn */
	vault_cancel(a.call);
	outcome_secret(&a, s, "secret/x", "pw");
	vault_cancel(a.call);
	fixture_linger(s->f, 20);
	assert_int_equal(a.done, 0);
	assert_int_equal(s->reads, 0);
	outcome_secret(&a, s, "secret/x", "pw");
	outcome_secret(&b, s, "secret/x", "pw");
	a.cancel = &b; /* from inside the other's callback */
	UNTIL(s->f, a.done);
	fixture_linger(s->f, 10);
	assert_int_equal(b.done, 0);
}

static void callbacks_may_do_anything(void **state)
{
	struct vaultserver *s = *state;
	struct outcome a = { 0 }, b = { 0 }, c = { 0 };

	a.start = &b; /* the same read, from inside the callback: starts anew */
	outcome_secret(&a, s, "secret/x", "pw");
	UNTIL(s->f, b.done);
	assert_int_equal(s->reads, 2);
	a.start = NULL;
	s->certificate_s = 60;
	for (int kept = 0; kept < 2; kept++) { /* freed in a callback, with others waiting */
		b.free_pool = true;
		outcome_read(&a, s, &vaultserver_by_token, &certificate, "certificate");
		outcome_read(&b, s, &vaultserver_by_token, &certificate, "certificate");
		outcome_read(&c, s, &vaultserver_by_token, &certificate, "certificate");
		UNTIL(s->f, b.done);
		fixture_linger(s->f, 10);
		assert_int_equal(a.done, 1);
		assert_int_equal(c.done, 0);
		s->pool = vault_pool_new(s->f->loop, NULL, false);
		b.free_pool = false;
		outcome_read(&b, s, &vaultserver_by_token, &certificate, "certificate");
		UNTIL(s->f, b.done);
	}
	b.free_pool = true;
	s->status = 500;
	outcome_secret(&b, s, "secret/x", "pw");
	outcome_secret(&c, s, "secret/x", "pw");
	UNTIL(s->f, b.done);
	fixture_linger(s->f, 10);
	assert_int_equal(c.done, 0);
}

/* ---- Shares ---- */

struct crowd {
	unsigned refused;
	char last[256];
};

static void on_crowd(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *err)
{
	struct crowd *c = arg;

	(void)good_for_ms;
	assert_null(answer);
	c->refused++;
	snprintf(c->last, sizeof(c->last), "%s", err->msg);
}

/* A silent server holds each login that waits for it. */
static void logins_of_one_namespace_leave_room(void **state)
{
	enum { MANY = 2500, SHARE = 749 };
	struct vaultserver *s = *state;
	int fd = listen_tcp("127.0.0.1", 0, NULL);
	MEM_AUTO char *silent = mem_printf("http://127.0.0.1:%u", listen_port(fd));
	const struct vault_server server = { .address = silent, .asker = "greedy" };
	const struct vault_secret secret = { .path = "secret/x" };
	struct vault_call **calls = mem_array(MANY, sizeof(*calls));
	struct crowd crowd = { 0 };
	struct outcome o = { 0 };
	int lookups;

	s->asker = "shop";
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	lookups = s->lookups;
	for (size_t i = 0; i < MANY; i++) {
		MEM_AUTO char *token = mem_printf("t%zu", i);
		const struct vault_login login = { .token = token };

		calls[i] = vault_read(s->pool, &server, &login, &secret, loop_now_ms(s->f->loop) + 600000, on_crowd,
			&crowd);
	}
	UNTIL(s->f, crowd.refused >= MANY - SHARE);
	assert_int_equal(crowd.refused, MANY - SHARE);
	assert_non_null(strstr(crowd.last, "this namespace has used up its share of the 2000"));
	outcome_secret(&o, s, "secret/x", "pw");
	UNTIL(s->f, o.done);
	assert_string_equal(o.value, "s3cret");
	assert_int_equal(s->lookups, lookups); /* its login is still there */
	for (size_t i = 0; i < SHARE; i++)
		vault_cancel(calls[i]);
	mem_free_ptr(&calls);
	close(fd);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, vaultserver_setup, vaultserver_teardown)
	const struct CMUnitTest tests[] = {
		T(a_secret_is_read),
		T(values_are_read_anew_each_time),
		T(readers_share_a_login),
		T(a_certificate_is_issued),
		T(leases_end_with_the_token),
		T(failures_have_their_kind),
		T(invalid_settings_are_named),
		T(dot_segments_are_refused),
		T(a_server_in_trouble_is_temporary),
		T(refused_connections),
		T(large_answers_are_refused),
		T(a_redirect_leads_back_to_the_same_server),
		T(no_redirect_leads_to_another_server),
		T(no_redirect_makes_an_error_show_what_was_sent),
		T(certificates_are_verified),
		T(each_call_has_its_own_deadline),
		T(cancelled_calls_get_no_callback),
		T(callbacks_may_do_anything),
		T(logins_of_one_namespace_leave_room),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
