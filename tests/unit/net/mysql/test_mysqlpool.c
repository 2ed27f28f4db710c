/* SPDX-License-Identifier: Apache-2.0 */

/*
 * MySQL connections against a real MariaDB, which the test starts and stops (skipped if not
 * installed), and against scripted servers.
 */

#include "../fixture.h"

#include <fcntl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "mariadbserver.h"
#include "net/mysql/mysqlpool.h"
#include "net/mysql/mysqlsession.h"
#include "net/tls/tlsroots.h"

static struct mariadbserver server; /* one for all */

struct world {
	struct fixture *f;
	struct pool *pool;
};

struct outcome {
	int times;
	bool has_value;
	struct mysqlvalue value;
	struct err err;
};

static void on_outcome(void *arg, const struct mysqlvalue *value, const struct err *err)
{
	struct outcome *o = arg;

	o->times++;
	o->has_value = value != NULL;
	if (value)
		o->value = *value;
	if (err)
		o->err = *err;
	assert_true(!value != !err);
}

static struct mysqlendpoint_config config_for(const char *user, const char *password)
{
	return (struct mysqlendpoint_config){ .host = "127.0.0.1",
		.port = server.port,
		.user = user,
		.password = password,
		.database = "shop",
		.native_passwords = true };
}

static void ask_for(struct world *w, const struct mysqlendpoint_config *config, const char *query, int64_t patience_ms,
	struct outcome *o)
{
	struct err err = { 0 };
	struct mysqlendpoint *e = mysqlendpoint_new(config, &err);

	if (!e)
		fail_msg("%s", err.msg);
	memset(o, 0, sizeof(*o));
	assert_non_null(mysqlpool_ask(w->pool, e, query, loop_now_ms(w->f->loop) + patience_ms, on_outcome, o));
	assert_int_equal(o->times, 0);
	endpoint_unref(e);
}

static void asked(struct world *w, const struct mysqlendpoint_config *config, const char *query, struct outcome *o)
{
	ask_for(w, config, query, 10000, o);
	UNTIL(w->f, o->times);
}

static void expect_number(struct world *w, const struct mysqlendpoint_config *config, const char *query, double number)
{
	struct outcome o;

	asked(w, config, query, &o);
	if (!o.has_value)
		fail_msg("%s: %s", query, o.err.msg);
	assert_true(o.value.is_number);
	assert_float_equal(o.value.number, number, 1e-9);
}

static void expect_error(struct world *w, const struct mysqlendpoint_config *config, const char *query,
	enum err_kind kind, const char *text)
{
	struct outcome o;

	asked(w, config, query, &o);
	if (o.has_value)
		fail_msg("%s: an answer (row %d, NULL %d, %g), not \"%s\"", query, o.value.has_row, o.value.is_null,
			o.value.number, text);
	if (!strstr(o.err.msg, text) || o.err.kind != kind)
		fail_msg("%s: \"%s\" (%s), not \"%s\"", query, o.err.msg, err_kind_name(o.err.kind), text);
	assert_null(strstr(o.err.msg, "s3cret"));
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	if (fixture_setup((void **)&w->f))
		return -1;
	w->pool = mysqlpool_new(w->f->loop);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	pool_free(w->pool);
	fixture_teardown((void **)&w->f);
	mem_free_ptr(&w);
	return 0;
}

static int setup_real(void **state)
{
	struct world *w;

	if (setup(state))
		return -1;
	w = *state;
	if (!server.folder[0])
		mariadbserver_make(&server, w->f);
	if (!server.pid)
		mariadbserver_start(&server);
	kill(server.pid, SIGCONT); /* a failed test may have left it frozen */
	return 0;
}

/* ---- Values ---- */

