/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcd.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "scalers/etcd/etcdmessages.h"
#include "scalers/etcd/etcdquestion.h"
#include "scalers/etcd/etcdsession.h"
#include "scalers/etcd/etcdwatch.h"
#include "scalers/params.h"
#include "scalers/sources.h"

#define KEY_MAX_BYTES ((size_t)4 << 10)

/* The parameters as written. Owns its texts. */
struct etcd_fields {
	struct param_list endpoints;
	char *key, *username, *password;
	unsigned tls;
	char *ca, *cert, *client_key, *key_password;
	struct quantity target;
	double activation;
	int64_t progress_s;
};

enum { DISABLE, ENABLE };
static const char *const switches[] = { [DISABLE] = "disable", [ENABLE] = "enable", NULL };

#define AT(field) offsetof(struct etcd_fields, field)
static const struct param_row rows[] = {
	{ "endpoints", PARAM_LIST, "m", AT(endpoints), .required = true, .help = "members: host:port,host:port" },
	{ "watchKey", PARAM_TEXT, "m", AT(key), .required = true, .help = "key whose value is the number" },
	{ "value", PARAM_TARGET, "m", AT(target), .required = true, .help = "target: as much per replica" },
	{ "activationValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when it is more" },
	{ "watchProgressNotifyInterval", PARAM_INT64, "m", AT(progress_s), .otherwise = "600",
		.help = "etcd's interval of progress notifications, in seconds" },
	{ "username", PARAM_TEXT, "ae", AT(username), .help = "user" },
	{ "password", PARAM_TEXT, "ae", AT(password), .help = "password" },
	{ "tls", PARAM_CHOICE, "a", AT(tls), .words = switches, .help = "TLS" },
	{ "ca", PARAM_TEXT, "a", AT(ca), .help = "authority that signs the server, PEM" },
	{ "cert", PARAM_TEXT, "a", AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", AT(client_key), .help = "its key, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", AT(key_password), .help = "what the key is encrypted with" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

/* Over several values, in KEDA's words. */
static int check(const struct etcd_fields *f, struct err *err)
{
	if (f->tls == ENABLE && !f->cert && f->client_key)
		return err_set_about(err, "cert", "cert must be provided with key");
	if (f->tls == ENABLE && f->cert && !f->client_key)
		return err_set_about(err, "key", "key must be provided with cert");
	if (f->password && !f->username)
		return err_set_about(err, "username", "username must be provided with password");
	if (f->username && !f->password)
		return err_set_about(err, "password", "password must be provided with username");
	return 0;
}

static int check_known(const struct etcd_fields *f, struct err *err)
{
	if (f->progress_s <= 0)
		return err_set_about(err, "watchProgressNotifyInterval",
			"watchProgressNotifyInterval must be greater than 0");
	if (f->progress_s > INT32_MAX)
		return err_set(err, ERR_INVALID, "parameter \"watchProgressNotifyInterval\" is more than %d seconds",
			INT32_MAX);
	if (f->key && strlen(f->key) > KEY_MAX_BYTES)
		return err_set(err, ERR_INVALID, "parameter \"watchKey\" has more than %zu bytes", KEY_MAX_BYTES);
	return 0;
}

static struct etcdplace *make_place(const struct scaler_params *params, const struct etcd_fields *f, struct err *err)
{
	const struct tls_client_config tls = { .ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->client_key,
		.key_password = f->key_password };
	const struct etcdplace_config config = { .namespace_ = params->namespace_,
		.members = f->endpoints.items,
		.count = f->endpoints.count,
		.tls = f->tls == ENABLE ? &tls : NULL,
		.username = f->username,
		.password = f->password };

	return etcdplace_new(&config, err);
}

static void put_question(struct scaler *out, struct etcdplace *place /* takes */, struct etcd_fields *f)
{
	struct etcdquestion *q = mem_zalloc(sizeof(*q));
	const char *const texts[] = { f->key };
	char print[FINGERPRINT_TEXT];

	*q = (struct etcdquestion){ place, f->key, f->progress_s * 1000 };
	f->key = NULL;
	out->question = question_new(&etcd_scaler_type,
		mem_printf("etcd %s %s %lld", place->key, fingerprint_of(texts, 1, print), (long long)q->progress_ms),
		mem_printf("etcd %s", place->name), q);
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct etcd_fields f = { 0 };
	struct etcdplace *place = NULL;
	int rc = params_read(&table, params, &f, err);

	if (rc >= 0 && check_known(&f, err))
		rc = -1;
	if (rc == 0 && check(&f, err))
		rc = -1;
	if (rc >= 0)
		*metric_name = params_normalise(mem_printf("etcd-%s", f.key));
	out->target = f.target;
	out->activation = f.activation;
	if (rc == 0) {
		place = make_place(params, &f, err);
		rc = place ? 0 : -1;
	}
	if (place)
		put_question(out, place, &f);
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

struct etcd_ask {
	struct scaler_ask base;
	struct scaler_sources *sources;
	int64_t deadline_ms;
	struct etcdsession_entry *entry; /* one of these two */
	struct grpc_call *call;
	struct etcdsession_pass pass; /* of the call; without its metadata */
	size_t failed;                /* members that did not answer */
	bool again;                   /* with a new token */
};

static const struct etcdquestion *question_of(const struct etcd_ask *a)
{
	return a->base.question->data;
}

static void cancel(void *handle)
{
	struct etcd_ask *a = handle;

	etcdsession_leave(a->entry);
	grpc_cancel(a->call);
	scaler_ask_free(a);
}

static void put_range(void *arg, struct buf *message)
{
	etcdmessages_put_range(message, question_of(arg)->key);
}

static void enter(struct etcd_ask *a);

/* Whether another try makes sense, and there is time for it. */
static bool tries_again(struct etcd_ask *a, struct err *err)
{
	enum etcdsession_advice advice = etcdsession_complain(a->sources->etcd, question_of(a)->place, &a->pass, err);
	bool more = advice == ETCDSESSION_MEMBER ? a->failed + 1 < question_of(a)->place->count
						 : advice == ETCDSESSION_TOKEN && !a->again;

	a->failed += advice == ETCDSESSION_MEMBER;
	a->again |= advice == ETCDSESSION_TOKEN;
	return more && loop_now_ms(a->sources->loop) < a->deadline_ms;
}

static void on_range(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct etcd_ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };
	double value = 0;

	a->call = NULL;
	if (!failure && etcdmessages_get_number(bytes, len, question_of(a)->key, &value, &err) == 0) {
		scaler_ask_end(a, value, NULL);
	} else if (failure && tries_again(a, &err)) {
		enter(a);
	} else {
		etcdquestion_name_error(a->base.question, a->pass.member, &err);
		scaler_ask_end(a, 0, &err);
	}
}

/* What is left of the time is shared out among the members that are left. */
static void on_pass(void *arg, const struct etcdsession_pass *pass, const struct err *failure)
{
	struct etcd_ask *a = arg;
	const struct etcdplace *place = question_of(a)->place;
	int64_t now_ms = loop_now_ms(a->sources->loop);
	struct grpc_request request = { .method = "/etcdserverpb.KV/Range",
		.namespace_ = a->base.question->namespace_,
		.put = put_range,
		.fn = on_range,
		.arg = a };

	a->entry = NULL;
	if (failure) {
		scaler_ask_end(a, 0, failure);
		return;
	}
	a->pass = *pass;
	a->pass.metadata = NULL;
	request.metadata = pass->metadata;
	request.deadline_ms = now_ms + (a->deadline_ms - now_ms) / (int64_t)(place->count - a->failed);
	a->call = grpc_unary(a->sources->grpc, place->members[pass->member], &request);
}

static void enter(struct etcd_ask *a)
{
	a->entry = etcdsession_enter(a->sources->etcd, question_of(a)->place, a->base.question->namespace_,
		a->deadline_ms, on_pass, a);
}

static void *ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	struct etcd_ask *a = scaler_ask_new(sizeof(*a), question, fn, arg);

	a->sources = sources;
	a->deadline_ms = deadline_ms;
	enter(a);
	return a;
}

const struct scaler_type etcd_scaler_type = {
	.name = "etcd",
	.go_name = "etcdScaler",
	.tables = { &table },
	.build = build,
	.ask = ask,
	.cancel = cancel,
	.free_data = etcdquestion_free,
	.watch = etcdwatch_watch,
	.unwatch = etcdwatch_unwatch,
	.watch_report = etcdwatch_report,
};
