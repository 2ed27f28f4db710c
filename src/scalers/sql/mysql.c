/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `mysql`: the first column of the first row of a query, on MySQL or MariaDB (KEDA's
 * pkg/scalers/mysql_scaler.go).
 */
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/mysql/mysqlpool.h"
#include "net/tls/tlsrules.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/sql/mysqldsn.h"
#include "scalers/types.h"

#define DEFAULT_PORT "3306"

struct mysql {
	char *query;
	struct mysqlendpoint *endpoint;
};

/* ---- Parameters ---- */

static const char *const tls_words[] = {
	/* the driver's, by enum mysqlendpoint_tls */
	[MYSQLENDPOINT_TLS_OFF] = "false",
	[MYSQLENDPOINT_TLS_VERIFY] = "true",
	[MYSQLENDPOINT_TLS_UNVERIFIED] = "skip-verify",
	[MYSQLENDPOINT_TLS_PREFERRED] = "preferred",
	NULL,
};
#define TLS_UNSAID MEM_COUNT(tls_words)

#define AT(field) offsetof(struct mysql, field)
static const struct param_row rows[] = {
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "statement that yields one number" },
	{ "queryValue", PARAM_TARGET, "m", .required = true, .help = "target: value per replica" },
	{ "activationQueryValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
	{ "metricName", PARAM_IGNORED, "m", .help = "ignored, as in KEDA" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct mysql_login {
	char *string, *host, *port, *user, *password, *database;
	unsigned tls;
	char *ca, *cert, *key, *key_password;
};

/*
 * Lookup orders are as in KEDA. KEDA lacks tls and the four rows after it, and hostFromEnv and the
 * like, although its manual mentions these.
 */
#define LOGIN_AT(field) offsetof(struct mysql_login, field)
static const struct param_row login_rows[] = {
	{ "connectionString", PARAM_TEXT, "ae", LOGIN_AT(string),
		.help = "user:password@tcp(host:port)/database, instead of the parts" },
	{ "host", PARAM_TEXT, "mae", LOGIN_AT(host), .help = "server" },
	{ "port", PARAM_TEXT, "mae", LOGIN_AT(port), .help = "port" },
	{ "username", PARAM_TEXT, "mae", LOGIN_AT(user), .help = "user" },
	{ "password", PARAM_TEXT, "ae", LOGIN_AT(password), .help = "password of the user" },
	{ "dbName", PARAM_TEXT, "mae", LOGIN_AT(database), .help = "database" },
	{ "tls", PARAM_CHOICE, "ma", LOGIN_AT(tls), .words = tls_words, .help = "TLS mode" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

/*
 * Without a connection string. KEDA joins host and port and the driver splits them again; errors
 * are reported here.
 */
static int read_single(const struct mysql_login *f, struct mysqldsn *dsn, struct err *err)
{
	MEM_AUTO char *joined = NULL;

	dsn->user = mem_dup(f->user);
	dsn->password = mem_dup(f->password);
	dsn->database = mem_dup(f->database);
	if (!f->host)
		return err_set_about(err, "host",
			"no host given: set host, port, username, password and dbName, or connectionString in a "
			"TriggerAuthentication, or connectionStringFromEnv");
	if (!f->user)
		return err_set_about(err, "username", "no username given");
	if (f->host[0] == '/' && !f->port) {
		dsn->host = mem_dup(f->host);
		return 0;
	}
	if (strpbrk(f->host, "/@,"))
		return params_wrong(err, "host",
			"must be a name or an address only: set the port by parameter \"port\"");
	joined = hostport_join_text(f->host, f->port ? f->port : DEFAULT_PORT);
	if (mysqldsn_address(joined, &dsn->host, &dsn->port, err))
		return err_wrap(err, "parameters \"host\" and \"port\""), err_about(err, f->port ? "port" : "host");
	return 0;
}

/*
 * "preferred" falls back to plaintext, so it does not satisfy a TLS requirement. A Unix socket is
 * local.
 */
static int demand_tls(const struct mysqldsn *dsn, struct err *err)
{
	return tlsrules_demand(dsn->port == 0 || dsn->tls == MYSQLENDPOINT_TLS_VERIFY ||
			dsn->tls == MYSQLENDPOINT_TLS_UNVERIFIED,
		"set tls to \"true\" or \"skip-verify\"", err);
}

static int read_tls(const struct mysql_login *f, struct mysqldsn *dsn, struct err *err)
{
	if (f->tls != TLS_UNSAID && dsn->tls_given)
		return params_wrong(err, "tls", ": the connection string sets tls already");
	if (f->tls != TLS_UNSAID)
		dsn->tls = (enum mysqlendpoint_tls)f->tls;
	if (params_check_pair("cert", f->cert, "key", f->key, err))
		return -1;
	if (!f->ca && !f->cert)
		return demand_tls(dsn, err);
	if (f->tls == TLS_UNSAID && !dsn->tls_given)
		dsn->tls = MYSQLENDPOINT_TLS_VERIFY;
	if (dsn->tls == MYSQLENDPOINT_TLS_OFF)
		return err_set(err, ERR_INVALID, "parameter \"%s\" is given, but tls is false", f->ca ? "ca" : "cert");
	if (f->ca && dsn->tls != MYSQLENDPOINT_TLS_VERIFY)
		return params_wrong(err, "ca", "is given, but tls=%s does not verify the server: remove one of them",
			tls_words[dsn->tls]);
	return demand_tls(dsn, err);
}

/* As in the driver: SET NAMES first, then all variables in one statement. */
static struct mysqlendpoint *make_endpoint(const struct mysql_login *f, const struct mysqldsn *d,
	const char *namespace_, struct err *err)
{
	MEM_AUTO char *names = d->charset || d->collation
		? mem_printf("SET NAMES %s%s%s", d->charset ? d->charset : "utf8mb4", d->collation ? " COLLATE " : "",
			  d->collation ? d->collation : "")
		: NULL;
	char *variables = d->variables ? mem_printf("SET %s", d->variables) : NULL;
	struct mysqlendpoint_config config = {
		.namespace_ = namespace_,
		.host = d->host,
		.port = d->port,
		.user = d->user,
		.password = d->password,
		.database = d->database,
		.tls = d->tls,
		.tls_config.ca_pem = f->ca,
		.tls_config.cert_pem = f->cert,
		.tls_config.key_pem = f->key,
		.tls_config.key_password = f->key_password,
		.setup = { names, variables },
		.native_passwords = d->native_passwords,
		.clear_passwords = d->clear_passwords,
		.multi_statements = d->multi_statements,
	};
	struct mysqlendpoint *e = mysqlendpoint_new(&config, err);

	mem_free_secret(variables);
	return e;
}

static int connect_to(struct scaler_build *b, const struct mysql_login *f, struct err *err)
{
	struct mysqldsn dsn = { .native_passwords = true };
	struct mysql *q = b->data;
	int read;

	/* A connection string takes precedence. */
	if (f->string)
		read = mysqldsn_parse(f->string, &dsn, err) ? err_about(err, "connectionString") : 0;
	else
		read = read_single(f, &dsn, err);
	if (read == 0 && read_tls(f, &dsn, err) == 0)
		q->endpoint = make_endpoint(f, &dsn, b->params->namespace_, err);
	mysqldsn_done(&dsn);
	if (!q->endpoint)
		return -1;
	b->source = mem_printf("mysql %s", q->endpoint->base.name);
	params_add_key(b, q->endpoint->base.key);
	return 0;
}

/* Checks the address once all its parts are known, whatever else is unknown. */
static int judge_address(const struct scaler_params *params, const struct mysql_login *f, struct err *err)
{
	static const size_t parts[] = { LOGIN_AT(string), LOGIN_AT(host), LOGIN_AT(port), LOGIN_AT(user) };
	struct mysqldsn dsn = { 0 };
	int rc = 0;

	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (params_is_unknown(&login_table, params, parts[i]))
			return 0;
	if (!f->string)
		rc = read_single(f, &dsn, err);
	mysqldsn_done(&dsn);
	return rc;
}

/*
 * KEDA names the metric by the part of the connection string after the last slash, including its
 * parameters; the parser has refused anything there that could be a password. Otherwise by dbName,
 * which KEDA does not read from the environment.
 */
static char *make_metric_name(const struct scaler_params *params, const struct mysql_login *f)
{
	static const struct param_row row = { "dbName", PARAM_TEXT, "ma", 0, .required = false };
	static const struct param_table named = { &row, 1, true };
	const char *slash = f->string ? strrchr(f->string, '/') : NULL;
	char *database = NULL, *name;

	if (!f->string)
		params_read(&named, params, &database, NULL);
	name = mem_printf("mysql-%s", slash ? slash + 1 : f->string ? f->string : database ? database : "");
	params_done(&named, &database);
	return name;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct mysql_login *f = params_login(b, sizeof(*f));

	f->tls = TLS_UNSAID;
	if (params_read_rows(b, &login_table, 0, f, err))
		return -1;
	if (b->open)
		return judge_address(b->params, f, err);
	b->metric_name = make_metric_name(b->params, f);
	return connect_to(b, f, err);
}

static void data_done(void *data)
{
	endpoint_unref(((struct mysql *)data)->endpoint);
}

/* ---- Asking ---- */

/* The value is not shown: it may be confidential. */
static void tell_no_number(const char *source, const struct mysqlvalue *value, struct err *err)
{
	if (!value->has_row)
		err_set(err, ERR_INVALID,
			"%s: the query gives no row: select an aggregate such as COUNT(*), or COALESCE((SELECT ...), "
			"0)",
			source);
	else if (value->is_null)
		err_set(err, ERR_INVALID, "%s: the query gives NULL: write COALESCE(..., 0) if that means 0", source);
	else
		err_set(err, ERR_INVALID, "%s: column \"%s\" of the first row is not a number: select one number",
			source, value->column);
}

static void on_value(void *arg, const struct mysqlvalue *value, const struct err *failed)
{
	struct scaler_ask *ask = arg;
	struct err err;

	if (!failed && !value->is_number) {
		tell_no_number(ask->question->source, value, &err);
		failed = &err;
	}
	scaler_ask_end(ask, failed ? 0 : value->number, failed);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;
	const struct mysql *q = a->question->data;

	a->call = mysqlpool_ask(a->sources->mysql, q->endpoint, q->query, a->deadline_ms, on_value, a);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = scaler_ask_cancel_call };

const struct scaler_type mysql_scaler_type = {
	.name = "mysql",
	.go_name = "mySQLScaler",
	.tables = { &table, &login_table },
	.data_size = sizeof(struct mysql),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
};
