/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sql/mysql.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/mysql/mysqlpool.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/sql/mysqldsn.h"

#define DEFAULT_PORT "3306"

/* What is asked. */
struct mysql_question {
	struct mysqlendpoint *endpoint;
	char *query;
};

/* While the parameters are being read. Owns its texts. */
struct connection {
	char *string; /* a secret */
	char *host, *port;
	char *ca, *cert, *key, *key_password;
	struct mysqldsn dsn;
};

/* Orders of look-up as KEDA has them; tls and the four behind it are ours, and so are hostFromEnv and its like, of which KEDA's manual speaks. */
static const struct param p_string = { { "connectionString" }, { PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_username = { { "username" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_password = { { "password" }, { PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_host = { { "host" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_port = { { "port" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_database = { { "dbName" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_query = { { "query" }, { PARAM_METADATA }, true };
static const struct param p_value = { { "queryValue" }, { PARAM_METADATA }, true };
static const struct param p_activation = { { "activationQueryValue" }, { PARAM_METADATA }, false };
static const struct param p_tls = { { "tls" }, { PARAM_METADATA, PARAM_AUTH }, false };
static const struct param p_ca = { { "ca" }, { PARAM_AUTH }, false };
static const struct param p_cert = { { "cert" }, { PARAM_AUTH }, false };
static const struct param p_key = { { "key" }, { PARAM_AUTH }, false };
static const struct param p_key_password = { { "keyPassword" }, { PARAM_AUTH }, false };

static void connection_done(struct connection *c)
{
	mem_free_secret(c->string);
	free(c->host);
	free(c->port);
	free(c->ca);
	free(c->cert);
	mem_free_secret(c->key);
	mem_free_secret(c->key_password);
	mysqldsn_done(&c->dsn);
}

/* --- parameters ------------------------------------------------------------------------------------------------------------------ */

/* Without a connection string. KEDA joins host and port before the driver splits them again: what is wrong is said here. */
static int read_single(struct connection *c, struct err *err)
{
	MEM_AUTO char *joined = NULL;

	if (!c->host)
		return err_set(err, ERR_INVALID, "no host given: there must be host, port, username, password and dbName, or a connectionString from a TriggerAuthentication, or connectionStringFromEnv");
	if (!c->dsn.user)
		return err_set(err, ERR_INVALID, "no username given");
	if (c->host[0] == '/' && !c->port) {
		c->dsn.host = mem_dup(c->host);
		return 0;
	}
	if (strpbrk(c->host, "/@,"))
		return err_set(err, ERR_INVALID, "parameter \"host\" must be a name or an address, and nothing else: the port has a parameter of its own");
	joined = hostport_join_text(c->host, c->port ? c->port : DEFAULT_PORT);
	if (mysqldsn_address(joined, &c->dsn.host, &c->dsn.port, err))
		return err_wrap(err, "parameters \"host\" and \"port\"");
	return 0;
}

/* All are asked for in any case, so that they are known as parameters; a connection string has the last word. */
static int read_server(const struct scaler_params *params, struct connection *c, struct err *err)
{
	c->dsn.native_passwords = true;
	if (param_text(params, &p_string, &c->string, err) || param_text(params, &p_host, &c->host, err) || param_text(params, &p_port, &c->port, err) || param_text(params, &p_username, &c->dsn.user, err) ||
	    param_text(params, &p_password, &c->dsn.password, err) || param_text(params, &p_database, &c->dsn.database, err))
		return -1;
	if (!c->string)
		return read_single(c, err);
	mysqldsn_done(&c->dsn);
	return mysqldsn_parse(c->string, &c->dsn, err);
}

static const char *const tls_words[] = { /* the driver's, by enum mysqlendpoint_tls */
	[MYSQLENDPOINT_TLS_OFF] = "false",
	[MYSQLENDPOINT_TLS_VERIFY] = "true",
	[MYSQLENDPOINT_TLS_UNVERIFIED] = "skip-verify",
	[MYSQLENDPOINT_TLS_PREFERRED] = "preferred",
	NULL,
};

static int read_tls_word(const struct scaler_params *params, struct connection *c, struct err *err)
{
	MEM_AUTO char *word = NULL;
	size_t index = 0;

	if (param_text(params, &p_tls, &word, err) || param_choice(params, &p_tls, tls_words, &index, err))
		return -1;
	if (word && c->dsn.tls_given)
		return err_set(err, ERR_INVALID, "parameter \"tls\": the connection string says tls already");
	if (word)
		c->dsn.tls = (enum mysqlendpoint_tls)index;
	c->dsn.tls_given = c->dsn.tls_given || word;
	return 0;
}

static int read_tls(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (read_tls_word(params, c, err) || param_text(params, &p_ca, &c->ca, err) || param_text(params, &p_cert, &c->cert, err) || param_text(params, &p_key, &c->key, err) ||
	    param_text(params, &p_key_password, &c->key_password, err))
		return -1;
	if (!c->cert != !c->key)
		return err_set(err, ERR_INVALID, "parameters \"cert\" and \"key\" belong together: only %s is given", c->cert ? "cert" : "key");
	if (!c->ca && !c->cert)
		return 0;
	if (!c->dsn.tls_given)
		c->dsn.tls = MYSQLENDPOINT_TLS_VERIFY;
	if (c->dsn.tls == MYSQLENDPOINT_TLS_OFF)
		return err_set(err, ERR_INVALID, "parameter \"%s\" is given, but tls is false", c->ca ? "ca" : "cert");
	if (c->ca && c->dsn.tls != MYSQLENDPOINT_TLS_VERIFY)
		return err_set(err, ERR_INVALID, "parameter \"ca\" is given, but with tls=%s nothing is verified: leave one of them out", tls_words[c->dsn.tls]);
	return 0;
}

/* As the driver does it: the names for the connection, then all variables in one statement. */
static struct mysqlendpoint *make_endpoint(const struct connection *c, struct err *err)
{
	const struct mysqldsn *d = &c->dsn;
	MEM_AUTO char *names = d->charset || d->collation ? mem_printf("SET NAMES %s%s%s", d->charset ? d->charset : "utf8mb4", d->collation ? " COLLATE " : "", d->collation ? d->collation : "") : NULL;
	char *variables = d->variables ? mem_printf("SET %s", d->variables) : NULL;
	struct mysqlendpoint_config config = {
		.host = d->host,
		.port = d->port,
		.user = d->user,
		.password = d->password,
		.database = d->database,
		.tls = d->tls,
		.tls_ca_pem = c->ca,
		.tls_cert_pem = c->cert,
		.tls_key_pem = c->key,
		.tls_key_password = c->key_password,
		.setup = { names, variables },
		.native_passwords = d->native_passwords,
		.clear_passwords = d->clear_passwords,
		.multi_statements = d->multi_statements,
	};
	struct mysqlendpoint *e = mysqlendpoint_new(&config, err);

	mem_free_secret(variables);
	return e;
}

/* With a connection string KEDA takes what follows its last slash, parameters and all; what could be a password there is refused by the parser. */
static char *make_name(const struct connection *c)
{
	const char *slash = c->string ? strrchr(c->string, '/') : NULL;
	const char *database = c->string ? slash ? slash + 1 : c->string : c->dsn.database;

	return param_normalise(mem_printf("mysql-%s", database ? database : ""));
}

static int read_thresholds(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	param_known(params, "metricName"); /* KEDA reads it, and makes nothing of it */
	return param_target(params, &p_value, &out->target, err) || param_double(params, &p_activation, &out->activation, err) || param_metric_type(params, &out->target_type, err) ? -1 : 0;
}

static int mysql_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct connection c = { 0 };
	struct mysqlendpoint *endpoint = NULL;
	struct mysql_question *q;
	char *query = NULL;

	if (param_text(params, &p_query, &query, err) == 0 && read_thresholds(params, out, err) == 0 && read_server(params, &c, err) == 0 && read_tls(params, &c, err) == 0)
		endpoint = make_endpoint(&c, err);
	if (endpoint)
		*metric_name = make_name(&c);
	connection_done(&c);
	if (!endpoint) {
		free(query);
		return -1;
	}
	q = mem_zalloc(sizeof(*q));
	q->endpoint = endpoint;
	q->query = query;
	out->question = question_new(&mysql_scaler_type, mem_printf("%s %s", endpoint->base.key, query), mem_printf("mysql %s", endpoint->base.name), q);
	return 0;
}

static void mysql_free_data(void *data)
{
	struct mysql_question *q = data;

	mysqlendpoint_unref(q->endpoint);
	free(q->query);
	free(q);
}

/* --- asking ---------------------------------------------------------------------------------------------------------------------- */

/* One question under way. */
struct mysql_ask {
	struct mysqlpool_call *call;
	struct question *question;
	question_fn fn;
	void *arg;
};

static void ask_free(struct mysql_ask *ask)
{
	question_unref(ask->question);
	free(ask);
}

/* The value itself may be anything that is in the database: it is not shown. */
static void tell_no_number(const struct mysql_ask *ask, const struct mysqlvalue *value, struct err *err)
{
	const char *source = ask->question->source;

	if (!value->has_row)
		err_set(err, ERR_INVALID, "%s: the query gives no row: select an aggregate such as COUNT(*), or COALESCE((SELECT ...), 0)", source);
	else if (value->is_null)
		err_set(err, ERR_INVALID, "%s: the query gives NULL: write COALESCE(..., 0) if that means 0", source);
	else
		err_set(err, ERR_INVALID, "%s: column \"%s\" of the first row is no number: select one number", source, value->column);
}

static void on_value(void *arg, const struct mysqlvalue *value, const struct err *failed)
{
	struct mysql_ask *ask = arg;
	struct err err = { 0 };

	if (failed)
		err = *failed;
	else if (!value->is_number)
		tell_no_number(ask, value, &err);
	if (err.kind != ERR_NONE)
		ask->fn(ask->arg, NULL, &err);
	else
		ask->fn(ask->arg, &(struct answer){ .value = value->number }, NULL);
	ask_free(ask);
}

static void *mysql_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn, void *arg)
{
	const struct mysql_question *q = question->data;
	struct mysql_ask *ask = mem_zalloc(sizeof(*ask));

	ask->question = question_ref(question);
	ask->fn = fn;
	ask->arg = arg;
	ask->call = mysqlpool_ask(sources->mysql, q->endpoint, q->query, deadline_ms, on_value, ask);
	return ask;
}

static void mysql_ask_cancel(void *handle)
{
	struct mysql_ask *ask = handle;

	mysqlpool_cancel(ask->call);
	ask_free(ask);
}

const struct scaler_type mysql_scaler_type = {
	.name = "mysql",
	.go_name = "mySQLScaler",
	.build = mysql_build,
	.ask = mysql_ask,
	.cancel = mysql_ask_cancel,
	.free_data = mysql_free_data,
};
