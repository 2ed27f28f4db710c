/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Redis connections against a real redis-server, which the test starts and stops on loopback.
 * Skipped if it is not installed.
 */

#include "../fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "net/redis/redis.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"

struct world {
	struct fixture *f;
	struct pool *pool;
	char folder[64], socket[96], plain[64], tls[64];
	uint16_t plain_port, tls_port;
	pid_t pid;
};

/* ---- The server ---- */

static bool have_redis(void)
{
	return system("redis-server --version >/dev/null 2>&1") == 0;
}

static void write_file(const struct world *w, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", w->folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void write_config(const struct world *w)
{
	struct buf config = BUF_INIT(4096);

	buf_printf(&config,
		"bind 127.0.0.1\nport %u\ntls-port %u\nunixsocket %s\nsave \"\"\nappendonly no\ndir %s\ndaemonize "
		"no\nlogfile log\n",
		w->plain_port, w->tls_port, w->socket, w->folder);
	buf_printf(&config,
		"tls-cert-file serving.crt\ntls-key-file serving.key\ntls-ca-cert-file ca.crt\ntls-auth-clients "
		"optional\n");
	buf_printf(&config, "user reader on >s3cret ~* +@all\nuser picky on >s3cret ~allowed* +llen\n");
	write_file(w, "redis.conf", buf_text(&config));
	write_file(w, "ca.crt", w->f->ca.cert_pem);
	write_file(w, "serving.crt", w->f->serving.cert_pem);
	write_file(w, "serving.key", w->f->serving.key_pem);
	buf_done(&config);
}

static bool accepts(const struct world *w)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", w->socket);
	yes = connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0;
	close(fd);
	return yes;
}

static void redis_start(struct world *w)
{
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever happens to the test */
		if (chdir(w->folder) == 0)
			execlp("redis-server", "redis-server", "redis.conf", (char *)NULL);
		_exit(127);
	}
	UNTIL(w->f, accepts(w));
}

static void redis_stop(struct world *w, int signo)
{
	int status;

	if (w->pid <= 0)
		return;
	kill(w->pid, signo);
	kill(w->pid, SIGCONT);
	waitpid(w->pid, &status, 0);
	w->pid = 0;
	unlink(w->socket);
}

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	fixture_pairs(w->f);
	w->pool = redis_new(w->f->loop);
	snprintf(w->folder, sizeof(w->folder), "/tmp/redis-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	snprintf(w->socket, sizeof(w->socket), "%s/socket", w->folder);
	w->plain_port = fixture_dead_port();
	do
		w->tls_port = fixture_dead_port();
	while (w->tls_port == w->plain_port);
	snprintf(w->plain, sizeof(w->plain), "127.0.0.1:%u", w->plain_port);
	snprintf(w->tls, sizeof(w->tls), "localhost:%u", w->tls_port);
	write_config(w);
	redis_start(w);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	static const char *const files[] = { "redis.conf", "ca.crt", "serving.crt", "serving.key", "log", "dump.rdb" };
	struct world *w = *state;
	void *f = w->f;

	pool_free(w->pool);
	redis_stop(w, SIGTERM);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", w->folder, files[i]);
		unlink(path);
	}
	rmdir(w->folder);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* ---- Asking ---- */

struct result {
	int calls;
	enum redis_reply_type type;
	int64_t integer;
	size_t count;
	char text[256];
	struct err err;
};

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct result *r = arg;

	r->calls++;
	if (err) {
		r->err = *err;
		return;
	}
	r->err.kind = ERR_NONE;
	r->type = reply->type;
	r->integer = reply->integer;
	r->count = reply->count;
	snprintf(r->text, sizeof(r->text), "%s", reply->text ? reply->text : "");
}

/* Splits on blanks. */
static struct result run(struct world *w, struct redisendpoint *e, const char *command)
{
	struct result r = { 0 };
	char *copy = mem_dup(command), *rest = NULL;
	const char *argv[16];
	int argc = 0;

