/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `azure-servicebus` (doc/keda.md 8.26): messages that wait in a queue or a
 * subscription of Azure Service Bus, or in all whose names match a regular expression. Over
 * scalers/http/httpsource: its management API, whose responses servicebusatom reads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/httpstatus.h"
#include "net/sign/azuresign.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/azure/busconnection.h"
#include "scalers/azure/servicebusatom.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/azurelogin.h"
#include "scalers/params.h"
#include "scalers/types.h"
#include "scalers/values/re2.h"

/* A page of 100 queues takes about 400 KiB. */
#define ANSWER_MAX ((size_t)4 << 20)
#define URL_MAX    ((size_t)1 << 14)
#define PAGE       100
/* Time-out for all pages of a list; a namespace has at most 10,000 queues. */
#define LIST_MS 60000
/* Tolerates a clock that is wrong by this much. */
#define TOKEN_LIFE_S 3600
/* Per page: some milliseconds. */
#define REGEX_BUDGET 1000000
#define API          "api-version=2021-05"

enum operation { OPERATION_SUM, OPERATION_MAX, OPERATION_AVG };
static const char
	*const operations[] = { [OPERATION_SUM] = "sum", [OPERATION_MAX] = "max", [OPERATION_AVG] = "avg", NULL };

struct servicebus {
	struct httplogin login;             /* url: "https://shop.servicebus.windows.net" */
	char *queue, *topic, *subscription; /* with by_regex one of them is the expression */
	bool by_regex;
	enum operation operation;
	struct re2 *regex; /* NULL: one entity */
	char *path;        /* URL path of the entity or the list */
	char *key_name;    /* of the policy whose key (the login's password) signs each request; NULL: no key */
	bool by_identity;  /* without key_name; false: by a given signature */
	bool of_entity;    /* the policy belongs to one entity */
};

