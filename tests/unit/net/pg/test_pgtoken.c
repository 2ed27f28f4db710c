/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logins with an identity's token as the password: when it is fetched, queries that wait for it,
 * and that it is never sent without TLS. tests/live/test_postgresql_token.py has the real server.
 */

#include "../fixture.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/identity/oauthclient.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"
#include "net/web/webtoken.h"

#define ASK_MS      1000
#define TOKEN       "{\"access_token\":\"se-cret-token\",\"expires_in\":1000}"
#define SSL_REQUEST "\0\0\0\10\4\322\26\57"

struct world {
	struct fixture *f;
	struct pg_pool *pool;
	struct webtoken_store *tokens;
	int listener;
	struct pgendpoint *endpoint;
};

static const struct identity_environment nothing = { .arg = NULL };

/* The token request in progress; NULL: none. */
static webclient_fn asking;
static void *asking_arg;
static unsigned sent;

struct webclient_call *webclient_start(struct webclient *c, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg)
{
	(void)c;
	(void)request;
	(void)options;
	assert_null(asking);
	asking = fn;
	asking_arg = arg;
	sent++;
	return (struct webclient_call *)&asking;
}

void webclient_cancel(struct webclient_call *call)
{
	if (call)
		asking = NULL;
}

int64_t webclient_timeout_ms(const struct webclient *c)
{
	(void)c;
	return 3000;
}

static void answer_token(int status, const char *body)
{
	const struct webresponse a = { .status = status, .body = body, .len = strlen(body) };
	webclient_fn fn = asking;

	assert_non_null(fn);
	asking = NULL;
	fn(asking_arg, &a, NULL);
}

static struct identity *client_of(const char *id)
{
	const struct oauthclient_config config = { .token_url = "https://t/token",
		.client_id = id,
		.client_secret = "s" };

	return oauthclient_new(&config, NULL);
}

static struct pgendpoint *endpoint_of(const char *port, const char *id, struct pgendpoint_config more, struct err *err)
{
	struct pgendpoint *e;

