/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/webhook.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/counters.h"
#include "base/dnsname.h"
#include "base/duration.h"
#include "base/hash.h"
#include "base/mem.h"
#include "decide/validate/validate.h"
#include "serve/admissionreview.h"

#define ANSWER_MAX        (1 << 20)
#define TIME_MS           8000 /* to gather the facts; the API server waits 10 s by default ... */
#define TIME_MARGIN_MS    500  /* ... and sends its timeout as ?timeout=; this much of it is for us and the network */
#define NAMESPACES_MAX    1000 /* counted by name at a time: anyone may send any name */
#define NAMESPACE_LEN_MAX 63   /* of a namespace's name; the text sent may be megabytes long */

struct counted {    /* a namespace that is counted by name */
	char *name; /* owned; the key */
	UT_hash_handle hh;
};

struct webhook {
	unsigned under_way;
	struct counters_family *validations, *errors;
	struct counted *namespaces; /* least recently counted first */
};

struct webhook_call {
	struct webhook *owner;
	struct request *request;
	struct admit_wait *wait;
	const char *kind;       /* a literal */
	const char *action;     /* a literal: "create", "update" */
	char *namespace_, *uid; /* owned */
};

static const struct {
	const char *path, *kind;
} kinds[] = {
	{ WEBHOOK_SCALEDOBJECT, "ScaledObject" },
	{ WEBHOOK_SCALEDJOB, "ScaledJob" },
	{ WEBHOOK_TRIGGERAUTH, "TriggerAuthentication" },
	{ WEBHOOK_CLUSTERTRIGGERAUTH, "ClusterTriggerAuthentication" },
};

/* A literal; NULL: not judged at this path. */
static const char *kind_of(const struct request *r, const struct admissionreview *review)
{
	const char *at = r->route->pattern;

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (strcmp(kinds[i].kind, review->kind) == 0 &&
			(strcmp(at, WEBHOOK_ANY) == 0 || strcmp(at, kinds[i].path) == 0))
			return kinds[i].kind;
	return NULL;
}

/* ---- Counting: KEDA's names (doc/keda.md 7.1) ---- */

static void forget_namespace(struct webhook *w, struct counted *c)
{
	counters_drop(w->validations, "namespace", c->name, NULL, NULL);
	counters_drop(w->errors, "namespace", c->name, NULL, NULL);
	HASH_DEL(w->namespaces, c);
	free(c->name);
	free(c);
}

/* A new one replaces the least recently counted one. */
static const char *counted_namespace(struct webhook *w, const char *namespace_)
{
	struct counted *c;

	HASH_FIND_STR(w->namespaces, namespace_, c);
	if (c) {
		HASH_DEL(w->namespaces, c);
	} else {
		if (strlen(namespace_) > NAMESPACE_LEN_MAX || !dnsname_is_subdomain(namespace_, strlen(namespace_)))
			return "";
		if (HASH_COUNT(w->namespaces) >= NAMESPACES_MAX)
			forget_namespace(w, w->namespaces);
		c = mem_zalloc(sizeof(*c));
		c->name = mem_dup(namespace_);
	}
	HASH_ADD_KEYPTR(hh, w->namespaces, c->name, strlen(c->name), c);
	return namespace_;
}

static void count_validation(const struct webhook_call *call)
{
	if (strcmp(call->kind, "ScaledObject") == 0)
		counters_add(call->owner->validations,
			(const char *const[]){ counted_namespace(call->owner, call->namespace_), call->action }, 1);
}

static void count_refusal(const struct webhook_call *call, const struct admit_verdict *verdict)
{
	if (!verdict->allowed && strncmp(call->kind, "Scaled", 6) == 0)
		counters_add(call->owner->errors,
			(const char *const[]){ counted_namespace(call->owner, call->namespace_), call->action,
				verdict->reason },
			1);
}

/* ---- Calls ---- */

static void call_free(struct webhook_call *call)
{
	call->owner->under_way--;
	free(call->namespace_);
	free(call->uid);
	free(call);
}

/* The client left, or the server ends. */
static void give_up(void *arg)
{
	struct webhook_call *call = arg;

	admit_cancel(call->wait);
	call_free(call);
}

static void reply(struct request *r, const char *uid, const struct admit_verdict *verdict)
{
	struct buf out = BUF_INIT(ANSWER_MAX);

	admissionreview_write(&out, uid, verdict);
	request_reply(r, 200, "application/json", out.data, out.len);
	buf_done(&out);
}