#define AT(field) offsetof(struct servicebus, field)
static const struct param_row rows[] = {
	{ "queueName", PARAM_TEXT, "m", AT(queue), .help = "name of the queue" },
	{ "topicName", PARAM_TEXT, "m", AT(topic), .help = "name of the topic, instead of queueName" },
	{ "subscriptionName", PARAM_TEXT, "m", AT(subscription), .help = "name of a subscription to the topic" },
	{ "useRegex", PARAM_BOOL, "m", AT(by_regex),
		.help = "true: queueName or subscriptionName is a regular expression that matches whole names" },
	{ "operation", PARAM_CHOICE, "m", AT(operation), .words = operations,
		.help = "how the counts of all matching names are combined" },
	{ "messageCount", PARAM_WHOLE_TARGET, "m", .otherwise = "5", .help = "target: messages per replica" },
	{ "activationMessageCount", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of messages" },
	{ "queueLength", PARAM_DROPPED, "m", .why = "KEDA dropped it in 2.0: use messageCount",
		.help = "the old name of messageCount" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct servicebus_login {
	char *connection, *namespace_;
};

#define LOGIN_AT(field) offsetof(struct servicebus_login, field)
static const struct param_row login_rows[] = {
	{ "connection", PARAM_TEXT, "ae", LOGIN_AT(connection),
		.help = "connection string of a policy with the Manage right" },
	{ "namespace", PARAM_TEXT, "m", LOGIN_AT(namespace_),
		.help = "Service Bus namespace, with podIdentity azure-workload" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static void data_done(void *data)
{
	struct servicebus *q = data;

	re2_free(q->regex);
	free(q->path);
	free(q->key_name);
}

/* ---- Building ---- */

/* Checks across rows, with KEDA's order and texts. */
static int check_entity(const struct servicebus *f, struct err *err)
{
	if (f->queue && f->subscription)
		return err_set_about(err, "subscriptionName", "subscription name provided with queue name");
	if (f->queue && f->topic)
		return err_set_about(err, "topicName", "both topic and queue name metadata provided");
	if (f->topic && !f->subscription)
		return err_set_about(err, "subscriptionName", "no subscription name provided with topic name");
	if (!f->queue && !f->topic)
		return err_set_about(err, f->subscription ? "topicName" : "queueName",
			"no service bus entity type set");
	return 0;
}

static int read_regex(struct servicebus *q, struct err *err)
{
	const char *name = q->queue ? "queueName" : "subscriptionName";

	if (!q->by_regex)
		return 0;
	q->regex = re2_compile(q->queue ? q->queue : q->subscription, err);
	return q->regex ? 0 : (err_wrap(err, "%s is not a valid regular expression", name), err_about(err, name));
}

/* Names may contain slashes, which are not encoded. */
static int make_path(struct servicebus *q, struct err *err)
{
	struct buf path = BUF_INIT(URL_MAX / 2);

	buf_puts(&path, q->by_regex && q->queue ? "/$Resources/Queues" : "/");
	if (q->topic || !q->by_regex)
		buf_put_percent(&path, q->topic ? q->topic : q->queue, "/");
	if (q->topic)
		buf_puts(&path, q->by_regex ? "/Subscriptions" : "/Subscriptions/");
	if (q->topic && !q->by_regex)
		buf_put_percent(&path, q->subscription, "");
	if (buf_failed(&path)) {
		buf_done(&path);
		return err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", URL_MAX);
	}
	q->path = buf_take(&path);
	return 0;
}

static int log_in_by_string(const char *connection, struct servicebus *q, struct err *err)
{
	struct webaccess_config config = { 0 };
	struct busconnection c;
	int rc;

	if (!connection)
		return err_set_about(err, "connection",
			"no connection setting given: give connection by a TriggerAuthentication or connectionFromEnv, "
			"or set podIdentity.provider azure-workload in one");
	if (busconnection_parse(connection, &c, err))
		return params_wrap(err, "connection");
	q->login.url = mem_printf("https://%s", c.host);
	q->of_entity = c.entity_path != NULL;
	if (c.signature) {
		config.header_name = "Authorization";
		config.header_value = c.signature;
	} else {
		q->key_name = mem_dup(c.key_name);
		config.password = c.key; /* not sent without a user name */
	}
	rc = httplogin_log_in(&q->login, &config, err);
	busconnection_done(&c);
	return rc ? params_wrap(err, "connection") : 0;
}

static int log_in_as_kscaled(struct scaler_build *b, const char *namespace_, struct servicebus *q, struct err *err)
{
	struct webaccess_config config = { 0 };
	MEM_AUTO char *suffix = NULL, *host = NULL;
	int rc;

	if (!namespace_)
		return err_set_about(err, "namespace", "namespace are required when using pod identity");
	if (!azurecloud_is_label(namespace_))
		return params_wrong(err, "namespace", "value \"%.100s\" is not a valid namespace name", namespace_);
	rc = azurecloudparams_read(b->params, AZURECLOUD_SERVICE_BUS, &suffix, err);
	b->open |= rc == 1;
	if (rc)
		return rc < 0 ? -1 : 0;
	host = mem_printf("%s.%s", namespace_, suffix);
	config.identity = azurelogin_new(b->params->identity, NULL,
		&(struct disclosure){ .service = AZURECLOUD_SERVICE_BUS, .host = host }, err);
	if (!config.identity)
		return -1;
	q->login.url = mem_printf("https://%s", host);
	q->by_identity = true;
	return httplogin_log_in(&q->login, &config, err);
}

static int log_in(struct scaler_build *b, struct servicebus *q, struct err *err)
{
	const struct servicebus_login *f = params_read_login(b, &login_table, sizeof(*f), err);
	int rc = f ? azurelogin_is_workload(b->params->identity, b->params->type, err) : -1;

	if (rc > 0)
		rc = log_in_as_kscaled(b, f->namespace_, q, err);
	else if (rc == 0 && !b->open)
		rc = log_in_by_string(f->connection, q, err);
	params_add_key(b, q->key_name);
	return rc;
}

static char *make_metric_name(const struct servicebus *q)
{
	if (q->by_regex)
		return mem_dup(q->queue ? "azure-servicebus-queue-regex" : "azure-servicebus-topic-regex");
	return mem_printf("azure-servicebus-%s", q->queue ? q->queue : q->topic);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct servicebus *q = b->data;

	if (check_entity(q, err) || read_regex(q, err) || make_path(q, err) || log_in(b, q, err))
		return -1;
	b->source = mem_printf("azure-servicebus %s", q->login.url ? q->login.url : "");
	if (!q->regex)
		q->operation = OPERATION_SUM; /* of one entity it is of no account */
	else
		b->timeout_ms = LIST_MS;
	b->metric_name = make_metric_name(q);
	return 0;
}

/* ---- Asking ---- */

/* Totals over the pages so far. */
struct servicebus_state {
	size_t seen; /* entities of all pages */
	size_t budget;
	int64_t sum, greatest;
	size_t counted;
	char disabled[128]; /* a disabled entity whose name matches, not counted; "": none */
};

/* Signs the URL that is asked, as Microsoft's Go client does. */
static void sign(const struct servicebus *q, struct webrequest *out)
{
	char *token = azuresign_token(out->url, q->key_name, webaccess_config(q->login.access)->password,
		timestamp_now_ms() / 1000 + TOKEN_LIFE_S);

	strmap_set(&out->headers, "Authorization", token);
	mem_free_secret(token);
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct servicebus *q = ask->data;
	const struct servicebus_state *state = ask->state;

	(void)err;
	if (q->regex)
		out->url = mem_printf("%s%s?%%24skip=%zu&%%24top=%d&" API, q->login.url, q->path, state->seen, PAGE);
	else
		out->url = mem_printf("%s%s?" API, q->login.url, q->path);
	if (q->key_name)
		sign(q, out);
	return 0;
}

/* ---- The response ---- */

static int missing(const struct servicebus *q, struct err *err)
{
	if (q->regex && q->queue)
		return err_set(err, ERR_MISSING, "the namespace has no list of queues: is it a Service Bus namespace?");
	if (q->regex)
		return err_set(err, ERR_MISSING, "topic %.260s doesn't exist", q->topic);
	if (q->queue)
		return err_set(err, ERR_MISSING, "queue %.260s doesn't exist", q->queue);
	return err_set(err, ERR_MISSING, "subscription %.100s doesn't exist in topic %.260s", q->subscription,
		q->topic);
}

static const char *advice(const struct servicebus *q, int status)
{
	if (status != 401)
		return "";
	if (q->by_identity)
		return "; kscaled's identity needs a role such as Azure Service Bus Data Owner";
	if (!q->key_name)
		return "; the SharedAccessSignature of connection may have expired, or its policy lacks the right "
		       "Manage";
	return q->of_entity ? "; connection needs a policy with the right Manage, and its EntityPath must be this "
			      "queue or topic"
			    : "; connection needs a policy with the right Manage";
}

/* The token that was sent is valid for a while: a text that repeats it is not shown. */
static int refuse(const struct servicebus *q, const struct webresponse *answer, struct err *err)
{
	MEM_AUTO char *detail = servicebusatom_detail(answer->body, answer->len), *words = NULL;
	enum err_kind kind = httpstatus_kind(answer->status);

	if (detail)
		err_set(err, kind, "HTTP status %d: %.250s", answer->status, detail);
	else
		httpsource_expect(answer, 200, 200, err);
	if (strstr(err->msg, "sig="))
		err_set(err, kind, "HTTP status %d", answer->status);
	words = mem_dup(err->msg);
	err_set(err, kind, "%s%s", words, advice(q, answer->status));
	err->http_status = answer->status;
	return -1;
}

static int check_kind(const struct servicebus *q, const struct servicebusatom_entry *e, struct err *err)
{
	if (e->kind == (q->queue ? SERVICEBUSATOM_QUEUE : SERVICEBUSATOM_SUBSCRIPTION))
		return 0;
	if (q->queue && e->kind == SERVICEBUSATOM_TOPIC)
		return err_set(err, ERR_INVALID, "%.260s is a topic: topicName and subscriptionName are for those",
			q->queue);
	return err_set(err, ERR_INVALID, "the answer is not about a %s", q->queue ? "queue" : "subscription");
}

/* While a namespace is throttled, the service leaves out the counts. */
static int check_active(const struct servicebus *q, const char *name, int64_t active, struct err *err)
{
	return active >= 0 ? 0
			   : err_set(err, ERR_TEMPORARY,
				     "%s %.260s: the answer has no number of active messages: the namespace may be "
				     "throttled",
				     q->queue ? "queue" : "subscription", name);
}

/* Receiving is disabled, so more replicas would not help (kedacore/keda#5712). */
static bool is_disabled(const struct servicebusatom_entry *e)
{
	return strcmp(e->status, "Disabled") == 0 || strcmp(e->status, "ReceiveDisabled") == 0;
}

/* The argument of servicebusatom_fn. */
struct taker {
	const struct servicebus *q;
	struct servicebus_state *state;
};

static int take_one(void *arg, const struct servicebusatom_entry *e, struct err *err)
{
	const struct taker *r = arg;
	const char *name = r->q->queue ? r->q->queue : r->q->subscription;

	if (check_kind(r->q, e, err) || check_active(r->q, name, e->active, err))
		return -1;
	if (is_disabled(e))
		return err_set(err, ERR_INVALID, "%s %.260s is disabled (%s)", r->q->queue ? "queue" : "subscription",
			name, e->status);
	r->state->sum = e->active;
	return 0;
}

/* A disabled entity is skipped and does not fail the others. */
static int take_listed(void *arg, const struct servicebusatom_entry *e, struct err *err)
{
	const struct taker *r = arg;
	struct servicebus_state *state = r->state;
	bool fits = re2_matches(r->q->regex, e->title, &state->budget);

	if (state->budget == 0)
		return err_set(err, ERR_INVALID, "the regular expression takes too long on the names of a page");
	if (!*e->title)
		return err_set(err, ERR_INVALID, "an entry of the list has no name");
	if (!fits)
		return 0;
	if (check_kind(r->q, e, err) || check_active(r->q, e->title, e->active, err))
		return -1;
	if (is_disabled(e)) {
		strncpy(state->disabled, e->title, sizeof(state->disabled) - 1);
		return 0;
	}
	state->counted++;
	state->sum += e->active;
	if (e->active > state->greatest)
		state->greatest = e->active;
	return 0;
}

/* No match means 0. An average is a whole number, as in KEDA. */
static enum exchange_verdict end_of_list(const struct servicebus *q, const struct servicebus_state *state,
	struct answer *out, struct err *err)
{
	if (state->counted == 0 && *state->disabled)
		return err_set(err, ERR_INVALID,
			"%s %s is disabled, like all others that the regular expression matches",
			q->queue ? "queue" : "subscription", state->disabled);
	switch (q->operation) {
	case OPERATION_SUM: out->value = (double)state->sum; break;
	case OPERATION_MAX: out->value = (double)state->greatest; break;
	case OPERATION_AVG: out->value = state->counted ? (double)(state->sum / (int64_t)state->counted) : 0; break;
	}
	return EXCHANGE_DONE;
}

/* The list ends with an empty page, as the service chooses the size of pages. */
static enum exchange_verdict judge_page(const struct taker *r, const struct servicebusatom *page, struct answer *out,
	struct err *err)
{
	if (!page->is_feed)
		return err_set(err, ERR_INVALID, "the answer is not a list");
	r->state->seen += page->entries;
	return page->entries > 0 ? EXCHANGE_NEXT : end_of_list(r->q, r->state, out, err);
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct servicebus *q = ask->data;
	struct taker r = { q, ask->state };
	struct servicebusatom page;

	r.state->budget = REGEX_BUDGET;
	if (answer->status == 404 || answer->status == 410)
		return missing(q, err);
	if (answer->status != 200)
		return refuse(q, answer, err);
	if (servicebusatom_read(answer->body, answer->len, q->regex ? take_listed : take_one, &r, &page, err))
		return EXCHANGE_FAILED;
	if (page.is_nothing)
		return missing(q, err);
	if (q->regex)
		return judge_page(&r, &page, out, err);
	if (page.is_feed || page.entries != 1)
		return err_set(err, ERR_INVALID, "the answer is not about one %s", q->queue ? "queue" : "subscription");
	out->value = (double)r.state->sum;
	return EXCHANGE_DONE;
}

static const struct httpsource_type http = { .max_body = ANSWER_MAX,
	.state_size = sizeof(struct servicebus_state),
	.request = request,
	.read = judge };

const struct scaler_type servicebus_scaler_type = {
	.name = "azure-servicebus",
	.go_name = "azureServiceBusScaler",
	.tables = { &table, &login_table, &azurecloudparams_table },
	.data_size = sizeof(struct servicebus),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
	.azure_workload = true,
};