	for (char *word = strtok_r(copy, " ", &rest); word && argc < 16; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	redis_command(w->pool, e, argc, argv, NULL, loop_now_ms(w->f->loop) + PATIENCE_MS, on_reply, &r);
	UNTIL(w->f, r.calls);
	mem_free_ptr(&copy);
	return r;
}

static struct redisendpoint *endpoint(struct redisendpoint_config config)
{
	struct err err = { .kind = ERR_NONE };
	struct redisendpoint *e = redisendpoint_new(&config, &err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

static void every_kind_of_login_works(void **state)
{
	struct world *w = *state;
	const struct redisendpoint_config configs[] = {
		{ .address = w->plain },
		{ .address = w->socket },
		{ .address = w->plain, .username = "reader", .password = "s3cret" },
		{ .address = w->tls, .tls = true, .tls_config.ca_pem = w->f->ca.cert_pem },
		{ .address = w->tls, .tls = true, .tls_config.insecure = true },
		{ .address = w->tls,
			.tls = true,
			.tls_config.ca_pem = w->f->ca.cert_pem,
			.tls_config.cert_pem = w->f->serving.cert_pem,
			.tls_config.key_pem = w->f->serving.key_pem },
		{ .address = w->plain, .database = 5 },
		{ .address = w->tls,
			.tls = true,
			.tls_config.insecure = true,
			.username = "reader",
			.password = "s3cret",
			.database = 5 },
	};

	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
		struct redisendpoint *e = endpoint(configs[i]);
		struct result r = run(w, e, "RPUSH list a b c");

		if (r.err.kind)
			fail_msg("row %zu: %s", i, r.err.msg);
		assert_int_equal(r.type, REDIS_INTEGER);
		assert_int_equal(r.integer, i < 6 ? 3 * ((int)i + 1) : 3 * ((int)i - 5)); /* databases 0 and 5 */
		endpoint_unref(e);
	}
	assert_int_equal(pool_connections(w->pool), sizeof configs / sizeof *configs);
}

static void each_kind_of_reply(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint((struct redisendpoint_config){ .address = w->plain });
	static const struct {
		const char *command;
		enum redis_reply_type type;
		int64_t integer;
		size_t count;
		const char *text;
	} rows[] = {
		{ "PING", REDIS_STATUS, 0, 0, "PONG" },
		{ "SET s value", REDIS_STATUS, 0, 0, "OK" },
		{ "GET s", REDIS_STRING, 0, 0, "value" },
		{ "GET missing", REDIS_NIL, 0, 0, "" },
		{ "LLEN missing", REDIS_INTEGER, 0, 0, "" },
		{ "LLEN s", REDIS_ERROR, 0, 0, "WRONGTYPE Operation against a key holding the wrong kind of value" },
		{ "NOSUCH", REDIS_ERROR, 0, 0, "ERR unknown command 'NOSUCH', with args beginning with: " },
		{ "RPUSH l 1 2 3", REDIS_INTEGER, 3, 0, "" },
		{ "LRANGE l 0 -1", REDIS_ARRAY, 0, 3, "" },
		{ "EVAL return{1,{2,{3}}} 0", REDIS_ARRAY, 0, 2, "" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct result r = run(w, e, rows[i].command);

		if (r.err.kind || r.type != rows[i].type || r.integer != rows[i].integer || r.count != rows[i].count ||
			strcmp(r.text, rows[i].text) != 0)
			fail_msg("%s: %d %lld %zu '%s' %s", rows[i].command, r.type, (long long)r.integer, r.count,
				r.text, r.err.msg);
	}
	assert_int_equal(pool_connections(w->pool), 1);
	endpoint_unref(e);
}

static void wrong_credentials_are_reported(void **state)
{
	struct world *w = *state;
	struct x509_pair stranger;

	fakepki_authority("stranger", (int64_t)time(NULL) * 1000, 1000, &stranger);
	const struct {
		struct redisendpoint_config config;
		enum err_kind kind;
		const char *why;
	} rows[] = {
		{ { .address = w->plain, .username = "reader", .password = "hunter2" }, ERR_DENIED,
			"AUTH failed: WRONGPASS" },
		{ { .address = w->plain, .database = 99 }, ERR_DENIED, "SELECT failed: ERR DB index is out of range" },
		{ { .address = w->tls, .tls = true }, ERR_TEMPORARY, "TLS handshake: " },
		{ { .address = w->tls, .tls = true, .tls_config.ca_pem = stranger.cert_pem }, ERR_TEMPORARY,
			"TLS handshake: " },
		{ { .address = w->plain, .tls = true, .tls_config.insecure = true }, ERR_TEMPORARY,
			"TLS handshake: timed out (does the server speak TLS here?)" },
		{ { .address = w->tls }, ERR_TEMPORARY, "(is TLS needed? set enableTLS)" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redisendpoint *e = endpoint(rows[i].config);
		struct result r = run(w, e, "LLEN list");

		assert_int_equal(r.err.kind, rows[i].kind);
		assert_null(strstr(r.err.msg, "hunter2"));
		if (!strstr(r.err.msg, rows[i].why))
			fail_msg("row %zu: %s", i, r.err.msg);
		endpoint_unref(e);
	}
	x509_pair_done(&stranger);
}

static void a_server_without_a_password_accepts_any(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint((struct redisendpoint_config){ .address = w->plain, .password = "hunter2" });
	struct result r = run(w, e, "LLEN list");

	assert_int_equal(r.err.kind, ERR_NONE);
	assert_int_equal(r.type, REDIS_INTEGER);
	endpoint_unref(e);
}

static void a_missing_permission_is_an_error_reply(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint(
		(struct redisendpoint_config){ .address = w->plain, .username = "picky", .password = "s3cret" });
	struct result r = run(w, e, "LLEN forbidden");

	assert_int_equal(r.err.kind, ERR_NONE);
	assert_int_equal(r.type, REDIS_ERROR);
	assert_int_equal(strncmp(r.text, "NOPERM", 6), 0);
	r = run(w, e, "LLEN allowed-list");
	assert_int_equal(r.type, REDIS_INTEGER);
	endpoint_unref(e);
}

static void thousands_in_one_pipeline(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint(
		(struct redisendpoint_config){ .address = w->tls, .tls = true, .tls_config.insecure = true });
	struct result *results = mem_array(5000, sizeof(*results));
	size_t done = 0;

	for (size_t i = 0; i < 5000; i++) {
		char key[24];
		const char *argv[] = { "RPUSH", key, "x" };

		snprintf(key, sizeof(key), "k%zu", i % 50);
		redis_command(w->pool, e, 3, argv, NULL, loop_now_ms(w->f->loop) + PATIENCE_MS, on_reply, &results[i]);
	}
	while (done < 5000) {
		loop_turn(w->f->loop);
		while (done < 5000 && results[done].calls)
			done++;
	}
	for (size_t i = 0; i < 5000; i++)
		assert_int_equal(results[i].integer, i / 50 + 1);
	assert_int_equal(pool_connections(w->pool), 1);
	endpoint_unref(e);
	mem_free_ptr(&results);
}

static void arguments_may_hold_any_bytes(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint((struct redisendpoint_config){ .address = w->plain });
	const char *const argv[] = { "RPUSH", "a\0b\r\n", "x" };
	const size_t lens[] = { 5, 5, 1 };
	struct result r = { 0 };

	redis_command(w->pool, e, 3, argv, lens, loop_now_ms(w->f->loop) + PATIENCE_MS, on_reply, &r);
	UNTIL(w->f, r.calls);
	assert_int_equal(r.integer, 1);
	endpoint_unref(e);
}

static void killed_and_back(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint((struct redisendpoint_config){ .address = w->plain });
	struct result r = run(w, e, "LLEN list");

	assert_int_equal(r.err.kind, ERR_NONE);
	redis_stop(w, SIGKILL);
	UNTIL(w->f, (r = run(w, e, "LLEN list"), strstr(r.err.msg, "Connection refused")));
	redis_start(w);
	UNTIL(w->f, (r = run(w, e, "LLEN list"), r.err.kind == ERR_NONE));
	endpoint_unref(e);
}

static void a_stopped_server_times_out_and_comes_back(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint((struct redisendpoint_config){ .address = w->plain });
	struct redisendpoint *fresh = endpoint(
		(struct redisendpoint_config){ .address = w->tls, .tls = true, .tls_config.insecure = true });
	const char *const argv[] = { "LLEN", "list" };
	struct result r = run(w, e, "LLEN list"), hung = { 0 }, handshake = { 0 };

	assert_int_equal(r.err.kind, ERR_NONE);
	kill(w->pid, SIGSTOP);
	redis_command(w->pool, e, 2, argv, NULL, loop_now_ms(w->f->loop) + 200, on_reply, &hung);
	redis_command(w->pool, fresh, 2, argv, NULL, loop_now_ms(w->f->loop) + 200, on_reply, &handshake);
	UNTIL(w->f, hung.calls && handshake.calls);
	assert_int_equal(hung.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(hung.err.msg, "did not answer in time"));
	assert_non_null(strstr(handshake.err.msg, "TLS handshake: timed out"));
	kill(w->pid, SIGCONT);
	UNTIL(w->f, (r = run(w, e, "LLEN list"), r.err.kind == ERR_NONE));
	UNTIL(w->f, (r = run(w, fresh, "LLEN list"), r.err.kind == ERR_NONE));
	endpoint_unref(e);
	endpoint_unref(fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind_of_login_works, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(each_kind_of_reply, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(wrong_credentials_are_reported, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_server_without_a_password_accepts_any, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_missing_permission_is_an_error_reply, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(thousands_in_one_pipeline, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(arguments_may_hold_any_bytes, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(killed_and_back, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_stopped_server_times_out_and_comes_back, world_setup, world_teardown),
	};

	if (!have_redis()) {
		puts("1..0 # SKIP redis-server is not installed");
		return 0; /* in TAP the line above is the skip; 77 would count as an error */
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
