/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlsession.h"

#include <errmsg.h>
#include <errno.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/tls/tlsroots.h"

#define PROGRAM_NAME "kscaled"
#define NO_FOLDER    "/nonexistent"
#define IDENTITY_MAX 4096 /* bytes, kept for each session: of a user's roles, mostly */

/* ---- Errors ---- */

/*
 * Error numbers of the server and the connector; those of the connector (2000 to 2999, and from
 * 5000 on) are temporary unless listed here.
 */
static enum err_kind kind_of(unsigned number)
{
	static const struct {
		unsigned number;
		enum err_kind kind;
	} kinds[] = {
		{ ER_ACCESS_DENIED_ERROR, ERR_DENIED },
		{ ER_DBACCESS_DENIED_ERROR, ERR_DENIED },
		{ ER_TABLEACCESS_DENIED_ERROR, ERR_DENIED },
		{ ER_COLUMNACCESS_DENIED_ERROR, ERR_DENIED },
		{ ER_HOST_NOT_PRIVILEGED, ERR_DENIED },
		{ ER_HOST_IS_BLOCKED, ERR_DENIED },
		{ 1698 /* ER_ACCESS_DENIED_NO_PASSWORD_ERROR */, ERR_DENIED },
		{ 4151 /* ER_ACCOUNT_HAS_BEEN_LOCKED */, ERR_DENIED },
		{ 1862 /* ER_MUST_CHANGE_PASSWORD_LOGIN */, ERR_DENIED },
		{ ER_CON_COUNT_ERROR, ERR_TEMPORARY },
		{ ER_TOO_MANY_USER_CONNECTIONS, ERR_TEMPORARY },
		{ ER_USER_LIMIT_REACHED, ERR_TEMPORARY },
		{ ER_SERVER_SHUTDOWN, ERR_TEMPORARY },
		{ ER_LOCK_WAIT_TIMEOUT, ERR_TEMPORARY },
		{ ER_LOCK_DEADLOCK, ERR_TEMPORARY },
		{ ER_QUERY_INTERRUPTED, ERR_TEMPORARY },
		{ 1927 /* ER_CONNECTION_KILLED */, ERR_TEMPORARY },
		{ 1969 /* ER_STATEMENT_TIMEOUT */, ERR_TEMPORARY },
		{ 3024 /* ER_QUERY_TIMEOUT */, ERR_TEMPORARY },
		{ ER_OUT_OF_RESOURCES, ERR_TEMPORARY },
	};

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (kinds[i].number == number)
			return kinds[i].kind;
	return (number >= 2000 && number < 3000) || number >= 5000 ? ERR_TEMPORARY : ERR_INVALID;
}

/* Advice to append to errors. */
static const char *hint_for(const struct mysqlsession *s, unsigned number)
{
	switch (number) {
	case CR_AUTH_PLUGIN_CANNOT_LOAD:
		return " (the connector does not support this login: the user needs mysql_native_password, "
		       "caching_sha2_password, sha256_password or client_ed25519)";
	case 5010: /* CR_PLUGIN_NOT_ALLOWED; the connector's text names the wrong one */
		return s->endpoint->native_passwords ? " (only mysql_native_password, caching_sha2_password, "
						       "sha256_password and client_ed25519 are used)"
						     : " (allowNativePasswords is false)";
	case 1969:
	case 3024: return " (the limit for one query; does an index help?)";
	default: return "";
	}
}

/* Does not show a message of a server or proxy that contains the password. */
static int tell(const struct mysqlsession *s, const char *doing, struct err *err)
{
	const char *password = s->endpoint->password, *text = mysql_error(s->mysql);
	const struct mysqlio_faults *faults = mysqlio_faults(s->io);
	unsigned number = mysql_errno(s->mysql);

	if (faults->refused_plain)
		return err_set(err, ERR_TEMPORARY, "%s: the server has no TLS: nothing was sent to it", doing);
	if (faults->bad_greeting)
		return err_set(err, ERR_TEMPORARY, "%s: the server sends no greeting: is it a MySQL or MariaDB server?",
			doing);
	if (faults->tls_flood)
		return err_set(err, ERR_TEMPORARY, "%s: the server sends too many TLS messages", doing);
	if (faults->too_much)
		return err_set(err, ERR_INVALID,
			"%s: the answer has more than %zu bytes: select one row with one number", doing,
			MYSQLSESSION_ANSWER_MAX);
	if (faults->crowded)
		return err_set(err, faults->crowded->kind, "%s: %s", doing, faults->crowded->msg);
	if (*password && strstr(text, password))
		return err_set(err, kind_of(number),
			"%s: error %u, whose text is not shown, as it contains the password", doing, number);
	return err_set(err, kind_of(number), "%s: %.300s (error %u)%s", doing,
		*text ? text : "the connector gives no reason", number, hint_for(s, number));
}

