/* SPDX-License-Identifier: Apache-2.0 */
/* Logins and choice of members, against a scripted server. */
#include "../../fakes/h2server.h"
#include "../../net/fixture.h"

#include <stdio.h>

#include "base/mem.h"
#include "scalers/etcd/etcdsession.h"

static struct {
	struct fixture *f;
	struct h2server *server;
	struct scaler_sources sources;
	struct etcdcluster *cluster; /* an unused port first, then the server */
	bool (*answer)(unsigned request, uint32_t stream, struct buf *out);
} w;

static bool on_request(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	(void)arg;
	assert_string_equal(buf_text(message), "\x0a\x02me\x12\x06secret");
	return w.answer(request, stream, out);
}

static struct etcdcluster *make_cluster(const char *first, const char *username)
{
	char second[64];
	char *members[] = { (char *)(uintptr_t)first, second };
	const struct etcdcluster_config config = { .members = *first ? members : members + 1,
		.count = *first ? 2 : 1,
		.username = username,
		.password = username ? "secret" : NULL };

	snprintf(second, sizeof(second), "127.0.0.1:%u", h2server_port(w.server));
	return etcdcluster_new(&config, NULL);
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	w.f = *state;
	w.server = h2server_start(w.f->loop, on_request, NULL);
	w.sources = (struct scaler_sources){ .loop = w.f->loop, .grpc = grpc_pool_new(w.f->loop) };
	etcdsession_part.begin(&w.sources);
	w.cluster = make_cluster("", "me");
	return 0;
}

static int teardown(void **state)
{
	etcdsession_part.end(&w.sources);
	grpc_pool_free(w.sources.grpc);
	etcdcluster_unref(w.cluster);
	h2server_end(w.server);
	return fixture_teardown(state);
}

/* The result of an entry. */
struct result {
	struct etcdsession_entry *entry;
	struct etcdsession_pass pass;
	int done;
	char text[512]; /* the token's header, or the error */
};

static void on_pass(void *arg, const struct etcdsession_pass *pass, const struct err *err)
{
	struct result *r = arg;

	r->done++;
	r->entry = NULL;
	if (pass)
		r->pass = *pass;
	snprintf(r->text, sizeof(r->text), "%s%s", err ? "! " : "",
		err                      ? err->msg
			: pass->metadata ? pass->metadata[0]
					 : "nobody");
}

static void enter(struct result *r, struct etcdcluster *cluster, int64_t within_ms)
{
	*r = (struct result){ 0 };
	r->entry = etcdsession_enter(w.sources.etcd, cluster, "shop", loop_now_ms(w.f->loop) + within_ms, on_pass, r);
	assert_int_equal(r->done, 0);
}

static void expect(struct result *r, const char *text)
{
	UNTIL(w.f, r->done);
	if (!strstr(r->text, text))
		fail_msg("\"%s\", not \"%s\"", r->text, text);
	assert_int_equal(r->done, 1);
}

static bool give_token(unsigned request, uint32_t stream, struct buf *out)
{
	char message[16];

	snprintf(message, sizeof(message), "\x12\x05tok.%u", request);
	h2server_answer(out, stream, message, strlen(message));
	return true;
}

static bool refuse(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_trailers_only(out, stream, "3", "authentication failed%2C not secret");
	return true;
}

static bool no_users(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_trailers_only(out, stream, "9", "etcdserver: authentication is not enabled");
	return true;
}

static bool say_nothing(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	(void)stream;
	(void)out;
	return true;
}

static void one_login_serves_all(void **state)
{
	struct result r[5];

	(void)state;
	w.answer = give_token;
	for (int i = 0; i < 4; i++)
		enter(&r[i], w.cluster, 5000);
	etcdsession_leave(r[1].entry);
	expect(&r[0], "token: tok.0");
	expect(&r[2], "token: tok.0");
	expect(&r[3], "token: tok.0");
	enter(&r[4], w.cluster, 5000);
	expect(&r[4], "token: tok.0");
	assert_int_equal(r[1].done, 0);
	assert_int_equal(h2server_requests(w.server), 1);
}