	more.host = "127.0.0.1";
	more.port = port;
	more.user = "me";
	more.dbname = "shop";
	more.identity = client_of(id);
	e = pgendpoint_new(&more, err);
	identity_unref(more.identity);
	return e;
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct err err = { 0 };
	uint16_t port;
	char number[8];
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	asking = NULL;
	sent = 0;
	w->f = f;
	w->tokens = webtoken_store_new(w->f->loop, NULL, &nothing);
	w->pool = pg_pool_new(w->f->loop, ASK_MS, w->tokens, NULL);
	w->listener = fixture_listen(&port);
	snprintf(number, sizeof(number), "%u", port);
	w->endpoint = endpoint_of(number, "c", (struct pgendpoint_config){ .sslmode = "require" }, &err);
	assert_non_null(w->endpoint);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pg_pool_free(w->pool);
	webtoken_store_free(w->tokens);
	endpoint_unref(w->endpoint);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

struct result {
	struct pool_call *call;
	int calls;
	struct err err;
};

static void on_answer(void *arg, const struct pg_answer *answer, const struct err *err)
{
	struct result *r = arg;

	assert_null(answer);
	r->calls++;
	r->err = *err;
}

static void ask(struct world *w, struct result *r, int64_t patience_ms)
{
	*r = (struct result){ 0 };
	r->call = pg_query(w->pool, w->endpoint, "SELECT 1", loop_now_ms(w->f->loop) + patience_ms, on_answer, r);
}

static bool try_accept(struct world *w, int *fd)
{
	*fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return *fd >= 0;
}

/* The token is fetched first, once for all waiting queries; its error is theirs. */
static void no_connection_without_a_token(void **state)
{
	struct world *w = *state;
	struct result a, b;
	int fd;

	ask(w, &a, ASK_MS);
	ask(w, &b, ASK_MS);
	UNTIL(w->f, asking);
	answer_token(403, "");
	UNTIL(w->f, a.calls == 1 && b.calls == 1);
	assert_int_equal(sent, 1);
	assert_int_equal(a.err.kind, ERR_DENIED);
	assert_non_null(strstr(a.err.msg, "/shop: OAuth token: https://t:443: no token: HTTP status 403"));
	assert_false(try_accept(w, &fd));
}

/* A server without TLS receives nothing. */
static void no_token_without_tls(void **state)
{
	struct world *w = *state;
	struct result a;
	char got[256];
	ssize_t len = -1;
	size_t all = 0;
	int fd;

	ask(w, &a, ASK_MS);
	UNTIL(w->f, asking);
	answer_token(200, TOKEN);
	UNTIL(w->f, try_accept(w, &fd));
	UNTIL(w->f, (len = recv(fd, got, sizeof(got), 0)) > 0);
	assert_int_equal(len, sizeof(SSL_REQUEST) - 1);
	assert_memory_equal(got, SSL_REQUEST, sizeof(SSL_REQUEST) - 1);
	assert_int_equal(send(fd, "N", 1, MSG_NOSIGNAL), 1);
	UNTIL(w->f, a.calls == 1);
	assert_non_null(strstr(a.err.msg, "server does not support SSL"));
	while ((len = recv(fd, got + all, sizeof(got) - all, 0)) > 0)
		all += (size_t)len;
	assert_null(memmem(got, all, "se-cret", 7));
	close(fd);
	/* The token is cached for the next one. */
	ask(w, &a, ASK_MS);
	UNTIL(w->f, try_accept(w, &fd));
	assert_int_equal(sent, 1);
	close(fd);
}

static void a_cancelled_query_cancels_the_token(void **state)
{
	struct world *w = *state;
	struct result a, b;

	ask(w, &a, ASK_MS);
	ask(w, &b, 20);
	UNTIL(w->f, asking);
	pool_cancel(a.call);
	UNTIL(w->f, b.calls == 1);
	assert_non_null(strstr(b.err.msg, "/shop: no token for the login in time"));
	assert_int_equal(a.calls, 0);
	/* teardown ends the waiting connection */
}

/* ---- Endpoints ---- */

static void tokens_need_verified_tls(void **state)
{
	static const struct {
		const char *mode, *ca, *said; /* NULL: it is taken */
	} rows[] = {
		{ "require", NULL, NULL },
		{ "verify-ca", NULL, NULL },
		{ "verify-full", NULL, NULL },
		{ "disable", NULL, "\"sslmode\" must be require, verify-ca or verify-full" },
		{ "allow", NULL, "by TLS alone" },
		{ "prefer", NULL, "by TLS alone" },
		{ NULL, NULL, "by TLS alone" },
		{ "on", NULL, "\"sslmode\" must be one of" },
		{ "require", "PEM", "parameter \"ca\" does not go together with a token of kscaled's own" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		struct pgendpoint *e = endpoint_of("1", "c",
			(struct pgendpoint_config){ .sslmode = rows[i].mode,
				.ca_pem = rows[i].ca,
				.connection = "not read",
				.password = "se-cret" },
			&err);

		if (!e == !rows[i].said)
			fail_msg("%s: %s", rows[i].mode, err.msg);
		if (!e) {
			assert_non_null(strstr(err.msg, rows[i].said));
			continue;
		}
		assert_string_equal(strmap_get(&e->settings, "sslmode"), "verify-full");
		assert_non_null(strmap_get(&e->settings, "sslrootcert"));
		assert_null(strmap_get(&e->settings, "password"));
		endpoint_unref(e);
	}
}

/* One connection per server and identity. */
static void keys(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *port = mem_printf("%u", w->endpoint->hosts[0].port);
	struct pgendpoint *same = endpoint_of(port, "c", (struct pgendpoint_config){ .sslmode = "require" }, NULL),
			  *another = endpoint_of(port, "d", (struct pgendpoint_config){ .sslmode = "require" }, NULL);
	char text[] = "FATAL: what is se-cret-token?";

	assert_string_equal(w->endpoint->base.key, same->base.key);
	assert_string_not_equal(w->endpoint->base.key, another->base.key);
	pgendpoint_clean(same, "se-cret-token", text);
	assert_string_equal(text, "FATAL: what is *************?");
	endpoint_unref(same);
	endpoint_unref(another);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_connection_without_a_token, setup, teardown),
		cmocka_unit_test_setup_teardown(no_token_without_tls, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cancelled_query_cancels_the_token, setup, teardown),
		cmocka_unit_test(tokens_need_verified_tls),
		cmocka_unit_test_setup_teardown(keys, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