/* ---- Opening ---- */

enum pem { PEM_CA, PEM_CERT, PEM_KEY, PEM_COUNT };

/*
 * A PEM text as a file, as the connector reads only files: a memfd, which only this process can
 * open. Exists while connecting.
 */
struct pemfile {
	int fd;        /* -1: none */
	char path[32]; /* "": none */
};

static void pemfile_close(struct pemfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct pemfile){ .fd = -1 };
}

/* Without a file if pem is NULL, which is no error, and after an error. */
static int pemfile_open(struct pemfile *f, const char *pem, struct err *err)
{
	size_t len = pem ? strlen(pem) : 0;

	*f = (struct pemfile){ .fd = -1 };
	if (!pem)
		return 0;
	f->fd = memfd_create("pem", MFD_CLOEXEC);
	if (f->fd < 0 || fchmod(f->fd, S_IRUSR | S_IWUSR) < 0 || write(f->fd, pem, len) != (ssize_t)len) {
		err_set(err, ERR_TEMPORARY, "storing a certificate for the TLS library: %s", strerror(errno));
		pemfile_close(f);
		return -1;
	}
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	return 0;
}

static void set_tls(MYSQL *mysql, const struct mysqlendpoint *e, const struct pemfile *files)
{
	my_bool on = 1, verify = e->tls == MYSQLENDPOINT_TLS_VERIFY;

	mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
	/* newer connectors verify unless told not to */
	mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
	mysql_optionsv(mysql, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
	/* Otherwise the connector would read the CA or the system's roots for each connection. */
	if (mysqlio_has_openssl())
		mysql_optionsv(mysql, MYSQL_OPT_SSL_CAPATH, NO_FOLDER);
	/* A CA makes the connector verify the server. */
	else if (verify && files[PEM_CA].path[0])
		mysql_optionsv(mysql, MYSQL_OPT_SSL_CA, files[PEM_CA].path);
	if (files[PEM_CERT].path[0])
		mysql_optionsv(mysql, MYSQL_OPT_SSL_CERT, files[PEM_CERT].path);
	if (files[PEM_KEY].path[0])
		mysql_optionsv(mysql, MYSQL_OPT_SSL_KEY, files[PEM_KEY].path);
	if (e->base.tls.key_password)
		mysql_optionsv(mysql, MARIADB_OPT_TLS_PASSPHRASE, e->base.tls.key_password);
}

/* Comma-separated: the connector searches this text for the name of the server's plugin. */
static void set_plugins(MYSQL *mysql, const struct mysqlendpoint *e)
{
	MEM_AUTO char *allowed = mem_printf("caching_sha2_password,sha256_password,client_ed25519%s%s",
		e->native_passwords ? ",mysql_native_password" : "", e->clear_passwords ? ",mysql_clear_password" : "");

	mysql_optionsv(mysql, MARIADB_OPT_RESTRICTED_AUTH, allowed);
	if (!e->native_passwords)
		/* the connector would begin with the native one, whatever the server offers */
		mysql_optionsv(mysql, MYSQL_DEFAULT_AUTH, "caching_sha2_password");
}

static int refuse_file(void **handle, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	*handle = NULL;
	return 1;
}

static int refuse_read(void *handle, char *buffer, unsigned length)
{
	(void)handle;
	(void)buffer;
	(void)length;
	return -1;
}

static void refuse_end(void *handle)
{
	(void)handle;
}

static int refuse_error(void *handle, char *text, unsigned size)
{
	(void)handle;
	snprintf(text, size, "the server asks for a file of this machine, which is refused");
	return CR_UNKNOWN_ERROR;
}

static void set_options(MYSQL *mysql, const struct mysqlendpoint *e, const struct pemfile *files)
{
	unsigned none = 0, protocol = e->port ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
	/* the protocol's maximum: we count received bytes, which gives a better error */
	unsigned long packet_max = 1UL << 24, buffer = 1024;
	my_bool off = 0;

	mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &protocol);
	mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &none);
	mysql_set_local_infile_handler(mysql, refuse_file, refuse_read, refuse_end, refuse_error, NULL);
	mysql_optionsv(mysql, MYSQL_OPT_RECONNECT, &off);
	mysql_optionsv(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet_max);
	mysql_optionsv(mysql, MYSQL_OPT_NET_BUFFER_LENGTH, &buffer);
	mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", PROGRAM_NAME);
	set_plugins(mysql, e);
	if (e->tls != MYSQLENDPOINT_TLS_OFF)
		set_tls(mysql, e, files);
}

