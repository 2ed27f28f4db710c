/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/mongodb/mongodb.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/mongo/mongo.h"
#include "net/tlsrules.h"
#include "scalers/mongodb/mongouri.h"
#include "scalers/params.h"
#include "scalers/sources.h"

/* What is asked. */
struct mongodb_question {
	struct mongoendpoint *endpoint;
	struct mongo_count what;
};

/* ---- Parameters ---- */

static const char *const tls_words[] = { "enable", "disable", NULL };
enum { TLS_ENABLE, TLS_DISABLE };

/* The parameters as written. Owns its texts. */
struct mongodb_fields {
	char *string, *scheme, *host, *port, *user, *password, *database, *collection, *query;
	struct quantity target;
	double activation;
	unsigned tls;
	char *ca, *cert, *key, *key_password;
};

#define AT(field) offsetof(struct mongodb_fields, field)
static const struct param_row rows[] = {
	{ "connectionString", PARAM_TEXT, "ame", AT(string),
		.help = "mongodb://... or mongodb+srv://..., in the place of the parts" },
	{ "scheme", PARAM_TEXT, "am", AT(scheme), .otherwise = "mongodb", .help = "mongodb or mongodb+srv" },
	{ "host", PARAM_TEXT, "am", AT(host),
		.help = "server; with mongodb+srv the name whose SRV records say the servers" },
	{ "port", PARAM_TEXT, "am", AT(port), .help = "its port; not with mongodb+srv" },
	{ "username", PARAM_TEXT, "am", AT(user), .help = "user" },
	{ "password", PARAM_TEXT, "ame", AT(password), .help = "of the user" },
	{ "dbName", PARAM_TEXT, "am", AT(database), .required = true, .help = "database" },
	{ "collection", PARAM_TEXT, "m", AT(collection), .required = true, .help = "collection in it" },
	{ "query", PARAM_TEXT, "m", AT(query), .required = true, .help = "which documents count, as Extended JSON" },
	{ "queryValue", PARAM_TARGET, "m", AT(target), .required = true, .help = "target: as many per replica" },
	{ "activationQueryValue", PARAM_DOUBLE, "m", AT(activation), .otherwise = "0",
		.help = "active when there are more" },
	{ "tls", PARAM_CHOICE, "a", AT(tls), .words = tls_words, .otherwise = "disable",
		.help = "TLS, whatever the connection string says" },
	{ "ca", PARAM_TEXT, "a", AT(ca), .help = "authority that signs the server, PEM" },
	{ "cert", PARAM_TEXT, "a", AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", AT(key), .help = "its key, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", AT(key_password), .help = "what the key is encrypted with" },
};
static const struct param_table table = PARAM_TABLE(rows);

static int read_host(const struct mongodb_fields *f, struct mongouri *out, struct err *err)
{
	MEM_AUTO char *joined = NULL;
	const char *why;

	if (out->srv) {
		why = mongouri_take_seed(out, f->host);
		return why ? err_set(err, ERR_INVALID, "parameter \"host\": %s", why) : 0;
	}
	joined = hostport_join_text(f->host, f->port);
	out->hosts = mem_zalloc(sizeof(*out->hosts));
	if (mongoendpoint_parse_host(joined, out->hosts))
		return err_set_about(err, "host",
			"parameters \"host\" and \"port\" must be a name or an address, and a number from 1 to 65535");
	out->count = 1;
	return 0;
}

/* The parts of an address, in the place of a connection string. */
static int read_parts(const struct mongodb_fields *f, struct mongouri *out, struct err *err)
{
	if (mongouri_take_scheme(out, f->scheme, err))
		return err_wrap(err, "parameter \"scheme\"");
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
	out->database = mem_dup(f->database); /* KEDA puts it into the URL's path, where the user is looked for */
	return 0;
}

static int read_address(const struct mongodb_fields *f, struct mongouri *out, struct err *err)
{
	return (f->string ? mongouri_parse(f->string, out, err) : read_parts(f, out, err)) ||
			mongouri_settle_login(out, err)
		? -1
		: 0;
}

/*
 * With tls enable KEDA's own settings replace all that the connection string says about TLS, so
 * that the server is verified.
 */
static int read_tls(const struct mongodb_fields *f, struct mongouri *uri, struct err *err)
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

static struct mongoendpoint *make_endpoint(const struct mongodb_fields *f, const struct mongouri *u,
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
		.tls_insecure = u->tls_insecure,
		.tls_ca_pem = f->ca,
		.tls_cert_pem = f->cert,
		.tls_key_pem = f->key,
		.tls_key_password = f->key_password,
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

/* Takes what it needs of the fields and of the filter. */
static struct question *make_question(struct mongodb_fields *f, struct mongofilter *filter, const char *namespace_,
	struct err *err)
{
	struct mongouri uri = { 0 };
	struct mongoendpoint *endpoint = NULL;
	struct mongodb_question *q;
	const char *concern;

	if (read_address(f, &uri, err) == 0 && read_tls(f, &uri, err) == 0)
		endpoint = make_endpoint(f, &uri, namespace_, err);
	concern = uri.read_concern;
	mongouri_done(&uri);
	if (!endpoint)
		return NULL;
	q = mem_zalloc(sizeof(*q));
	q->endpoint = endpoint;
	q->what = (struct mongo_count){ f->database, f->collection, *filter, concern };
	f->database = f->collection = NULL;
	*filter = (struct mongofilter){ 0 };
	return question_new(&mongodb_scaler_type,
		mem_printf("%s %zu:%s %zu:%s %s %s", endpoint->base.key, strlen(q->what.database), q->what.database,
			strlen(q->what.collection), q->what.collection, concern ? concern : "-", f->query),
		mem_printf("mongodb %s", endpoint->base.name), q);
}

/* Checks the address once all its parts are known, whatever else is unknown: the password, too. */
static int judge_address(const struct scaler_params *params, const struct mongodb_fields *f, struct err *err)
{
	static const size_t parts[] = { AT(string), AT(scheme), AT(host), AT(port), AT(user) };
	struct mongodb_fields known = *f;
	struct mongouri uri = { 0 };
	char any[] = "*";
	int rc;

	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (params_is_unknown(&table, params, parts[i]))
			return 0;
	if (params_is_unknown(&table, params, AT(password)))
		known.password = any;
	rc = read_address(&known, &uri, err);
	mongouri_done(&uri);
	return rc;
}

static int mongodb_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct mongodb_fields f = { .tls = TLS_DISABLE };
	struct mongofilter filter = { 0 };
	int rc = params_read(&table, params, &f, err);

	/* KEDA finds out about a wrong query when it asks. */
	if (rc >= 0 && f.query && mongofilter_parse(f.query, &filter, err))
		rc = err_wrap(err, "parameter \"query\"");
	if (rc > 0 && judge_address(params, &f, err))
		rc = -1;
	if (rc >= 0 && f.collection)
		*metric_name = params_normalise(mem_printf("mongodb-%s", f.collection));
	if (rc == 0) {
		out->question = make_question(&f, &filter, params->namespace_, err);
		rc = out->question ? 0 : -1;
	}
	if (rc < 0) {
		free(*metric_name);
		*metric_name = NULL;
	}
	out->target = f.target;
	out->activation = f.activation;
	mongofilter_done(&filter);
	params_done(&table, &f);
	return rc;
}

static void mongodb_free_data(void *data)
{
	struct mongodb_question *q = data;

	mongoendpoint_unref(q->endpoint);
	mongo_count_done(&q->what);
	free(q);
}

/* ---- Asking ---- */

/* One question under way. */
struct mongodb_ask {
	struct scaler_ask base;
	struct mongo_call *call;
};

static void on_count(void *arg, double count, const struct err *failed)
{
	scaler_ask_end(arg, count, failed);
}

static void *mongodb_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	const struct mongodb_question *q = question->data;
	struct mongodb_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	ask->call = mongo_ask(sources->mongo, q->endpoint, &q->what, deadline_ms, on_count, ask);
	return ask;
}

static void mongodb_ask_cancel(void *handle)
{
	struct mongodb_ask *ask = handle;

	mongo_cancel(ask->call);
	scaler_ask_free(ask);
}

const struct scaler_type mongodb_scaler_type = {
	.name = "mongodb",
	.go_name = "mongoDBScaler",
	.tables = { &table },
	.build = mongodb_build,
	.ask = mongodb_ask,
	.cancel = mongodb_ask_cancel,
	.free_data = mongodb_free_data,
};
