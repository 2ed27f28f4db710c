/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/nats/nats.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/nats/nats_parts.h"
#include "scalers/params.h"

#define ACCOUNT_MAX 4096

/* The parameters as written. Owns its texts. */
struct nats_fields {
	char *endpoint, *account, *account_id, *stream, *consumer;
	bool https;
	int64_t target, activation;
};

#define AT(field) offsetof(struct nats_fields, field)
static const struct param_row rows[] = {
	{ "natsServerMonitoringEndpoint", PARAM_TEXT, "am", AT(endpoint), .required = true,
		.help = "host:port where the server is monitored" },
	{ "account", PARAM_TEXT, "am", AT(account), .help = "name of the account; $G without accounts" },
	{ "accountID", PARAM_TEXT, "am", AT(account_id), .help = "its ID, where it has one beside the name" },
	{ "stream", PARAM_TEXT, "m", AT(stream), .required = true, .help = "stream" },
	{ "consumer", PARAM_TEXT, "m", AT(consumer), .required = true, .help = "consumer of the stream" },
	{ "lagThreshold", PARAM_INT64, "m", AT(target), .otherwise = "10", .help = "target: as many per replica" },
	{ "activationLagThreshold", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
	{ "useHttps", PARAM_BOOL, "m", AT(https), .help = "whether the monitoring port speaks TLS" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void nats_free_data(void *data)
{
	struct nats_question *q = data;

	natswalk_forget(q);
	webaccess_unref(q->login.access);
	free(q->base);
	free(q->host);
	free(q->port);
	free(q->jsz);
	free(q->account);
	free(q->account_id);
	free(q->stream);
	free(q->consumer);
	free(q);
}

/* ---- Building ---- */

/* Where the value comes from an authentication it is not shown. */
static int take_place(struct nats_question *q, const char *endpoint, struct err *err)
{
	struct hostport place;
	MEM_AUTO char *url = mem_printf("%s://%s", q->scheme, endpoint);
	char *clean = NULL, *user = NULL, *password = NULL;
	bool is_good = hostport_parse(endpoint, &place) == HOSTPORT_GOOD && *place.host && !strpbrk(endpoint, "/?#@") &&
		httpurl_split_user(url, &clean, &user, &password, NULL) == 0;

	free(clean);
	free(user);
	mem_free_secret(password);
	if (!is_good)
		return err_set(err, ERR_INVALID,
			"parameter \"natsServerMonitoringEndpoint\" must be host:port, as nats.default.svc:8222, "
			"without http://");
	q->host = mem_dup(place.host);
	q->port = place.has_port ? mem_printf("%u", place.port) : mem_dup("");
	q->base = url;
	url = NULL;
	return 0;
}

static int take_account(struct nats_question *q, struct nats_fields *f, struct err *err)
{
	struct buf path = BUF_INIT(ACCOUNT_MAX);
	bool too_long;

	if (!f->account && !f->account_id)
		return err_set_about(err, "account", "no account name or id given: parameter \"account\" is %s",
			"$G where the server has no accounts");
	buf_puts(&path, "/jsz?acc=");
	buf_put_percent(&path, f->account_id ? f->account_id : f->account, "");
	/* Newer servers know an account with a JWT by its ID alone: its name is found among all. */
	buf_puts(&path, "&accounts=true&consumers=true");
	too_long = buf_failed(&path);
	q->jsz = buf_take(&path);
	q->account = f->account;
	q->account_id = f->account_id ? f->account_id : mem_dup(f->account); /* what KEDA takes for both */
	f->account = f->account_id = NULL;
	return too_long ? err_set(err, ERR_INVALID, "parameter \"account\" or \"accountID\" is too long") : 0;
}

/* The account may come from an authentication: only its fingerprint is shown. */
static char *make_key(const struct nats_question *q)
{
	const char *const texts[] = { q->account ? q->account : "", q->account_id ? q->account_id : "" };
	char print[FINGERPRINT_TEXT];

	return mem_printf("nats-jetstream %s %s %s %s", q->base, fingerprint_of(texts, 2, print), q->stream,
		q->consumer);
}

static struct nats_question *make_question(struct nats_fields *f, struct err *err)
{
	struct nats_question *q = mem_zalloc(sizeof(*q));

	q->scheme = f->https ? "https" : "http";
	q->stream = f->stream;
	q->consumer = f->consumer;
	f->stream = f->consumer = NULL;
	if (take_place(q, f->endpoint, err) == 0 && take_account(q, f, err) == 0)
		return q;
	nats_free_data(q);
	return NULL;
}

static int check_target(const struct scaler_params *params, struct nats_fields *f, struct err *err)
{
	if (f->target > 0)
		return 0;
	if (!params->formula_source)
		return err_set(err, ERR_INVALID, "parameter \"lagThreshold\" value \"%lld\" must be greater than 0",
			(long long)f->target);
	f->target = 0;
	return 0;
}

static int nats_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct nats_fields f = { 0 };
	struct nats_question *q = NULL;
	char where[256];
	int rc = params_read(&table, params, &f, err);

	if (rc >= 0 && check_target(params, &f, err))
		rc = -1;
	if (rc >= 0)
		*metric_name = params_normalise(mem_printf("nats-jetstream-%s", f.stream));
	out->target = quantity_from_int(f.target);
	out->activation = (double)f.activation;
	if (rc == 0) {
		q = make_question(&f, err);
		rc = q ? 0 : -1;
	}
	if (q) {
		out->question = question_new(&nats_scaler_type, make_key(q),
			mem_printf("nats-jetstream %s", httpurl_origin(q->base, where, sizeof(where))), q);
		out->question->timeout_ms = QUESTION_TIMEOUT_HTTP;
	}
	params_done(&table, &f);
	return rc;
}

const struct scaler_type nats_scaler_type = {
	.name = "nats-jetstream",
	.go_name = "natsJetStreamScaler",
	.tables = { &table },
	.build = nats_build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &natswalk_http,
	.free_data = nats_free_data,
};