/* Removes a final dot, as names in certificates have none. */
static char *name_to_verify(const char *host)
{
	size_t len = strlen(host);

	return mem_dupn(host, len - (len > 1 && host[len - 1] == '.'));
}

static int log_in(struct mysqlsession *s, struct err *err)
{
	const struct mysqlendpoint *e = s->endpoint;
	MEM_AUTO char *host = e->port ? name_to_verify(e->host) : NULL;
	const char *path = e->port ? NULL : e->host, *database = *e->database ? e->database : NULL;
	bool secret = e->tls == MYSQLENDPOINT_TLS_VERIFY || e->tls == MYSQLENDPOINT_TLS_UNVERIFIED;
	bool own_ca = e->tls == MYSQLENDPOINT_TLS_VERIFY && e->base.tls.roots && mysqlio_has_openssl();
	X509_STORE *roots = own_ca ? tlsroots_store(e->base.tls.roots, err) : NULL;

	if (own_ca && !roots)
		return -1;
	if (mysqlio_connect(s->io, s->mysql, host, e->user, e->password, database, e->port, path,
		    e->multi_statements ? CLIENT_MULTI_STATEMENTS : 0, secret, roots))
		return tell(s, "logging in", err);
	if (secret && !mysql_get_ssl_cipher(s->mysql)) /* a safeguard: cannot happen */
		return err_set(err, ERR_BUG, "logging in: the connection is not encrypted");
	return 0;
}

/* ---- Setting up ---- */

static void drop_results(MYSQL *mysql)
{
	do {
		MYSQL_RES *result = mysql_use_result(mysql);

		if (result)
			mysql_free_result(result);
	} while (mysql_next_result(mysql) == 0);
}

static int run(struct mysqlsession *s, const char *statement)
{
	if (mysql_real_query(s->mysql, statement, strlen(statement)))
		return -1;
	drop_results(s->mysql);
	return mysql_errno(s->mysql) ? -1 : 0;
}

/*
 * Whether the session is lost after a failure. One without an error number may have left part of
 * the result unread, which the next query would take for its own.
 */
static bool lost(const struct mysqlsession *s)
{
	unsigned number = mysql_errno(s->mysql);

	return number == 0 || (number >= 2000 && number < 3000) || mysqlio_faults(s->io)->too_much;
}

/*
 * names: "NAMES ..., " or nothing, set first. The limits make the server send one row only and end
 * overdue queries; autocommit makes each query see the newest data, whatever init_connect does.
 * MySQL and MariaDB each read their own variable only; a proxy that knows neither is no error.
 */
static int set_up(struct mysqlsession *s, const char *names, struct err *err)
{
	long long limit_ms = s->limit_ms;
	char text[320];

	snprintf(text, sizeof(text),
		"SET %sSESSION sql_select_limit=1, autocommit=1/*!50708 , max_execution_time=%lld *//*M!100101 , "
		"max_statement_time=%lld.%03lld */",
		names, limit_ms, limit_ms / 1000, limit_ms % 1000);
	if (run(s, text) && lost(s))
		return tell(s, "setting up the session", err);
	for (size_t i = 0; i < 2; i++)
		if (s->endpoint->setup[i] && run(s, s->endpoint->setup[i]))
			return tell(s, "setting the variables that the connection string names", err);
	return 0;
}

/* ---- Resetting ---- */

/*
 * The state that COM_RESET_CONNECTION does not restore: current database and role; and whether
 * init_connect is set, as its statements run at login only and a reset undoes them. NULL: the
 * server cannot tell.
 */
static char *read_identity(struct mysqlsession *s)
{
	static const char query[] = "SELECT CONCAT_WS('\n', @@init_connect, IFNULL(DATABASE(), ''), CURRENT_USER()"
				    "/*!80000 , CURRENT_ROLE() *//*M!100005 , CURRENT_ROLE() */), "
				    "@@init_connect = ''";
	MYSQL_RES *result;
	MYSQL_ROW row;
	char *identity = NULL;

	if (mysql_real_query(s->mysql, query, sizeof(query) - 1) || !(result = mysql_store_result(s->mysql)))
		return NULL;
	row = mysql_fetch_row(result);
	if (mysql_num_fields(result) == 2 && row && row[0] && row[1] && strcmp(row[1], "1") == 0 &&
		strlen(row[0]) <= IDENTITY_MAX)
		identity = mem_dup(row[0]);
	mysql_free_result(result);
	return identity;
}

