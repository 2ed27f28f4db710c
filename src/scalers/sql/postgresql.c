/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `postgresql`: the number that a query returns (doc/keda.md 8.3). Uses connections
 * of net/pg; with notifyChannel a NOTIFY triggers a poll.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/identity/identity.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"
#include "scalers/login/azurelogin.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/sql/pgquery.h"
#include "scalers/types.h"

/* One query on one server, and the channel of its notifications. */
struct postgresql {
	char *query, *channel; /* channel: NULL */
	struct pgendpoint *endpoint;
};

/* ---- Parameters ---- */

#define AT(field) offsetof(struct postgresql, field)
static const struct param_row rows[] = {
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "statement that yields one number" },
	{ "notifyChannel", PARAM_TEXT, "m", AT(channel), .help = "channel whose notifications wake the trigger" },
	{ "targetQueryValue", PARAM_TARGET, "m", .help = "target: value per replica" },
	{ "activationTargetQueryValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct postgresql_login {
	char *connection;
	char *host, *port, *user, *dbname, *sslmode, *password;
	char *ca, *cert, *key, *key_password;
};

/*
 * Lookup orders as in doc/keda.md 8.3; ca, cert, key and keyPassword are ours, named as in other
 * types.
 */
#define LOGIN_AT(field) offsetof(struct postgresql_login, field)
static const struct param_row login_rows[] = {
	{ "connection", PARAM_TEXT, "ae", LOGIN_AT(connection), .help = "connection string, instead of the parts" },
	{ "host", PARAM_TEXT, "am", LOGIN_AT(host), .help = "server" },
	{ "port", PARAM_TEXT, "am", LOGIN_AT(port), .help = "port" },
	{ "userName", PARAM_TEXT, "am", LOGIN_AT(user), .help = "user" },
	{ "dbName", PARAM_TEXT, "am", LOGIN_AT(dbname), .help = "database" },
	{ "sslmode", PARAM_TEXT, "am", LOGIN_AT(sslmode), .help = "TLS mode of libpq" },
	{ "password", PARAM_TEXT, "ae", LOGIN_AT(password), .help = "password of the user" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

/* Without a connection string all five are required; KEDA checks them in this order. */
static int check_parts(const struct scaler_params *params, const struct postgresql_login *f, bool as_kscaled,
	struct err *err)
{
	const struct {
		const char *name, *value;
	} parts[] = { { "host", f->host }, { "port", f->port }, { "userName", f->user }, { "dbName", f->dbname },
		{ "sslmode", f->sslmode } };

	if (!f->host && strmap_get(params->metadata, "connection") && !as_kscaled)
		return params_wrong(err, "connection",
			"is not read from the trigger's metadata, where everybody who may "
			"read this object could see the password: "
			"put it into a Secret and a TriggerAuthentication, or name a variable of the container with "
			"connectionFromEnv");
	for (size_t i = 0; i < MEM_COUNT(parts); i++) {
		if (!parts[i].value)
			return err_set_about(err, parts[i].name,
				as_kscaled ? "no %s given: with podIdentity azure-workload connection is not read"
					   : "no %s given (or give connection in a TriggerAuthentication, or "
					     "connectionFromEnv)",
				parts[i].name);
	}
	return 0;
}

/*
 * kscaled's own identity, if all hosts, which are separated by commas, may receive its token.
 */
static struct identity *make_identity(const struct pod_identity *pod, const char *hosts, bool own_ca, struct err *err)
{
	struct identity *identity = NULL;

	do {
		size_t len = strcspn(hosts, ",");
		MEM_AUTO char *host = mem_dupn(hosts, len);
		const struct disclosure to = { .service = AZURECLOUD_POSTGRES, .host = host, .own_ca = own_ca };

		identity_unref(identity);
		identity = azurelogin_new(pod, azurecloud_postgres_scope(host), &to, err);
		hosts += len;
	} while (identity && *hosts++);
	if (!identity)
		params_wrap(err, "host");
	return identity;
}

/* workload: log in as kscaled itself, which uses host, port and so on only, as in KEDA. */
static struct pgendpoint *make_endpoint(const struct scaler_params *params, const struct postgresql_login *f,
	bool workload, struct err *err)
{
	const char *connection = workload ? NULL : f->connection;
	struct pgendpoint_config config = {
		.namespace_ = params->namespace_,
		.connection = connection,
		.host = f->host,
		.port = f->port,
		.user = f->user,
		.password = f->password,
		.dbname = f->dbname,
		.sslmode = f->sslmode,
		.ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key,
		.key_password = f->key_password,
	};
	struct pgendpoint *endpoint;

	if (!connection && check_parts(params, f, workload, err))
		return NULL;
	if (workload) {
		config.identity = make_identity(params->identity, f->host, f->ca != NULL, err);
		if (!config.identity)
			return NULL;
	}
	endpoint = pgendpoint_new(&config, err);
	identity_unref(config.identity);
	if (!endpoint && connection)
		params_wrap(err, "connection");
	return endpoint;
}

static int check_question(const struct postgresql *q, struct err *err)
{
	if (pgquery_is_several(q->query))
		return params_wrong(err, "query", "has several statements: use one that yields one number");
	if (q->channel && strlen(q->channel) > PG_CHANNEL_MAX)
		return params_wrong(err, "notifyChannel",
			"value \"%s\" is longer than %d bytes, which is all that "
			"PostgreSQL tells apart",
			q->channel, PG_CHANNEL_MAX);
	return 0;
}

static void data_done(void *data)
{
	endpoint_unref(((struct postgresql *)data)->endpoint);
}

static int connect_to(struct scaler_build *b, const struct postgresql_login *f, bool workload, struct err *err)
{
	struct postgresql *q = b->data;

	q->endpoint = make_endpoint(b->params, f, workload, err);
	if (!q->endpoint)
		return -1;
	b->source = mem_printf("postgresql %s", q->endpoint->base.name);
	params_add_key(b, q->endpoint->base.key);
	return 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	const struct postgresql_login *f = params_read_login(b, &login_table, sizeof(*f), err);
	int workload;

	b->metric_name = mem_dup("postgresql");
	if (!f || check_question(b->data, err))
		return -1;
	workload = azurelogin_is_workload_or_none(b->params->identity, err);
	return workload < 0 || (!b->open && connect_to(b, f, workload, err)) ? -1 : 0;
}

/* ---- Asking ---- */

/* Types often selected by mistake, by their fixed OIDs in PostgreSQL's catalogue. */
static const char *type_advice(unsigned type)
{
	static const struct {
		unsigned oid;
		const char *advice;
	} types[] = {
		{ 16, "a boolean: cast it, as in (...)::int" },
		{ 790, "money: cast it, as in (...)::numeric" },
		{ 1186, "an interval: take its seconds, as in EXTRACT(EPOCH FROM ...)" },
		{ 1082, "a date" },
		{ 1114, "a timestamp" },
		{ 1184, "a timestamp" },
		{ 114, "json: cast it, as in (...)::text::numeric" },
		{ 3802, "jsonb: cast it, as in (...)::numeric" },
		{ 1009, "an array" },
	};

	for (size_t i = 0; i < MEM_COUNT(types); i++) {
		if (types[i].oid == type)
			return types[i].advice;
	}
	return "no number"; /* the value is not shown: it may be confidential */
}

/* A number as PostgreSQL prints it, or in a text column. Refuses NaN and Infinity. */
static bool read_number(const char *text, double *out)
{
	MEM_AUTO char *plain = params_trimmed(text);
	char *end;

	if (!plain || plain[strspn(plain, "+-.0123456789eE")])
		return false;
	*out = strtod(plain, &end);
	return !*end && isfinite(*out);
}

/*
 * KEDA's rule: one column, of the first row, that is a number. Everything else is an error, never
 * 0.
 */
static int judge_answer(const struct pg_answer *a, double *value, struct err *err)
{
	if (a->results > 1)
		return err_set(err, ERR_INVALID, "the query gives %u results: use a single statement", a->results);
	if (a->columns != 1)
		return err_set(err, ERR_INVALID, "the query gives %d columns: select one", a->columns);
	if (a->rows == 0)
		return err_set(err, ERR_INVALID,
			"the query gives no row: make it always return a number, like SELECT COUNT(*), or SELECT "
			"COALESCE((SELECT ...), 0)");
	if (!a->text)
		return err_set(err, ERR_INVALID,
			"the query gives NULL, which is not a number: write COALESCE(..., 0) if that means 0");
	if (!read_number(a->text, value))
		return err_set(err, ERR_INVALID, "the query's value is %s", type_advice(a->type));
	return 0;
}

static void on_answer(void *arg, const struct pg_answer *answer, const struct err *failed)
{
	struct scaler_ask *ask = arg;
	struct err err = { 0 };
	double value = 0;

	if (!failed && judge_answer(answer, &value, &err)) {
		err_wrap(&err, "%s", ask->question->source);
		failed = &err;
	}
	scaler_ask_end(ask, value, failed);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;
	const struct postgresql *q = a->question->data;

	a->call = pg_query(a->sources->pg, q->endpoint, q->query, a->deadline_ms, on_answer, a);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = scaler_ask_cancel_call };

/* ---- Watching ---- */

struct pg_watch {
	struct pg_listener *listener;
	struct question *question; /* one count */
	question_look_fn look;
	void *arg;
	char *advice; /* created when first shown */
};

static void on_notified(void *arg)
{
	struct pg_watch *w = arg;

	w->look(w->arg);
}

static void *start_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct postgresql *q = question->data;
	struct pg_watch *w;

	if (!q->channel)
		return NULL;
	w = mem_zalloc(sizeof(*w));
	w->question = question_ref(question);
	w->look = look;
	w->arg = arg;
	w->listener = pg_listen(sources->pg, q->endpoint, q->channel, on_notified, w);
	return w;
}

static void stop_watch(void *watch)
{
	struct pg_watch *w = watch;

	pg_unlisten(w->listener);
	question_unref(w->question);
	free(w->advice);
	free(w);
}

/* Appends text in quotes, with quotes inside doubled. */
static void put_quoted(struct buf *out, char quote, const char *prefix, const char *text)
{
	buf_putc(out, quote);
	buf_puts(out, prefix);
	for (; *text; text++) {
		if (*text == quote)
			buf_putc(out, quote);
		buf_putc(out, *text);
	}
	buf_putc(out, quote);
}

/*
 * The SQL that sends the notifications, ready to copy. A statement trigger, so that a COPY of a
 * million rows sends one.
 */
static char *trigger_to_copy(const char *channel)
{
	struct buf out = BUF_INIT(2048);

	buf_puts(&out,
		"no notification on this channel yet; to send them, create a trigger on your table: CREATE "
		"FUNCTION ");
	put_quoted(&out, '"', "notify_", channel);
	buf_puts(&out, "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify(");
	put_quoted(&out, '\'', "", channel);
	buf_puts(&out, ", ''); RETURN NULL; END $$; CREATE TRIGGER ");
	put_quoted(&out, '"', "notify_", channel);
	buf_puts(&out,
		" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON your_table FOR EACH STATEMENT EXECUTE FUNCTION ");
	put_quoted(&out, '"', "notify_", channel);
	buf_puts(&out, "();");
	return buf_take(&out);
}

static struct watch_report watch_report(const void *watch)
{
	static const enum watch_state states[] = {
		[PG_LISTEN_STARTING] = WATCH_STARTING,
		[PG_LISTEN_ON] = WATCH_ON,
		[PG_LISTEN_OFF] = WATCH_OFF,
		[PG_LISTEN_FAILING] = WATCH_FAILING,
	};
	struct pg_watch *w = (struct pg_watch *)(uintptr_t)watch; /* only advice is modified */
	const struct postgresql *q = w->question->data;
	struct pg_listen_report report = pg_listen_report(w->listener);

	if (report.state == PG_LISTEN_ON && !report.heard) {
		if (!w->advice)
			w->advice = trigger_to_copy(q->channel);
		report.why = w->advice;
	}
	return (struct watch_report){ .state = states[report.state], .why = report.why };
}

const struct scaler_type postgresql_scaler_type = {
	.name = "postgresql",
	.go_name = "postgreSQLScaler",
	.tables = { &table, &login_table },
	.azure_workload = true,
	.data_size = sizeof(struct postgresql),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
	.watch = start_watch,
	.unwatch = stop_watch,
	.watch_report = watch_report,
};