static void values(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");
	struct outcome o;

	expect_number(w, &c, "SELECT COUNT(*) FROM jobs", 3);
	expect_number(w, &c, "SELECT id FROM jobs ORDER BY id", 1);
	expect_number(w, &c, "SELECT 12345678901234567890.125", 12345678901234567890.125);
	expect_number(w, &c, "SELECT 2.5e0, 'more', NULL", 2.5);
	expect_number(w, &c, "SELECT '-7.25'", -7.25);
	expect_number(w, &c, "SELECT true", 1);
	expect_number(w, &c, "SELECT AVG(id) FROM jobs", 2);
	asked(w, &c, "SELECT NULL", &o);
	assert_true(o.has_value && o.value.has_row && o.value.is_null && !o.value.is_number);
	asked(w, &c, "SELECT id FROM jobs WHERE id < 0", &o);
	assert_true(o.has_value && !o.value.has_row);
	asked(w, &c, "SELECT name FROM jobs", &o);
	assert_true(o.has_value && o.value.has_row && !o.value.is_number);
	assert_string_equal(o.value.column, "name");
	assert_int_equal(pool_connections(w->pool), 1);
	expect_error(w, &c, "SELECT nothing FROM nowhere", ERR_INVALID, "nowhere");
	expect_error(w, &c, "UPDATE jobs SET name='x' WHERE id<0", ERR_INVALID, "gives no result");
	expect_error(w, &c, "SELECT 1; SELECT 2", ERR_INVALID, "syntax");
	expect_number(w, &c, "SELECT 4", 4);
	assert_int_equal(pool_connections(w->pool), 1);
	c.multi_statements = true;
	expect_number(w, &c, "SET @a = 5; SELECT @a; SELECT 6", 5);
	expect_number(w, &c, "SELECT 7", 7);
}

static void big_answers(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");

	expect_number(w, &c, "SELECT seq FROM shop.jobs JOIN (SELECT 1 seq) x", 1);
	expect_error(w, &c, "SELECT REPEAT('9', 3000000)", ERR_INVALID, "more than");
	/*
	 * A query's own LIMIT overrides sql_select_limit: the first row counts, the rest is dropped
	 * with the connection.
	 */
	expect_number(w, &c,
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i+1 FROM n WHERE i < 900) SELECT a.i, REPEAT('x', "
		"4000) FROM n a JOIN n b LIMIT 100000",
		1);
	expect_number(w, &c, "SELECT 8", 8);
}

/* ---- Logging in ---- */

static void logins(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "wrong-s3cret"), none = config_for("none", NULL),
				    unknown = config_for("plain", "s3cret"), ed = config_for("ed", "s3cret");
	struct mysqlendpoint_config by_socket = config_for("plain", "s3cret"), by_name = by_socket, refused = by_socket;

	expect_error(w, &c, "SELECT 1", ERR_DENIED, "Access denied for user 'plain'");
	expect_number(w, &none, "SELECT 2", 2);
	unknown.database = "nope";
	expect_error(w, &unknown, "SELECT 1", ERR_INVALID, "Unknown database 'nope'");
	expect_number(w, &ed, "SELECT 3", 3);
	by_socket.host = server.socket;
	by_socket.port = 0;
	expect_number(w, &by_socket, "SELECT 4", 4);
	by_name.host = "localhost";
	expect_number(w, &by_name, "SELECT @@port", server.port);
	refused.native_passwords = false;
	expect_error(w, &refused, "SELECT 1", ERR_TEMPORARY, "allowNativePasswords is false");
}

static void session_settings(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");

	expect_number(w, &c, "SELECT @@sql_select_limit", 1);
	expect_number(w, &c, "SELECT @@max_statement_time > 1 AND @@max_statement_time < 11 AND @@autocommit", 1);
	expect_number(w, &c, "SELECT @@character_set_client = 'utf8mb4'", 1);
	c.setup[0] = "SET NAMES latin1 COLLATE latin1_german1_ci";
	c.setup[1] = "SET sort_buffer_size = 65536, sql_mode = 'ANSI'";
	expect_number(w, &c, "SELECT @@sort_buffer_size + (@@collation_connection = 'latin1_german1_ci')", 65537);
	c.setup[1] = "SET no_such_thing = 1";
	expect_error(w, &c, "SELECT 1", ERR_INVALID, "Unknown system variable 'no_such_thing'");
}

