/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/servicebus.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/http/httpstatus.h"
#include "net/sign/azuresign.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/azure/busconnection.h"
#include "scalers/azure/servicebusatom.h"
#include "scalers/azurelogin.h"
#include "scalers/httpsource.h"
#include "scalers/params.h"
#include "scalers/values/promregex.h"

/* A page of 100 queues has some 400 KiB. */
#define ANSWER_MAX ((size_t)4 << 20)
#define URL_MAX    ((size_t)1 << 14)
#define PAGE       100
/* For all pages of a list; a namespace has at most 10,000 queues. */
#define LIST_MS 60000
/* A clock may be wrong by that much. */
#define TOKEN_LIFE_S 3600
/* For the names of one page: some milliseconds. */
#define REGEX_BUDGET 1000000
#define API          "api-version=2021-05"

enum operation { OPERATION_SUM, OPERATION_MAX, OPERATION_AVG };
static const char
	*const operations[] = { [OPERATION_SUM] = "sum", [OPERATION_MAX] = "max", [OPERATION_AVG] = "avg", NULL };

/* The data of a question. */
struct servicebus_question {
	struct httpsource_login login;
	char *base;       /* "https://shop.servicebus.windows.net" */
	char *path;       /* of the entity, or of the list */
	char *key_name;   /* of the policy whose key, the login's password, signs each request; NULL: none does */
	bool by_identity; /* else, without key_name: by a signature that was given */
	bool of_entity;   /* the key is one entity's */
	char *queue, *topic, *subscription; /* as written; of a list one of them is the expression */
	struct promregex *regex;            /* NULL: one entity */
	enum operation operation;
};

/* The parameters as written. Owns its texts. */
struct servicebus_fields {
	char *queue, *topic, *subscription, *connection, *namespace_;
	int64_t target, activation;
	bool by_regex;
	unsigned operation; /* enum operation */
};

