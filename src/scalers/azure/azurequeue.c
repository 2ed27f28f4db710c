/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/azurequeue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/azure/storageaccount.h"
#include "scalers/azure/storagexml.h"
#include "scalers/params.h"
#include "scalers/types.h"

#define COUNT_HEADER "x-ms-approximate-messages-count"
#define DIGITS_MAX   15
/* The service's limit for one peek; messages have 64 KiB, partly escaped. */
#define PEEK_MAX   32
#define ANSWER_MAX ((size_t)16 << 20)

enum strategy { ALL, VISIBLE_ONLY };

struct queue {
	struct storageaccount account;
	char *name;
	unsigned strategy; /* enum strategy */
};

static const char *const strategies[] = { [ALL] = "all", [VISIBLE_ONLY] = "visibleonly", NULL };

#define AT(field) offsetof(struct queue, field)
static const struct param_row rows[] = {
	{ "queueName", PARAM_TEXT, "m", AT(name), .required = true, .help = "name of the queue" },
	{ "queueLength", PARAM_WHOLE_TARGET, "m", .otherwise = "5", .help = "target: messages per replica" },
	{ "activationQueueLength", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of messages" },
	{ "queueLengthStrategy", PARAM_CHOICE, "m", AT(strategy), .words = strategies,
		.help = "messages that count; visibleonly: none in processing, up to 32" },
};
static const struct param_table table = PARAM_TABLE(rows);

#define LOGIN_AT(field) offsetof(struct storageaccount_fields, field)
static const struct param_row login_rows[] = {
	{ "connection", PARAM_TEXT, "ame", LOGIN_AT(connection), .help = "connection string of the storage account" },
	{ "accountName", PARAM_TEXT, "m", LOGIN_AT(account),
		.help = "storage account, with podIdentity azure-workload" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static const struct storageaccount_service service = { .name = "queue",
	.endpoint = "QueueEndpoint",
	.service = AZURECLOUD_QUEUE,
	.no_connection = "no connection setting given",
	.no_account = "no accountName given",
	.login_table = &login_table };

static void data_done(void *data)
{
	storageaccount_done(&((struct queue *)data)->account);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct queue *q = b->data;

	b->metric_name = mem_printf("azure-queue-%s", q->name);
	return storageaccount_login(b, &service, &q->account, err);
}

/* ---- Asking ---- */

/* The state of an ask. */
struct queue_state {
	struct storagexml *peeked; /* owned; of the first request of VISIBLE_ONLY; NULL */
};

static void state_done(void *state)
{
	struct queue_state *n = state;

	storagexml_free(n->peeked);
	n->peeked = NULL;
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct queue *q = ask->data;
	struct queue_state *n = ask->state;
	bool peeks = q->strategy == VISIBLE_ONLY && ask->step == 0;

	if (peeks)
		n->peeked = storagexml_new(STORAGEXML_MESSAGES, NULL, NULL);
	out->wanted_header = COUNT_HEADER;
	return storageaccount_request(&q->account, q->name, peeks ? "/messages" : "",
		peeks ? "peekonly=true&numofmessages=32" : "comp=metadata", timestamp_now_ms(), out, err);
}

/* The other request's response has no body. */
static bool piece(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct queue_state *n = ask->state;

	if (!n->peeked)
		return true;
	if (storagexml_feed(n->peeked, bytes, len, err))
		return false;
	*kept = storagexml_kept(n->peeked);
	return true;
}

int azurequeue_read_count(const char *text, double *out, struct err *err)
{
	size_t digits = strspn(text, "0123456789");

	*out = 0;
	if (!*text)
		return err_set(err, ERR_INVALID,
			"the answer has no " COUNT_HEADER ": is this a queue service of Azure Storage?");
	if (text[digits] || digits > DIGITS_MAX)
		return err_set(err, ERR_INVALID, COUNT_HEADER " is not a number");
	*out = strtod(text, NULL);
	return 0;
}

/* 32 may be all messages, or only the limit of a peek. */
static enum exchange_verdict judge_peeked(struct queue_state *n, struct answer *out, struct err *err)
{
	size_t count;
	MEM_AUTO char *marker = NULL;
	int rc = storagexml_end(n->peeked, &count, &marker, err);

	state_done(n);
	if (rc)
		return EXCHANGE_FAILED;
	out->value = (double)count;
	return count < PEEK_MAX ? EXCHANGE_DONE : EXCHANGE_NEXT;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct queue_state *n = ask->state;

	if (storageaccount_expect(answer, "permission r, or the role Storage Queue Data Reader", err))
		return EXCHANGE_FAILED;
	return n->peeked ? judge_peeked(n, out, err) : azurequeue_read_count(answer->wanted[0], &out->value, err);
}

static const struct httpsource_type http = { .subject = "queue",
	.subject_at = AT(name),
	.max_body = ANSWER_MAX,
	.state_size = sizeof(struct queue_state),
	.state_done = state_done,
	.request = request,
	.read = judge,
	.piece = piece };

const struct scaler_type azurequeue_scaler_type = {
	.name = "azure-queue",
	.go_name = "azureQueueScaler",
	.tables = { &table, &login_table, &azurecloudparams_table },
	.azure_workload = true,
	.data_size = sizeof(struct queue),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