/* A query's effect on its session, and whether the connection can be reused. */
static const struct {
	const char *query;
	bool kept;
} traces[] = {
	{ "SET @x = 5; SELECT 1", true },
	{ "SET sql_mode = 'ANSI_QUOTES', time_zone = '+09:00', timestamp = 1000; SELECT 1", true },
	{ "SET NAMES latin1; SELECT 1", true },
	{ "SET sql_select_limit = 3, max_statement_time = 0; SELECT 1", true },
	{ "SET max_statement_time = 0; SELECT nothing FROM nowhere", true },
	{ "CREATE TEMPORARY TABLE jobs (id INT); SELECT 1", true },
	{ "SELECT GET_LOCK('mine', 0)", true },
	{ "LOCK TABLES jobs WRITE; SELECT 1", true },
	{ "FLUSH TABLES WITH READ LOCK; SELECT 1", true },
	{ "START TRANSACTION; DELETE FROM jobs; SELECT 1", true },
	{ "SET autocommit = 0, TRANSACTION ISOLATION LEVEL SERIALIZABLE; DELETE FROM jobs; SELECT 1", true },
	{ "PREPARE jobs FROM 'SELECT 5'; SELECT 1", true },
	{ "USE other; SELECT 1", false },
	{ "SET ROLE writer; SELECT 1", false },
	{ "SET ROLE NONE; SELECT 1", false },
};

/* 1: the state is as at login, and the other connection sees no lock and no change. */
#define UNTOUCHED                                                                                                      \
	"SELECT @x IS NULL AND @@sql_mode = @@global.sql_mode AND @@time_zone = @@global.time_zone AND @@timestamp > " \
	"1000 AND @@character_set_client = 'utf8mb4' AND @@collation_connection = 'utf8mb4_general_ci' AND "           \
	"@@sql_select_limit = 1 AND @@max_statement_time > 1 AND (SELECT COUNT(*) FROM jobs) = 3 AND "                 \
	"IS_FREE_LOCK('mine') AND @@autocommit AND NOT @@in_transaction AND DATABASE() = 'shop' AND CURRENT_ROLE() = " \
	"'reader'"

static double number_of(struct world *w, const struct mysqlendpoint_config *config, const char *query)
{
	struct outcome o;

	asked(w, config, query, &o);
	if (!o.has_value || !o.value.is_number)
		fail_msg("%s: %s", query, o.err.msg);
	return o.value.number;
}

static void queries_leave_no_trace(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret"), nowhere;
	struct outcome o;

	c.multi_statements = true;
	for (size_t i = 0; i < MEM_COUNT(traces); i++) {
		double before = number_of(w, &c, "SELECT CONNECTION_ID()");

		asked(w, &c, traces[i].query, &o);
		if (number_of(w, &c, UNTOUCHED) != 1)
			fail_msg("%s leaves a trace", traces[i].query);
		if ((number_of(w, &c, "SELECT CONNECTION_ID()") == before) != traces[i].kept)
			fail_msg("%s: the connection is %skept", traces[i].query, traces[i].kept ? "not " : "");
		mariadbserver_sql(&server, "SET lock_wait_timeout=1; ALTER TABLE shop.jobs COMMENT 'free'");
	}
	expect_error(w, &c, "EXECUTE jobs", ERR_INVALID, "prepared statement");
	nowhere = c;
	nowhere.database = NULL;
	expect_number(w, &nowhere, "USE other; SELECT 1", 1);
	expect_number(w, &nowhere, "SELECT DATABASE() IS NULL", 1);
}

/* Effects of init_connect, which runs at login only, are there for each query. */
static void init_connect_stays_in_effect(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("humble", "s3cret");

	mariadbserver_sql(&server,
		"CREATE USER humble@'%' IDENTIFIED BY 's3cret'; GRANT SELECT ON shop.* TO humble@'%'; SET GLOBAL "
		"init_connect = 'SET time_zone=''+09:00''' ");
	for (int i = 0; i < 3; i++)
		expect_number(w, &c, "SELECT @@time_zone = '+09:00'", 1);
	mariadbserver_sql(&server, "SET GLOBAL init_connect = ''");
}

