/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type mongodb (doc/keda.md 8.4): the number of documents of a collection that match a
 * query. Uses the connections of net/mongo. There is no push: a change stream needs a replica set
 * and an extra permission, and does not tell which documents match.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/mongo/mongo.h"
#include "net/tls/tlsrules.h"
#include "scalers/mongodb/mongouri.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

struct mongodb {
	struct mongo_count what; /* rows set database and collection */
	char *query;
	struct mongoendpoint *endpoint;
};

/* ---- Parameters ---- */

static const char *const tls_words[] = { "enable", "disable", NULL };
enum { TLS_ENABLE, TLS_DISABLE };

#define AT(field) offsetof(struct mongodb, field)
static const struct param_row rows[] = {
	{ "dbName", PARAM_TEXT, "am", AT(what.database), .required = true, .help = "database" },
	{ "collection", PARAM_TEXT, "m", AT(what.collection), .required = true, .help = "collection" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true,
		.help = "filter of the documents to count, Extended JSON" },
	{ "queryValue", PARAM_TARGET, "m", .required = true, .help = "target: documents per replica" },
	{ "activationQueryValue", PARAM_ACTIVATION, "m", .otherwise = "0",
		.help = "active above this number of documents" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct mongodb_login {
	char *string, *scheme, *host, *port, *user, *password;
	unsigned tls;
	char *ca, *cert, *key, *key_password;
};

#define LOGIN_AT(field) offsetof(struct mongodb_login, field)
static const struct param_row login_rows[] = {
	{ "connectionString", PARAM_TEXT, "ame", LOGIN_AT(string),
		.help = "mongodb://... or mongodb+srv://..., instead of scheme, host, port and user" },
	{ "scheme", PARAM_TEXT, "am", LOGIN_AT(scheme), .otherwise = "mongodb", .help = "mongodb or mongodb+srv" },
	{ "host", PARAM_TEXT, "am", LOGIN_AT(host), .help = "host; mongodb+srv: name with SRV records" },
	{ "port", PARAM_TEXT, "am", LOGIN_AT(port), .help = "port; not with mongodb+srv" },
	{ "username", PARAM_TEXT, "am", LOGIN_AT(user), .help = "user" },
	{ "password", PARAM_TEXT, "ame", LOGIN_AT(password), .help = "password of the user" },
	{ "tls", PARAM_CHOICE, "a", LOGIN_AT(tls), .words = tls_words, .otherwise = "disable",
		.help = "enable: TLS, whatever the connection string has" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static int read_host(const struct mongodb_login *f, struct mongouri *out, struct err *err)
{
	MEM_AUTO char *joined = NULL;
	const char *why;

	if (out->srv) {
		why = mongouri_take_seed(out, f->host);
		return why ? params_wrong(err, "host", ": %s", why) : 0;
	}
	joined = hostport_join_text(f->host, f->port);
	out->hosts = mem_zalloc(sizeof(*out->hosts));
	if (mongoendpoint_parse_host(joined, out->hosts))
		return err_set_about(err, "host",
			"parameters \"host\" and \"port\" must be a name or an address, and a number from 1 to 65535");
	out->count = 1;
	return 0;
}

/* Reads the parts that replace a connection string. */
static int read_parts(const struct mongodb_login *f, const char *database, struct mongouri *out, struct err *err)
{
	if (mongouri_take_scheme(out, f->scheme, err))
		return params_wrap(err, "scheme");
	if (!f->host)
		return err_set_about(err, "host",
			"no host given: there must be host, port, username and password, or a connectionString");
	if (!f->port && !out->srv)
		return err_set_about(err, "port", "no port given");
	if (!f->user)
		return err_set_about(err, "username", "no username given");
	if (!f->password)
		return err_set_about(err, "password", "no password given");
	if (read_host(f, out, err))
		return -1;
	out->user = mem_dup(f->user);
	out->password = mem_dup(f->password);
	out->database = mem_dup(database); /* KEDA puts it into the URL's path, so it is the user's database, too */
	return 0;
}

static int read_address(const struct mongodb_login *f, const char *database, struct mongouri *out, struct err *err)
{
	return (f->string ? mongouri_parse(f->string, out, err) : read_parts(f, database, out, err)) ||
			mongouri_settle_login(out, err)
		? -1
		: 0;
}

/*
 * With tls enable, as in KEDA, the parameters replace the connection string's TLS options, so the
 * server is verified.
 */
static int read_tls(const struct mongodb_login *f, struct mongouri *uri, struct err *err)
{
	if (f->tls == TLS_ENABLE) {
		if (!f->cert && !f->key && !f->ca)
			return err_set_about(err, "ca",
				"at least one of cert, key, or ca must be provided when TLS is enabled");
		uri->tls = true;
		uri->tls_insecure = false;
	}
	if (uri->tls && params_check_pair("cert", f->cert, "key", f->key, err))
		return -1;
	return tlsrules_demand(uri->tls,
		"set tls to \"enable\" in the TriggerAuthentication, or tls=true in the connection string", err);
}

static struct mongoendpoint *make_endpoint(const struct mongodb_login *f, const struct mongouri *u,
	const char *namespace_, struct err *err)
{
	const struct mongoendpoint_config config = {
		.namespace_ = namespace_,
		.hosts = u->hosts,
		.count = u->count,
		.seed = u->seed,
		.service = u->service,
		.max_hosts = u->max_hosts,
		.unbalanced = u->unbalanced,
		.set = u->set,
		.direct = u->direct,
		.reads = u->reads,
		.tls = u->tls,
		.tls_config.insecure = u->tls_insecure,
		.tls_config.ca_pem = f->ca,
		.tls_config.cert_pem = f->cert,
		.tls_config.key_pem = f->key,
		.tls_config.key_password = f->key_password,
		.mechanism = u->mechanism,
		.username = u->user,
		.password = u->password,
		.source = u->source,
		.source_given = u->source_given,
		.app_name = u->app_name,
		.connect_ms = u->connect_ms,
	};

	return mongoendpoint_new(&config, err);
}

static int connect_to(struct scaler_build *b, const struct mongodb_login *f, struct err *err)
{
	struct mongodb *q = b->data;
	struct mongouri uri = { 0 };

	if (read_address(f, q->what.database, &uri, err) == 0 && read_tls(f, &uri, err) == 0)
		q->endpoint = make_endpoint(f, &uri, b->params->namespace_, err);
	q->what.read_concern = uri.read_concern;
	mongouri_done(&uri);
	if (!q->endpoint)
		return -1;
	b->source = mem_printf("mongodb %s", q->endpoint->base.name);
	params_add_key(b, q->endpoint->base.key);
	params_add_key(b, q->what.read_concern);
	return 0;
}

/* Checks the address if all its parts are known; only the password may be unknown. */
static int judge_address(const struct scaler_params *params, const struct mongodb_login *f, const char *database,
	struct err *err)
{
	static const size_t parts[] = { LOGIN_AT(string), LOGIN_AT(scheme), LOGIN_AT(host), LOGIN_AT(port),
		LOGIN_AT(user) };
	struct mongodb_login known = *f;
	struct mongouri uri = { 0 };
	char any[] = "*";
	int rc;

	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (params_is_unknown(&login_table, params, parts[i]))
			return 0;
	if (params_is_unknown(&login_table, params, LOGIN_AT(password)))
		known.password = any;
	rc = read_address(&known, database, &uri, err);
	mongouri_done(&uri);
	return rc;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct mongodb *q = b->data;
	struct mongodb_login *f = params_read_login(b, &login_table, sizeof(*f), err);

	b->metric_name = mem_printf("mongodb-%s", q->what.collection);
	if (!f)
		return -1;
	/* KEDA detects a bad query only when it asks. */
	if (mongofilter_parse(q->query, &q->what.filter, err))
		return params_wrap(err, "query");
	return b->open ? judge_address(b->params, f, q->what.database, err) : connect_to(b, f, err);
}

static void data_done(void *data)
{
	struct mongodb *q = data;

	endpoint_unref(q->endpoint);
	mongofilter_done(&q->what.filter);
}

/* ---- Asking ---- */

static void on_count(void *arg, double count, const struct err *failed)
{
	scaler_ask_end(arg, count, failed);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;
	const struct mongodb *q = a->question->data;

	a->call = mongo_ask(a->sources->mongo, q->endpoint, &q->what, a->deadline_ms, on_count, a);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = scaler_ask_cancel_call };

const struct scaler_type mongodb_scaler_type = {
	.name = "mongodb",
	.go_name = "mongoDBScaler",
	.tables = { &table, &login_table },
	.data_size = sizeof(struct mongodb),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
};