/* Only a complaint about the current token drops it. */
static void a_token_is_dropped_once(void **state)
{
	struct result a, b;
	struct err err = { .kind = ERR_DENIED, .msg = "Range: UNAUTHENTICATED: etcdserver: invalid auth token" };

	(void)state;
	w.answer = give_token;
	enter(&a, w.cluster, 5000);
	expect(&a, "token: tok.0");
	assert_int_equal(etcdsession_complain(w.sources.etcd, w.cluster, &a.pass, &err), ETCDSESSION_TOKEN);
	enter(&b, w.cluster, 5000);
	expect(&b, "token: tok.1");
	assert_int_equal(etcdsession_complain(w.sources.etcd, w.cluster, &a.pass, &err), ETCDSESSION_TOKEN);
	enter(&b, w.cluster, 5000);
	expect(&b, "token: tok.1");
	assert_int_equal(h2server_requests(w.server), 2);
}

static void a_refused_login_is_an_error(void **state)
{
	struct result a, b;

	(void)state;
	w.answer = refuse;
	enter(&a, w.cluster, 5000);
	enter(&b, w.cluster, 5000);
	expect(&a, "the server's message is not shown, as it contains the password");
	expect(&b, "message is not shown");
	assert_int_equal(h2server_requests(w.server), 1);
	w.answer = give_token;
	enter(&a, w.cluster, 5000);
	expect(&a, "token: tok.1");
}

static void disabled_authentication_needs_no_token(void **state)
{
	struct result r;
	struct err err = { .kind = ERR_INVALID, .msg = "Range: INVALID_ARGUMENT: etcdserver: user name is empty" };

	(void)state;
	w.answer = no_users;
	enter(&r, w.cluster, 5000);
	expect(&r, "nobody");
	enter(&r, w.cluster, 5000);
	expect(&r, "nobody");
	assert_int_equal(h2server_requests(w.server), 1);
	w.answer = give_token; /* authentication was enabled */
	assert_int_equal(etcdsession_complain(w.sources.etcd, w.cluster, &r.pass, &err), ETCDSESSION_TOKEN);
	enter(&r, w.cluster, 5000);
	expect(&r, "token: tok.1");
}

static void without_a_user_there_is_no_login(void **state)
{
	struct etcdcluster *cluster = make_cluster("", NULL);
	struct result r;
	struct err err = { .kind = ERR_INVALID, .msg = "user name is empty" };

	(void)state;
	enter(&r, cluster, 5000);
	expect(&r, "nobody");
	assert_int_equal(etcdsession_complain(w.sources.etcd, cluster, &r.pass, &err), ETCDSESSION_NO);
	assert_int_equal(h2server_requests(w.server), 0);
	etcdcluster_unref(cluster);
}

static void the_next_member_is_tried(void **state)
{
	struct etcdcluster *cluster = make_cluster("127.0.0.1:1", "me");
	struct result r;
	struct err down = { .kind = ERR_TEMPORARY, .msg = "Range: Connection refused" },
		   wrong = { .kind = ERR_INVALID, .msg = "Range: INVALID_ARGUMENT" };

	(void)state;
	w.answer = give_token;
	enter(&r, cluster, 5000);
	expect(&r, "token: tok.0");
	assert_int_equal(r.pass.member, 1);
	assert_int_equal(etcdsession_complain(w.sources.etcd, cluster, &r.pass, &wrong), ETCDSESSION_NO);
	assert_int_equal(etcdsession_complain(w.sources.etcd, cluster, &r.pass, &down), ETCDSESSION_MEMBER);
	assert_int_equal(etcdsession_complain(w.sources.etcd, cluster, &r.pass, &down),
		ETCDSESSION_MEMBER); /* about the same token */
	enter(&r, cluster, 5000);
	expect(&r, "token: tok.0");
	assert_int_equal(r.pass.member, 0);
	etcdcluster_unref(cluster);
}

static void each_has_its_own_deadline(void **state)
{
	struct result a, b;

	(void)state;
	w.answer = say_nothing;
	enter(&a, w.cluster, 700);
	enter(&b, w.cluster, 100);
	expect(&b, "the login took too long");
	assert_int_equal(a.done, 0);
	UNTIL(w.f, a.done);
	assert_int_equal(a.text[0], '!');
	enter(&a, w.cluster, 5000);
	etcdsession_leave(a.entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_login_serves_all, setup, teardown),
		cmocka_unit_test_setup_teardown(a_token_is_dropped_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_login_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(disabled_authentication_needs_no_token, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_user_there_is_no_login, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_member_is_tried, setup, teardown),
		cmocka_unit_test_setup_teardown(each_has_its_own_deadline, setup, teardown),
	};

	return cmocka_run_group_tests_name("scalers/etcd/etcdsession", tests, NULL, NULL);
}