static void over_tls(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("tlsonly", "s3cret"), plain = c;
	struct x509_pair other = { 0 };

	expect_error(w, &plain, "SELECT 1", ERR_DENIED, "Access denied");
	c.tls = MYSQLENDPOINT_TLS_VERIFY;
	expect_error(w, &c, "SELECT 1", ERR_TEMPORARY, "certificate"); /* the CA is not the system's */
	c.tls_config.ca_pem = server.ca_pem;
	expect_number(w, &c, "SELECT 1", 1);
	c.host = "localhost";
	expect_number(w, &c,
		"SELECT VARIABLE_VALUE LIKE 'TLSv1%' FROM information_schema.SESSION_STATUS WHERE "
		"VARIABLE_NAME='Ssl_version'",
		1);
	c.host = "127.0.0.2"; /* reachable, but not in the certificate */
	expect_error(w, &c, "SELECT 1", ERR_TEMPORARY, "certificate");
	fakepki_authority("another", (int64_t)time(NULL) * 1000, 86400, &other);
	c.host = "localhost";
	c.tls_config.ca_pem = other.cert_pem;
	expect_error(w, &c, "SELECT 1", ERR_TEMPORARY, "certificate");
	c.tls = MYSQLENDPOINT_TLS_UNVERIFIED;
	expect_number(w, &c, "SELECT 2", 2);
	c.tls = MYSQLENDPOINT_TLS_PREFERRED;
	expect_number(w, &c, "SELECT 3", 3);
	x509_pair_done(&other);
}

static int verified; /* chains verified by the shared store */

static int on_verified(int ok, X509_STORE_CTX *ctx)
{
	(void)ctx;
	verified++;
	return ok;
}

/* The connector gets no CA text. */
static void connections_share_roots(void **state)
{
	struct world *w = *state;
	struct tlsroots *roots = tlsroots_get(server.ca_pem);
	static const char *const databases[] = { "shop", "" };
	struct err err;

	X509_STORE_set_verify_cb(tlsroots_store(roots, &err), on_verified);
	for (size_t i = 0; mysqlio_has_openssl() && i < MEM_COUNT(databases); i++) {
		struct mysqlendpoint_config c = config_for("tlsonly", "s3cret");
		int before = verified;

		c.tls = MYSQLENDPOINT_TLS_VERIFY;
		c.tls_config.ca_pem = server.ca_pem;
		c.database = databases[i];
		expect_number(w, &c, "SELECT 1", 1);
		assert_true(verified > before);
	}
	tlsroots_unref(roots);
}

struct login {
	struct mysqlsession session;
	int failed;
	bool ended;
	struct err err;
};

static void operation_log_in(void *arg)
{
	struct login *l = arg;

	l->failed = mysqlsession_open(&l->session, 5000, &l->err);
}

static void on_logged_in(void *arg)
{
	struct login *l = arg;

	l->ended = true;
}

/* A final dot is valid in DNS names, but not in certificates. The name is not resolved here. */
static void a_host_with_a_final_dot(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("tlsonly", "s3cret");
	struct login l = { 0 };
	struct mysqlendpoint *e;
	struct client line;

	c.tls = MYSQLENDPOINT_TLS_VERIFY;
	c.tls_config.ca_pem = server.ca_pem;
	c.host = "localhost.";
	e = mysqlendpoint_new(&c, &l.err);
	assert_non_null(e);
	client_open(&line, server.port);
	assert_int_equal(fcntl(line.fd, F_SETFL, O_NONBLOCK), 0);
	l.session = (struct mysqlsession){ .endpoint = e, .io = mysqlio_new(w->f->loop, "", dup(line.fd)) };
	mysqlio_run(l.session.io, MYSQLSESSION_ANSWER_MAX, operation_log_in, on_logged_in, &l);
	UNTIL(w->f, l.ended);
	if (l.failed)
		fail_msg("%s", l.err.msg);
	mysqlsession_close(&l.session);
	mysqlio_free(l.session.io);
	endpoint_unref(e);
	client_close(&line);
}

/* ---- Connections ---- */