static void on_verdict(void *arg, const struct admit_verdict *verdict)
{
	struct webhook_call *call = arg;
	struct request *r = call->request;

	r->give_up = NULL;
	count_refusal(call, verdict);
	reply(r, call->uid, verdict);
	call_free(call);
}

static int64_t deadline_ms(const struct request *r)
{
	const char *text = httpd_query(r->http, "timeout");
	int64_t time_ms = TIME_MS, given_ms;

	if (text && duration_parse(text, &given_ms, NULL) == 0 && given_ms - TIME_MARGIN_MS < time_ms)
		time_ms = given_ms > 2 * TIME_MARGIN_MS ? given_ms - TIME_MARGIN_MS : given_ms / 2;
	return loop_now_ms(r->serve->loop) + time_ms;
}

static void ask_verdict(struct request *r, const struct admissionreview *review, const char *kind, const char *action)
{
	struct webhook_call *call = mem_zalloc(sizeof(*call));
	struct admit_request request = {
		.kind = kind,
		.object = review->object,
		.old_object = review->old_object,
		.dry_run = review->dry_run,
		.deadline_ms = deadline_ms(r),
	};

	call->owner = r->serve->webhook;
	call->owner->under_way++;
	call->request = r;
	call->kind = kind;
	call->action = action;
	call->namespace_ = mem_dup(review->namespace_);
	call->uid = mem_dup(review->uid);
	count_validation(call);
	request_wait(r, call, give_up);
	call->wait = admit_ask(r->serve->cache->admit, &request, on_verdict, call);
}

/* ---- Requests ---- */

static bool is_json(const char *content_type)
{
	static const char json[] = "application/json";
	size_t len = sizeof(json) - 1;

	return content_type && strncasecmp(content_type, json, len) == 0 &&
		(content_type[len] == '\0' || strchr("; ", content_type[len]));
}

static void handle_review(struct request *r, const struct admissionreview *review)
{
	static const struct admit_verdict allowed = { .allowed = true };
	const char *kind = kind_of(r, review);

	if (!kind)
		request_refuse(r, APISTATUS_BAD_REQUEST, "request.kind: %.80s is not validated here", review->kind);
	else if (strcmp(review->operation, "CREATE") == 0)
		ask_verdict(r, review, kind, "create");
	else if (strcmp(review->operation, "UPDATE") == 0)
		ask_verdict(r, review, kind, "update");
	else
		reply(r, review->uid, &allowed); /* a deletion is always allowed */
}

void webhook_handle(struct request *r)
{
	struct admissionreview review;
	struct err err;
	const char *body;
	size_t len;

	if (!is_json(httpd_header(r->http, "Content-Type"))) {
		request_refuse(r, APISTATUS_UNSUPPORTED_MEDIA_TYPE,
			"an AdmissionReview as application/json is wanted here");
		return;
	}
	if (r->serve->webhook->under_way >= WEBHOOK_CALLS_MAX) {
		request_refuse(r, APISTATUS_TOO_MANY_REQUESTS, "%d objects are being validated: too many at once",
			WEBHOOK_CALLS_MAX);
		return;
	}
	body = httpd_body(r->http, &len);
	if (admissionreview_read(body, len, &review, &err) < 0) {
		request_refuse(r, APISTATUS_BAD_REQUEST, "%s", err.msg);
		return;
	}
	handle_review(r, &review);
	admissionreview_done(&review);
}

struct webhook *webhook_new(struct counters *counters)
{
	static const char *const labels[] = { "namespace", "action", "reason", NULL };
	struct webhook *w = mem_zalloc(sizeof(*w));

	w->validations = counters_declare(counters, COUNTERS_COUNTER, "keda_webhook_scaled_object_validations_total",
		"Admission reviews of ScaledObjects.", (const char *const[]){ "namespace", "action", NULL });
	w->errors = counters_declare(counters, COUNTERS_COUNTER, "keda_webhook_scaled_object_validation_errors_total",
		"Refused ScaledObjects and ScaledJobs, by reason.", labels);
	return w;
}

void webhook_free(struct webhook *w)
{
	struct counted *c, *next;

	if (!w)
		return;
	HASH_ITER (hh, w->namespaces, c, next) {
		HASH_DEL(w->namespaces, c);
		free(c->name);
		free(c);
	}
	free(w);
}
