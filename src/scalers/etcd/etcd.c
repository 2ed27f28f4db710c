/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `etcd` (doc/keda.md 8.5): reads a number from an etcd key, and watches the key as
 * push (scalers/etcd/etcdwatch). Queries go to the member that answered last; if it does not
 * answer, the next one is tried.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/etcd/etcdmessages.h"
#include "scalers/etcd/etcdquestion.h"
#include "scalers/etcd/etcdsession.h"
#include "scalers/etcd/etcdwatch.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define KEY_MAX_BYTES ((size_t)4 << 10)

#define AT(field) offsetof(struct etcdquestion, field)
static const struct param_row rows[] = {
	{ "watchKey", PARAM_TEXT, "m", AT(key), .required = true, .help = "key that holds the number" },
	{ "value", PARAM_TARGET, "m", .required = true, .help = "target: value per replica" },
	{ "activationValue", PARAM_ACTIVATION, "m", .help = "active above this value" },
	{ "watchProgressNotifyInterval", PARAM_INT64, "m", AT(progress_s), .otherwise = "600",
		.help = "seconds between etcd's progress notifications" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct etcd_login {
	struct param_list endpoints;
	char *username, *password;
	unsigned tls;
	char *ca, *cert, *client_key, *key_password;
};

enum { DISABLE, ENABLE };
static const char *const switches[] = { [DISABLE] = "disable", [ENABLE] = "enable", NULL };

#define LOGIN_AT(field) offsetof(struct etcd_login, field)
static const struct param_row login_rows[] = {
	{ "endpoints", PARAM_LIST, "m", LOGIN_AT(endpoints), .required = true, .help = "members: host:port,host:port" },
	{ "username", PARAM_TEXT, "ae", LOGIN_AT(username), .help = "user" },
	{ "password", PARAM_TEXT, "ae", LOGIN_AT(password), .help = "password" },
	{ "tls", PARAM_CHOICE, "a", LOGIN_AT(tls), .words = switches, .help = "TLS" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(client_key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static void data_done(void *data)
{
	etcdcluster_unref(((struct etcdquestion *)data)->cluster);
}

/* ---- Building ---- */

/* Checks over several values, in KEDA's words. */
static int check(const struct etcd_login *f, struct err *err)
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

static int check_known(const struct etcdquestion *q, struct err *err)
{
	if (q->progress_s <= 0)
		return err_set_about(err, "watchProgressNotifyInterval",
			"watchProgressNotifyInterval must be greater than 0");
	if (q->progress_s > INT32_MAX)
		return params_wrong(err, "watchProgressNotifyInterval", "is more than %d seconds", INT32_MAX);
	if (q->key && strlen(q->key) > KEY_MAX_BYTES)
		return params_wrong(err, "watchKey", "has more than %zu bytes", KEY_MAX_BYTES);
	return 0;
}

static struct etcdcluster *make_cluster(const struct scaler_params *params, const struct etcd_login *f, struct err *err)
{
	const struct tls_client_config tls = { .ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->client_key,
		.key_password = f->key_password };
	const struct etcdcluster_config config = { .namespace_ = params->namespace_,
		.members = f->endpoints.items,
		.count = f->endpoints.count,
		.tls = f->tls == ENABLE ? &tls : NULL,
		.username = f->username,
		.password = f->password };

	return etcdcluster_new(&config, err);
}

static int connect_to(struct scaler_build *b, const struct etcd_login *f, struct err *err)
{
	struct etcdquestion *q = b->data;

	q->cluster = make_cluster(b->params, f, err);
	if (!q->cluster)
		return -1;
	b->source = mem_printf("etcd %s", q->cluster->name);
	params_add_key(b, q->cluster->key);
	return 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	const struct etcdquestion *q = b->data;
	const struct etcd_login *f = params_read_login(b, &login_table, sizeof(*f), err);

	b->metric_name = mem_printf("etcd-%s", q->key);
	return !f || check_known(q, err) || (!b->open && (check(f, err) || connect_to(b, f, err))) ? -1 : 0;
}

/* ---- Asking ---- */

struct etcd_ask {
	struct scaler_ask base;
	struct etcdsession_entry *entry; /* either this or call */
	struct grpc_call *call;
	struct etcdsession_pass pass; /* of the call; without its metadata */
	size_t failed;                /* members that did not answer */
	bool again;                   /* has been retried with a new token */
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
}

static void put_range(void *arg, struct buf *message)
{
	etcdmessages_put_range(message, question_of(arg)->key);
}

static void enter(struct etcd_ask *a);

/* Whether a retry makes sense and there is time for it. */
static bool tries_again(struct etcd_ask *a, struct err *err)
{
	enum etcdsession_advice advice = etcdsession_complain(a->base.sources->etcd, question_of(a)->cluster, &a->pass,
		err);
	bool more = advice == ETCDSESSION_MEMBER ? a->failed + 1 < question_of(a)->cluster->count
						 : advice == ETCDSESSION_TOKEN && !a->again;

	a->failed += advice == ETCDSESSION_MEMBER;
	a->again |= advice == ETCDSESSION_TOKEN;
	return more && loop_now_ms(a->base.sources->loop) < a->base.deadline_ms;
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

/* Each remaining member gets an equal share of the remaining time. */
static void on_pass(void *arg, const struct etcdsession_pass *pass, const struct err *failure)
{
	struct etcd_ask *a = arg;
	const struct etcdcluster *cluster = question_of(a)->cluster;
	int64_t now_ms = loop_now_ms(a->base.sources->loop);
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
	request.deadline_ms = now_ms + (a->base.deadline_ms - now_ms) / (int64_t)(cluster->count - a->failed);
	a->call = grpc_unary(a->base.sources->grpc, cluster->members[pass->member], &request);
}

static void enter(struct etcd_ask *a)
{
	a->entry = etcdsession_enter(a->base.sources->etcd, question_of(a)->cluster, a->base.question->namespace_,
		a->base.deadline_ms, on_pass, a);
}

static void ask(void *handle)
{
	enter(handle);
}

static const struct scaler_asker asker = { sizeof(struct etcd_ask), .ask = ask, .cancel = cancel };

const struct scaler_type etcd_scaler_type = {
	.name = "etcd",
	.go_name = "etcdScaler",
	.tables = { &table, &login_table },
	.data_size = sizeof(struct etcdquestion),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
	.watch = etcdwatch_watch,
	.unwatch = etcdwatch_unwatch,
	.watch_report = etcdwatch_report,
};