bool mysqlsession_restore(struct mysqlsession *s)
{
	MEM_AUTO char *identity = NULL;
	struct err unread;

	if (!s->identity || mysql_reset_connection(s->mysql))
		return false;
	identity = read_identity(s);
	/* After a reset MySQL uses its own character set, not that of the login. */
	return identity && strcmp(identity, s->identity) == 0 &&
		set_up(s, "NAMES utf8mb4 COLLATE utf8mb4_general_ci, ", &unread) == 0;
}

int mysqlsession_open(struct mysqlsession *s, int64_t limit_ms, struct err *err)
{
	const struct tls_client_config *tls = &s->endpoint->base.tls;
	const char *const pems[PEM_COUNT] = { mysqlio_has_openssl() ? NULL : tls->ca_pem, tls->cert_pem, tls->key_pem };
	struct pemfile files[PEM_COUNT];
	int failed = 0;

	s->mysql = mysql_init(NULL);
	if (!s->mysql)
		return err_set(err, ERR_BUG, "no memory for the connector");
	mysqlcolumns_limit(&s->columns, s->mysql);
	for (size_t i = 0; i < PEM_COUNT; i++)
		failed |= pemfile_open(&files[i], pems[i], err);
	if (!failed) {
		set_options(s->mysql, s->endpoint, files);
		failed = log_in(s, err);
	}
	for (size_t i = 0; i < PEM_COUNT; i++)
		pemfile_close(&files[i]);
	s->limit_ms = limit_ms;
	if (!failed)
		failed = set_up(s, "", err);
	if (!failed)
		s->identity = read_identity(s);
	if (!failed && !s->identity && mysql_errno(s->mysql) && lost(s))
		failed = tell(s, "setting up the session", err);
	if (failed)
		mysqlsession_close(s);
	return failed;
}

void mysqlsession_close(struct mysqlsession *s)
{
	if (!s->mysql)
		return;
	mysql_close(s->mysql);
	s->mysql = NULL;
	mem_free_ptr(&s->identity);
}

/* ---- Asking ---- */

/* The result of the first statement that has one; NULL: none has, or an error. */
static MYSQL_RES *first_result(MYSQL *mysql)
{
	do {
		MYSQL_RES *result = mysql_use_result(mysql);

		if (result || mysql_errno(mysql))
			return result;
	} while (mysql_next_result(mysql) == 0);
	return NULL;
}

static void take_row(MYSQL_RES *result, struct mysqlvalue *out)
{
	const MYSQL_FIELD *field = mysql_fetch_field_direct(result, 0);
	MYSQL_ROW row = mysql_fetch_row(result);
	const unsigned long *lengths = row ? mysql_fetch_lengths(result) : NULL;

	mysqlvalue_name(out, field && field->name ? field->name : "");
	if (!row)
		return;
	out->has_row = true;
	out->is_null = !row[0];
	if (row[0] && lengths)
		mysqlvalue_take(out, row[0], lengths[0]);
}

int mysqlsession_ask(struct mysqlsession *s, const char *query, struct mysqlvalue *out, bool *usable, struct err *err)
{
	MYSQL_RES *result = NULL;

	memset(out, 0, sizeof(*out));
	*usable = true;
	if (mysql_real_query(s->mysql, query, strlen(query)) ||
		(!(result = first_result(s->mysql)) && mysql_errno(s->mysql))) {
		*usable = !lost(s);
		return tell(s, "asking", err);
	}
	if (!result)
		return err_set(err, ERR_INVALID, "asking: the query gives no result: it must be a SELECT");
	take_row(result, out);
	if (!out->has_row && mysql_errno(s->mysql)) {
		*usable = !lost(s);
		tell(s, "reading the answer", err);
		mysql_free_result(result);
		return -1;
	}
	/*
	 * Skips further results; if they are too long, the connection is closed, but the value is
	 * valid.
	 */
	mysql_free_result(result);
	while (mysql_next_result(s->mysql) == 0)
		drop_results(s->mysql);
	*usable = !mysqlio_faults(s->io)->too_much && !mysql_errno(s->mysql);
	return 0;
}
