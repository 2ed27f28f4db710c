/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `nats-jetstream`: the backlog of a JetStream consumer, from the monitoring port of
 * NATS servers (doc/keda.md 8.13).
 *
 * In a cluster only the consumer's leader knows the exact backlog; the others report the leader's
 * name and counts that may be stale. So the leader is searched once, by the addresses that the
 * servers report of each other, and then asked directly as long as it is the same process (server
 * ID) and still names itself as leader.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/nats/nats_parts.h"
#include "scalers/params.h"
#include "scalers/types.h"

#define ACCOUNT_MAX 4096

#define AT(field) offsetof(struct nats_question, field)
static const struct param_row rows[] = {
	{ "natsServerMonitoringEndpoint", PARAM_TEXT, "am", AT(endpoint), .required = true,
		.help = "host:port of the server's monitoring" },
	{ "account", PARAM_TEXT, "am", AT(account), .help = "account name; $G without accounts" },
	{ "accountID", PARAM_TEXT, "am", AT(account_id), .help = "account ID, if it differs from the name" },
	{ "stream", PARAM_TEXT, "m", AT(stream), .required = true, .help = "name of the stream" },
	{ "consumer", PARAM_TEXT, "m", AT(consumer), .required = true, .help = "name of the consumer" },
	{ "lagThreshold", PARAM_WHOLE_TARGET, "m", .otherwise = "10", .help = "target: messages per replica" },
	{ "activationLagThreshold", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of messages" },
	{ "useHttps", PARAM_BOOL, "m", AT(https), .help = "true: the monitoring port uses TLS" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void data_done(void *data)
{
	struct nats_question *q = data;

	natswalk_forget(q);
	free(q->host);
	free(q->port);
	free(q->jsz);
}

/* ---- Building ---- */

/* The error does not show the value, as it may come from an authentication. */
static int take_place(struct nats_question *q, struct err *err)
{
	struct hostport place;
	MEM_AUTO char *url = mem_printf("%s://%s", q->https ? "https" : "http", q->endpoint);
	MEM_AUTO char *clean = httpurl_without_user(url, NULL);

	if (!clean || hostport_parse(q->endpoint, &place) != HOSTPORT_GOOD || !*place.host ||
		strpbrk(q->endpoint, "/?#@"))
		return params_wrong(err, "natsServerMonitoringEndpoint",
			"must be host:port, such as nats.default.svc:8222, "
			"without http://");
	q->host = mem_dup(place.host);
	q->port = place.has_port ? mem_printf("%u", place.port) : mem_dup("");
	q->login.url = url;
	url = NULL;
	return 0;
}

static int take_account(struct nats_question *q, struct err *err)
{
	struct buf path = BUF_INIT(ACCOUNT_MAX);
	bool too_long;

	if (!q->account && !q->account_id)
		return err_set_about(err, "account", "no account name or id given: set parameter \"account\" to %s",
			"$G if the server has no accounts");
	buf_puts(&path, "/jsz?acc=");
	buf_put_percent(&path, q->account_id ? q->account_id : q->account, "");
	/* Newer servers find a JWT account by its ID only; by name all accounts are searched. */
	buf_puts(&path, "&accounts=true&consumers=true");
	too_long = buf_failed(&path);
	q->jsz = buf_take(&path);
	if (!q->account_id) /* as KEDA does */
		q->account_id = mem_dup(q->account);
	return too_long ? err_set(err, ERR_INVALID, "parameter \"account\" or \"accountID\" is too long") : 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct nats_question *q = b->data;

	b->metric_name = mem_printf("nats-jetstream-%s", q->stream);
	return !b->open && (take_place(q, err) || take_account(q, err)) ? -1 : 0;
}

const struct scaler_type nats_scaler_type = {
	.name = "nats-jetstream",
	.go_name = "natsJetStreamScaler",
	.tables = { &table },
	.data_size = sizeof(struct nats_question),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &natswalk_http,
};