static void queries_share_a_connection(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");
	struct outcome *o = mem_array(200, sizeof(*o));

	for (int i = 0; i < 200; i++)
		ask_for(w, &c, "SELECT COUNT(*) FROM jobs", 10000, &o[i]);
	for (int i = 0; i < 200; i++) {
		UNTIL(w->f, o[i].times == 1);
		assert_true(o[i].has_value && o[i].value.number > 2.5);
	}
	assert_in_range(pool_connections(w->pool), 1, 2);
	mem_free_ptr(&o);
}

static void slow_query(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");
	struct outcome slow, quick, late;

	expect_number(w, &c, "SELECT 1", 1);
	ask_for(w, &c, "SELECT SLEEP(20)", 700, &slow);
	ask_for(w, &c, "SELECT 2", 5000, &quick);
	UNTIL(w->f, quick.times); /* on the second connection */
	assert_true(quick.has_value);
	assert_int_equal(slow.times, 0);
	UNTIL(w->f, slow.times);
	assert_false(slow.has_value);
	assert_non_null(strstr(slow.err.msg, "no answer in time"));
	expect_number(w, &c, "SELECT 3", 3);
	/* The server's limit, at least a second, ends the query before our deadline. */
	c.database = NULL;
	ask_for(w, &c,
		"SELECT COUNT(*) FROM information_schema.COLLATIONS a, information_schema.COLLATIONS b, "
		"information_schema.COLLATIONS c, information_schema.COLLATIONS d",
		3000, &late);
	UNTIL(w->f, late.times);
	if (!strstr(late.err.msg, "max_statement_time"))
		fail_msg("%s", late.err.msg);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
}

static void cancelled_and_freed(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");
	struct mysqlendpoint *e;
	struct outcome o = { 0 };
	struct pool_call *queued, *running;
	struct err err;

	expect_number(w, &c, "SELECT 1", 1);
	e = mysqlendpoint_new(&c, &err);
	running = mysqlpool_ask(w->pool, e, "SELECT SLEEP(0.2)", loop_now_ms(w->f->loop) + 3000, on_outcome, &o);
	queued = mysqlpool_ask(w->pool, e, "SELECT 2", loop_now_ms(w->f->loop) + 3000, on_outcome, &o);
	fixture_linger(w->f, 30);
	pool_cancel(queued);
	pool_cancel(running);
	expect_number(w, &c, "SELECT 3", 3);
	assert_int_equal(o.times, 0);
	mysqlpool_ask(w->pool, e, "SELECT SLEEP(5)", loop_now_ms(w->f->loop) + 9000, on_outcome, &o);
	fixture_linger(w->f, 30);
	pool_free(w->pool); /* in the middle */
	w->pool = mysqlpool_new(w->f->loop);
	mysqlpool_ask(w->pool, e, "SELECT 1", loop_now_ms(w->f->loop) + 9000, on_outcome, &o);
	pool_free(w->pool); /* while it connects */
	w->pool = mysqlpool_new(w->f->loop);
	assert_int_equal(o.times, 0);
	endpoint_unref(e);
}

static void killed_and_back(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("plain", "s3cret");
	struct outcome o;

	expect_number(w, &c, "SELECT 1", 1);
	mariadbserver_sql(&server,
		"SET @id = (SELECT id FROM information_schema.processlist WHERE user='plain' ORDER BY id DESC LIMIT "
		"1); EXECUTE IMMEDIATE CONCAT('KILL ', @id)");
	UNTIL(w->f, pool_connections(w->pool) == 0); /* detected while idle */
	expect_number(w, &c, "SELECT 2", 2);
	mariadbserver_stop(&server, SIGKILL);
	UNTIL(w->f, pool_connections(w->pool) == 0);
	expect_error(w, &c, "SELECT 3", ERR_TEMPORARY, "refused");
	ask_for(w, &c, "SELECT 3", 30, &o); /* during the back-off: the last error */
	UNTIL(w->f, o.times);
	assert_non_null(strstr(o.err.msg, "refused"));
	mariadbserver_start(&server);
	expect_number(w, &c, "SELECT 4", 4); /* the first query after it is back */
	mariadbserver_freeze(&server);
	ask_for(w, &c, "SELECT 5", 300, &o);
	UNTIL(w->f, o.times);
	if (!strstr(o.err.msg, "no answer in time"))
		fail_msg("%s", o.err.msg);
	ask_for(w, &c, "SELECT 6", 300, &o);
	UNTIL(w->f, o.times);
	assert_non_null(strstr(o.err.msg, "timed out"));
	kill(server.pid, SIGCONT);
	do
		asked(w, &c, "SELECT 7", &o);
	while (!o.has_value);
}