#define AT(field) offsetof(struct servicebus_fields, field)
static const struct param_row rows[] = {
	{ "queueName", PARAM_TEXT, "m", AT(queue), .help = "name of the queue" },
	{ "topicName", PARAM_TEXT, "m", AT(topic), .help = "name of a topic, instead" },
	{ "subscriptionName", PARAM_TEXT, "m", AT(subscription), .help = "name of a subscription to it" },
	{ "useRegex", PARAM_BOOL, "m", AT(by_regex),
		.help = "queueName or subscriptionName is a regular expression for whole names" },
	{ "operation", PARAM_CHOICE, "m", AT(operation), .words = operations,
		.help = "of the numbers of all whose names it fits: sum, max, or avg" },
	{ "messageCount", PARAM_INT64, "m", AT(target), .otherwise = "5", .help = "target: as many per replica" },
	{ "activationMessageCount", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
	{ "connection", PARAM_TEXT, "ae", AT(connection),
		.help = "connection string, of a policy with the right Manage" },
	{ "namespace", PARAM_TEXT, "m", AT(namespace_),
		.help = "name of the Service Bus namespace, with podIdentity azure-workload" },
	{ "queueLength", PARAM_DROPPED, "m", .why = "KEDA dropped it in 2.0: use messageCount",
		.help = "the old name of messageCount" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct servicebus_question *q = data;

	webaccess_unref(q->login.access);
	promregex_free(q->regex);
	free(q->base);
	free(q->path);
	free(q->key_name);
	free(q->queue);
	free(q->topic);
	free(q->subscription);
	free(q);
}

/* ---- Building ---- */

/* What one row cannot say, in KEDA's order and words. */
static int check_entity(const struct servicebus_fields *f, struct err *err)
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

static int read_regex(const struct servicebus_fields *f, struct servicebus_question *q, struct err *err)
{
	const char *name = f->queue ? "queueName" : "subscriptionName";

	if (!f->by_regex)
		return 0;
	q->regex = promregex_compile(f->queue ? f->queue : f->subscription, err);
	return q->regex ? 0 : (err_wrap(err, "%s is not a valid regular expression", name), err_about(err, name));
}

/* Names may have slashes in them, which part folders. */
static int make_path(const struct servicebus_fields *f, struct servicebus_question *q, struct err *err)
{
	struct buf path = BUF_INIT(URL_MAX / 2);

	buf_puts(&path, f->by_regex && f->queue ? "/$Resources/Queues" : "/");
	if (f->topic || !f->by_regex)
		buf_put_percent(&path, f->topic ? f->topic : f->queue, "/");
	if (f->topic)
		buf_puts(&path, f->by_regex ? "/Subscriptions" : "/Subscriptions/");
	if (f->topic && !f->by_regex)
		buf_put_percent(&path, f->subscription, "");
	if (buf_failed(&path)) {
		buf_done(&path);
		return err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", URL_MAX);
	}
	q->path = buf_take(&path);
	return 0;
}

static int log_in_by_string(const char *connection, struct servicebus_question *q, struct err *err)
{
	struct webaccess_config config = { 0 };
	struct busconnection c;

	if (!connection)
		return err_set_about(err, "connection",
			"no connection setting given: give connection by a TriggerAuthentication or connectionFromEnv, "
			"or say in one podIdentity.provider azure-workload");
	if (busconnection_parse(connection, &c, err))
		return err_wrap(err, "parameter \"connection\"");
	q->base = mem_printf("https://%s", c.host);
	q->of_entity = c.entity_path != NULL;
	if (c.signature) {
		config.header_name = "Authorization";
		config.header_value = c.signature;
	} else {
		q->key_name = mem_dup(c.key_name);
		config.password = c.key; /* without a user it is not sent */
	}
	q->login.access = webaccess_new(&config, err);
	busconnection_done(&c);
	return q->login.access ? 0 : err_wrap(err, "parameter \"connection\"");
}

static int log_in_as_kscaled(const struct scaler_params *params, const char *namespace_, struct servicebus_question *q,
	struct err *err)
{
	struct webaccess_config config = { 0 };
	MEM_AUTO char *suffix = NULL, *host = NULL;
	int rc;

	if (!namespace_)
		return err_set_about(err, "namespace", "namespace are required when using pod identity");
	if (!azurecloud_is_label(namespace_))
		return err_set(err, ERR_INVALID, "parameter \"namespace\" value \"%.100s\" is no name of a namespace",
			namespace_);
	rc = azurecloudparams_read(params, AZURECLOUD_SERVICE_BUS, &suffix, err);
	if (rc)
		return rc;
	host = mem_printf("%s.%s", namespace_, suffix);
	config.identity = azurelogin_new(params->identity, NULL,
		&(struct disclosure){ .service = AZURECLOUD_SERVICE_BUS, .host = host }, err);
	if (!config.identity)
		return -1;
	q->base = mem_printf("https://%s", host);
	q->by_identity = true;
	q->login.access = webaccess_new(&config, err);
	identity_unref(config.identity);
	return q->login.access ? 0 : -1;
}

/* 1: some values are unknown, and the question is incomplete. */
static int read_question(const struct scaler_params *params, struct servicebus_fields *f, struct servicebus_question *q,
	struct err *err)
{
	int rc = params_read(&table, params, f, err), workload;

	if (rc < 0 || check_entity(f, err) || read_regex(f, q, err) || make_path(f, q, err) ||
		params_check_target(params, "messageCount", &f->target, err))
		return -1;
	workload = azurelogin_is_workload(params->identity, "azure-servicebus", err);
	if (workload < 0)
		return -1;
	if (workload)
		return log_in_as_kscaled(params, f->namespace_, q, err);
	return rc ? rc : log_in_by_string(f->connection, q, err);
}

static char *make_key(const struct servicebus_question *q)
{
	const char *texts[] = { q->key_name, q->queue, q->subscription };
	char print[FINGERPRINT_TEXT];

	return mem_printf("azure-servicebus %s%s %s %s %s", q->base, q->path, webaccess_key(q->login.access),
		fingerprint_of(texts, MEM_COUNT(texts), print), q->regex ? operations[q->operation] : "-");
}

static char *make_metric_name(const struct servicebus_fields *f)
{
	if (f->by_regex)
		return mem_dup(f->queue ? "azure-servicebus-queue-regex" : "azure-servicebus-topic-regex");
	return params_normalise(mem_printf("azure-servicebus-%s", f->queue ? f->queue : f->topic));
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct servicebus_question *q = mem_zalloc(sizeof(*q));
	struct servicebus_fields f = { 0 };
	int rc = read_question(params, &f, q, err);

	if (rc >= 0) {
		out->target = quantity_from_int(f.target);
		out->activation = (double)f.activation;
		*metric_name = make_metric_name(&f);
		q->operation = f.operation;
		q->queue = f.queue;
		q->topic = f.topic;
		q->subscription = f.subscription;
		f.queue = f.topic = f.subscription = NULL;
	}
	if (rc == 0) {
		out->question = question_new(&servicebus_scaler_type, make_key(q),
			mem_printf("azure-servicebus %s", q->base), q);
		out->question->timeout_ms = q->regex ? LIST_MS : QUESTION_TIMEOUT_HTTP;
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

/* What the pages of a list have said so far. */
struct servicebus_note {
	size_t seen; /* entities of all pages */
	size_t budget;
	int64_t sum, greatest;
	size_t counted;
	char disabled[128]; /* a name that fits, of one that is not counted; "" */
};

/* Signed is what is asked, as Microsoft's client for Go does it. */
static void sign(const struct servicebus_question *q, struct httpsource_request *out)
{
	char *token = azuresign_token(out->url, q->key_name, webaccess_config(q->login.access)->password,
		timestamp_now_ms() / 1000 + TOKEN_LIFE_S);

	strmap_set(&out->headers, "Authorization", token);
	mem_free_secret(token);
}

static int request(const struct httpsource *ask, struct httpsource_request *out, struct err *err)
{
	const struct servicebus_question *q = ask->base.question->data;
	const struct servicebus_note *note = ask->note;

	(void)err;
	if (q->regex)
		out->url = mem_printf("%s%s?%%24skip=%zu&%%24top=%d&" API, q->base, q->path, note->seen, PAGE);
	else
		out->url = mem_printf("%s%s?" API, q->base, q->path);
	if (q->key_name)
		sign(q, out);
	out->max_body = ANSWER_MAX;
	return 0;
}

/* ---- What is said ---- */

static int missing(const struct servicebus_question *q, struct err *err)
{
	if (q->regex && q->queue)
		return err_set(err, ERR_MISSING, "the namespace has no list of queues: it may be no Service Bus");
	if (q->regex)
		return err_set(err, ERR_MISSING, "topic %.260s doesn't exist", q->topic);
	if (q->queue)
		return err_set(err, ERR_MISSING, "queue %.260s doesn't exist", q->queue);
	return err_set(err, ERR_MISSING, "subscription %.100s doesn't exist in topic %.260s", q->subscription,
		q->topic);
}

static const char *advice(const struct servicebus_question *q, int status)
{
	if (status != 401)
		return "";
	if (q->by_identity)
		return "; kscaled's identity needs a role that may read it, as Azure Service Bus Data Owner has";
	if (!q->key_name)
		return "; the SharedAccessSignature of connection may have expired, or its policy lacks the right "
		       "Manage";
	return q->of_entity ? "; connection needs a policy with the right Manage, and its EntityPath must be this "
			      "queue or topic"
			    : "; connection needs a policy with the right Manage";
}

/* The token that was sent opens the entity for a while, so words that repeat it are not shown. */
static int refuse(const struct servicebus_question *q, const struct webget_answer *answer, struct err *err)
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

static int check_kind(const struct servicebus_question *q, const struct servicebusatom_entry *e, struct err *err)
{
	if (e->kind == (q->queue ? SERVICEBUSATOM_QUEUE : SERVICEBUSATOM_SUBSCRIPTION))
		return 0;
	if (q->queue && e->kind == SERVICEBUSATOM_TOPIC)
		return err_set(err, ERR_INVALID, "%.260s is a topic: topicName and subscriptionName are for those",
			q->queue);
	return err_set(err, ERR_INVALID, "the answer is not about a %s", q->queue ? "queue" : "subscription");
}

/* Where the namespace is throttled, the service says of an entity only what never changes. */
static int check_active(const struct servicebus_question *q, const char *name, int64_t active, struct err *err)
{
	return active >= 0
		? 0
		: err_set(err, ERR_TEMPORARY,
			  "%s %.260s: the answer has no number of active messages, as while the namespace is "
			  "throttled",
			  q->queue ? "queue" : "subscription", name);
}

/* Nobody can receive, so more replicas would be of no use (kedacore/keda#5712). */
static bool is_disabled(const struct servicebusatom_entry *e)
{
	return strcmp(e->status, "Disabled") == 0 || strcmp(e->status, "ReceiveDisabled") == 0;
}

/* What a read function is given. */
struct taker {
	const struct servicebus_question *q;
	struct servicebus_note *note;
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
	r->note->sum = e->active;
	return 0;
}

/* From one that is disabled nobody can receive: it is passed over, and does not stop the others. */
static int take_listed(void *arg, const struct servicebusatom_entry *e, struct err *err)
{
	const struct taker *r = arg;
	struct servicebus_note *note = r->note;
	bool fits = promregex_fits(r->q->regex, e->title, &note->budget);

	if (note->budget == 0)
		return err_set(err, ERR_INVALID, "the regular expression takes too long on the names of a page");
	if (!*e->title)
		return err_set(err, ERR_INVALID, "an entry of the list has no name");
	if (!fits)
		return 0;
	if (check_kind(r->q, e, err) || check_active(r->q, e->title, e->active, err))
		return -1;
	if (is_disabled(e)) {
		strncpy(note->disabled, e->title, sizeof(note->disabled) - 1);
		return 0;
	}
	note->counted++;
	note->sum += e->active;
	if (e->active > note->greatest)
		note->greatest = e->active;
	return 0;
}

/* No match is 0: the service said so. An average is a whole number, as in KEDA. */
static enum httpsource_verdict end_of_list(const struct servicebus_question *q, const struct servicebus_note *note,
	struct answer *out, struct err *err)
{
	if (note->counted == 0 && *note->disabled) {
		err_set(err, ERR_INVALID, "%s %s is disabled, as is each one that the regular expression fits",
			q->queue ? "queue" : "subscription", note->disabled);
		return HTTPSOURCE_FAILED;
	}
	switch (q->operation) {
	case OPERATION_SUM: out->value = (double)note->sum; break;
	case OPERATION_MAX: out->value = (double)note->greatest; break;
	case OPERATION_AVG: out->value = note->counted ? (double)(note->sum / (int64_t)note->counted) : 0; break;
	}
	return HTTPSOURCE_ANSWERED;
}

/* The list ends with an empty page: how many are on one is the service's own. */
static enum httpsource_verdict judge_page(const struct taker *r, const struct servicebusatom *page, struct answer *out,
	struct err *err)
{
	if (!page->is_feed) {
		err_set(err, ERR_INVALID, "the answer is no list");
		return HTTPSOURCE_FAILED;
	}
	r->note->seen += page->entries;
	return page->entries > 0 ? HTTPSOURCE_NEXT : end_of_list(r->q, r->note, out, err);
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webget_answer *answer, struct answer *out,
	struct err *err)
{
	const struct servicebus_question *q = ask->base.question->data;
	struct taker r = { q, ask->note };
	struct servicebusatom page;
	int rc;

	r.note->budget = REGEX_BUDGET;
	if (answer->status == 404 || answer->status == 410)
		rc = missing(q, err);
	else if (answer->status != 200)
		rc = refuse(q, answer, err);
	else
		rc = servicebusatom_read(answer->body, answer->len, q->regex ? take_listed : take_one, &r, &page, err);
	if (rc == 0 && page.is_nothing)
		rc = missing(q, err);
	if (rc)
		return HTTPSOURCE_FAILED;
	if (q->regex)
		return judge_page(&r, &page, out, err);
	if (page.is_feed || page.entries != 1) {
		err_set(err, ERR_INVALID, "the answer is not about one %s", q->queue ? "queue" : "subscription");
		return HTTPSOURCE_FAILED;
	}
	out->value = (double)r.note->sum;
	return HTTPSOURCE_ANSWERED;
}

static const struct httpsource_type http = { .note_size = sizeof(struct servicebus_note),
	.request = request,
	.read = judge };

const struct scaler_type servicebus_scaler_type = {
	.name = "azure-servicebus",
	.go_name = "azureServiceBusScaler",
	.tables = { &table, &azurecloudparams_table },
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
	.azure_workload = true,
};