static void too_many_connections(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("none", NULL);
	struct outcome first;

	mariadbserver_sql(&server, "ALTER USER none@'%' WITH MAX_USER_CONNECTIONS 1; SET GLOBAL max_connections = 10");
	ask_for(w, &c, "SELECT SLEEP(3)", 10000, &first); /* a reset ends MariaDB's count of a connection */
	do
		fixture_linger(w->f, 20);
	while (pool_connections(w->pool) == 0);
	fixture_linger(w->f, 500);
	c.database = "mysql"; /* another connection */
	expect_error(w, &c, "SELECT 1", ERR_TEMPORARY, "max_user_connections");
	UNTIL(w->f, first.times);
	mariadbserver_sql(&server, "ALTER USER none@'%' WITH MAX_USER_CONNECTIONS 0; SET GLOBAL max_connections = 151");
}

static size_t resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t all, resident;

	assert_int_equal(fscanf(file, "%zu %zu", &all, &resident), 2);
	fclose(file);
	return resident * 4;
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Defined under AddressSanitizer of any compiler, which delays freeing memory. */
extern void __asan_init(void) __attribute__((weak));

static void nothing_grows(void **state)
{
	struct world *w = *state;
	struct mysqlendpoint_config c = config_for("tlsonly", "s3cret");
	size_t kib = 0;
	int fds = 0;

	c.tls = MYSQLENDPOINT_TLS_VERIFY;
	c.tls_config.ca_pem = server.ca_pem;
	for (int i = 0; i < 120; i++) {
		expect_number(w, &c, "SELECT 1", 1);
		pool_free(w->pool);
		w->pool = mysqlpool_new(w->f->loop);
		if (i == 40) {
			kib = resident_kib();
			fds = descriptors();
		}
	}
	assert_in_range(descriptors(), fds - 1, fds + 1);
	if (!__asan_init)
		assert_in_range(resident_kib(), 0, kib + 1024);
	expect_number(w, &c, "SELECT 1", 1);
	printf("# resident: %zu KiB, then %zu KiB with one TLS connection\n", kib, resident_kib());
}

static int remove_server(void **state)
{
	(void)state;
	if (server.folder[0])
		mariadbserver_remove(&server);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values, setup_real, teardown),
		cmocka_unit_test_setup_teardown(big_answers, setup_real, teardown),
		cmocka_unit_test_setup_teardown(logins, setup_real, teardown),
		cmocka_unit_test_setup_teardown(session_settings, setup_real, teardown),
		cmocka_unit_test_setup_teardown(queries_leave_no_trace, setup_real, teardown),
		cmocka_unit_test_setup_teardown(init_connect_stays_in_effect, setup_real, teardown),
		cmocka_unit_test_setup_teardown(over_tls, setup_real, teardown),
		cmocka_unit_test_setup_teardown(connections_share_roots, setup_real, teardown),
		cmocka_unit_test_setup_teardown(a_host_with_a_final_dot, setup_real, teardown),
		cmocka_unit_test_setup_teardown(queries_share_a_connection, setup_real, teardown),
		cmocka_unit_test_setup_teardown(slow_query, setup_real, teardown),
		cmocka_unit_test_setup_teardown(cancelled_and_freed, setup_real, teardown),
		cmocka_unit_test_setup_teardown(killed_and_back, setup_real, teardown),
		cmocka_unit_test_setup_teardown(too_many_connections, setup_real, teardown),
		cmocka_unit_test_setup_teardown(nothing_grows, setup_real, teardown),
	};

	if (!mariadbserver_there()) {
		puts("1..0 # SKIP there is no MariaDB server: contrib/install-deps.sh --tests");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, remove_server);
}
