/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/external/external.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/grpc/grpcendpoint.h"
#include "scalers/external/externalmessages.h"
#include "scalers/external/externalpush.h"
#include "scalers/params.h"
#include "scalers/sources.h"

#define SERVICE      "/externalscaler.ExternalScaler/"
#define FROM_ENV     "FromEnv"
#define MESSAGE_MAX  ((size_t)2 << 20) /* of ours: an object is no larger */
#define HIDDEN_LEAST 4                 /* shorter values of the environment are no secrets, and stand in any text */

/*
 * One trigger of one object, as its server gets to know it; shared by the questions about its
 * metrics.
 */
struct source {
	unsigned count;
	const struct scaler_type *type;
	struct grpcendpoint *endpoint;
	char *namespace_, *object;
	struct strmap metadata;  /* as sent: variables are there by value */
	struct strmap variables; /* its keys that came from the environment */
	struct buf reference;
	char *key, *name; /* of the question as a whole */
};

struct external_question {
	struct source *source;
	char *metric;       /* NULL: which metrics are there is not known */
	size_t position;    /* among them */
	struct buf request; /* packed; empty without a metric */
};

/* How the server is reached, as it is written. Owns its texts. */
struct fields {
	char *address, *ca, *cert, *key;
	bool tls, insecure;
};

#define AT(field) offsetof(struct fields, field)
static const struct param_row rows[] = {
	{ "scalerAddress", PARAM_TEXT, "m", AT(address), .required = true, .help = "host:port of the server" },
	{ "enableTLS", PARAM_BOOL, "m", AT(tls), .help = "TLS" },
	{ "unsafeSsl", PARAM_BOOL, "m", AT(insecure), .help = "TLS that verifies nothing" },
	{ "caCert", PARAM_TEXT, "a", AT(ca), .help = "authority that signs the server, PEM" },
	{ "tlsClientCert", PARAM_TEXT, "a", AT(cert), .help = "client certificate, PEM" },
	{ "tlsClientKey", PARAM_TEXT, "a", AT(key), .help = "its key, PEM" },
	{ "*", PARAM_OTHERS, "m", .help = "what the server is told" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- What a trigger says ---- */

static void source_unref(struct source *s)
{
	if (--s->count > 0)
		return;
	grpcendpoint_unref(s->endpoint);
	free(s->namespace_);
	free(s->object);
	free(s->key);
	free(s->name);
	strmap_done_secret(&s->metadata);
	strmap_done(&s->variables);
	buf_done_secret(&s->reference);
	free(s);
}

static bool is_variable(const char *key)
{
	size_t len = strlen(key), suffix = sizeof(FROM_ENV) - 1;

	return len > suffix && strcmp(key + len - suffix, FROM_ENV) == 0;
}

static char *trimmed(const char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	return mem_dupn(text, len);
}

/*
 * The key stays as it is, the value becomes the variable's; one that is not there or empty is not
 * sent (A.9). One that is there and cannot be had is an error.
 */
static int take_variable(const struct scaler_params *params, const struct strmap_pair *pair, struct source *s,
	struct err *err)
{
	MEM_AUTO char *variable = trimmed(pair->value);
	const char *value = params->env ? strmap_get(params->env, variable) : NULL;
	const char *why = params->unresolved ? strmap_get(params->unresolved, variable) : NULL;

	if (!value && why)
		return err_set(err, ERR_INVALID,
			"parameter \"%s\": environment variable %s of the target's container %s", pair->key, variable,
			why);
	if (!value || !*value)
		return 0;
	strmap_set(&s->metadata, pair->key, value);
	strmap_set(&s->variables, pair->key, "");
	return 0;
}

/* Values of the authentication are never sent. */
static int take_metadata(const struct scaler_params *params, struct source *s, struct err *err)
{
	for (size_t i = 0; i < params->metadata->count; i++) {
		const struct strmap_pair *pair = &params->metadata->pairs[i];

		if (!is_variable(pair->key))
			strmap_set(&s->metadata, pair->key, pair->value);
		else if (take_variable(params, pair, s, err))
			return -1;
	}
	return 0;
}

static int make_endpoint(const struct fields *f, struct source *s, struct err *err)
{
	const struct grpcendpoint_config config = { .target = f->address,
		.tls = f->tls || f->ca || f->cert,
		.insecure = f->insecure,
		.ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key };

	if (!f->cert != !f->key)
		return err_set(err, ERR_INVALID,
			"parameters \"tlsClientCert\" and \"tlsClientKey\" belong together: only %s is given",
			f->cert ? "tlsClientCert" : "tlsClientKey");
	s->endpoint = grpcendpoint_new(&config, err);
	return s->endpoint ? 0 : err_wrap(err, "parameter \"scalerAddress\"");
}

/* 1: some values are unknown, and the source is nothing. */
static int read_source(const struct scaler_params *params, struct source *s, struct err *err)
{
	struct fields f = { 0 };
	int rc = params_read(&table, params, &f, err);

	if (rc == 0)
		rc = make_endpoint(&f, s, err);
	params_done(&table, &f);
	return rc == 0 ? take_metadata(params, s, err) : rc;
}

/*
 * What a server is told decides what it answers: all of it is in the key, values of the environment
 * as fingerprints.
 */
static char *key_of(const struct source *s)
{
	const char **texts = mem_array(2 + 2 * s->metadata.count, sizeof(*texts));
	char fingerprint[FINGERPRINT_TEXT], *key;
	size_t count = 0;

	texts[count++] = s->namespace_;
	texts[count++] = s->object;
	for (size_t i = 0; i < s->metadata.count; i++) {
		texts[count++] = s->metadata.pairs[i].key;
		texts[count++] = s->metadata.pairs[i].value;
	}
	key = mem_printf("%s %s %s", s->type->name, grpcendpoint_key(s->endpoint),
		fingerprint_of(texts, count, fingerprint));
	free(texts);
	return key;
}

static struct question *make_question(struct source *s, const char *metric, size_t position)
{
	struct external_question *q = mem_zalloc(sizeof(*q));

	s->count++;
	q->source = s;
	q->position = position;
	buf_init(&q->request, MESSAGE_MAX);
	if (metric) {
		q->metric = mem_dup(metric);
		externalmessages_put_request(&q->request, s->namespace_, s->object, &s->metadata, metric);
	}
	return question_new(s->type, metric ? mem_printf("%s metric %s", s->key, metric) : mem_dup(s->key),
		mem_dup(s->name), q);
}

static int build(const struct scaler_type *type, const struct scaler_params *params, struct scaler *out,
	char **metric_name, struct err *err)
{
	struct source *s = mem_zalloc(sizeof(*s));
	int rc;

	s->count = 1;
	s->type = type;
	s->namespace_ = mem_dup(params->namespace_ ? params->namespace_ : "");
	s->object = mem_dup(params->object ? params->object : "");
	buf_init(&s->reference, MESSAGE_MAX);
	rc = params_metric_type(params, &out->target_type, err) ? -1 : read_source(params, s, err);
	if (rc == 0) {
		s->key = key_of(s);
		s->name = mem_printf("external %s", grpcendpoint_address(s->endpoint));
		externalmessages_put_ref(&s->reference, s->namespace_, s->object, &s->metadata);
		out->question = make_question(s, NULL, 0);
	}
	out->undescribed = true;
	out->target = quantity_from_int(1);
	*metric_name = mem_dup(type->name);
	source_unref(s);
	return rc < 0 ? -1 : 0;
}

static int external_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	return build(&external_scaler_type, params, out, metric_name, err);
}

static int external_push_build(const struct scaler_params *params, struct scaler *out, char **metric_name,
	struct err *err)
{
	return build(&external_push_scaler_type, params, out, metric_name, err);
}

static struct question *external_narrow(const struct question *question, const char *metric, size_t position)
{
	const struct external_question *q = question->data;

	return make_question(q->source, metric, position);
}

static void external_free_data(void *data)
{
	struct external_question *q = data;

	source_unref(q->source);
	buf_done_secret(&q->request);
	free(q->metric);
	free(q);
}

struct grpcendpoint *external_endpoint(const struct external_question *q)
{
	return q->source->endpoint;
}

const struct buf *external_reference(const struct external_question *q)
{
	return &q->source->reference;
}

void external_name_error(const struct question *question, struct err *err)
{
	const struct source *s = ((const struct external_question *)question->data)->source;

	for (size_t i = 0; i < s->variables.count; i++) {
		const char *value = strmap_get(&s->metadata, s->variables.pairs[i].key);

		if (strlen(value) >= HIDDEN_LEAST && strstr(err->msg, value))
			err_set(err, err->kind, "its words are not shown, as they repeat the value of %s",
				s->variables.pairs[i].key);
	}
	err_wrap(err, "%s", question->source);
}

/* ---- Which metrics there are ---- */

struct describe {
	struct grpc_call *call;
	struct question *question;
	describe_fn fn;
	void *arg;
};

static void describe_free(struct describe *d)
{
	question_unref(d->question);
	free(d);
}

static void on_specs(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct describe *d = arg;
	struct description description = { 0 };
	struct err err = { 0 };

	if (failure)
		err = *failure;
	else if (externalmessages_get_description(bytes, len, &description, &err))
		err_wrap(&err, "GetMetricSpec");
	if (err.kind != ERR_NONE)
		external_name_error(d->question, &err);
	d->fn(d->arg, err.kind == ERR_NONE ? &description : NULL, err.kind == ERR_NONE ? NULL : &err);
	description_done(&description);
	describe_free(d);
}

static void *external_describe(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
	describe_fn fn, void *arg)
{
	const struct external_question *q = question->data;
	struct describe *d = mem_zalloc(sizeof(*d));

	d->question = question_ref(question);
	d->fn = fn;
	d->arg = arg;
	d->call = grpc_unary(sources->grpc, q->source->endpoint, SERVICE "GetMetricSpec",
		buf_text(&q->source->reference), q->source->reference.len, deadline_ms, on_specs, d);
	return d;
}

static void external_describe_cancel(void *handle)
{
	struct describe *d = handle;

	grpc_cancel(d->call);
	describe_free(d);
}

/* ---- What a metric is ---- */

struct ask {
	struct question *question;
	question_fn fn;
	void *arg;
	struct grpc_call *value, *active; /* both at once, over one connection; NULL when it has answered */
	void *describe;                   /* instead, when no metric is known */
	struct answer answer;
};

static void ask_free(struct ask *a)
{
	grpc_cancel(a->value);
	grpc_cancel(a->active);
	if (a->describe)
		external_describe_cancel(a->describe);
	question_unref(a->question);
	free(a);
}

static void fail(struct ask *a, struct err *err)
{
	a->fn(a->arg, NULL, err);
	ask_free(a);
}

static void succeed_if_whole(struct ask *a)
{
	if (a->value || a->active)
		return;
	a->fn(a->arg, &a->answer, NULL);
	ask_free(a);
}

static void fail_by(struct ask *a, const char *method, struct err *err)
{
	if (method)
		err_wrap(err, "%s", method);
	external_name_error(a->question, err);
	fail(a, err);
}

static void on_value(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };

	a->value = NULL;
	if (failure)
		fail_by(a, NULL, &err);
	else if (externalmessages_get_value(bytes, len, &a->answer.value, &err))
		fail_by(a, "GetMetrics", &err);
	else
		succeed_if_whole(a);
}

static void on_active(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };
	bool active = false;

	a->active = NULL;
	if (failure) {
		fail_by(a, NULL, &err);
	} else if (externalmessages_get_active(bytes, len, &active, &err)) {
		fail_by(a, "IsActive", &err);
	} else {
		a->answer.activity = active ? ACTIVITY_ACTIVE : ACTIVITY_INACTIVE;
		succeed_if_whole(a);
	}
}

/*
 * Without a metric there is no answer; that the server can say now which there are leads to other
 * questions in a moment (cache/readings/descriptions).
 */
static void on_described(void *arg, const struct description *description, const struct err *failure)
{
	struct ask *a = arg;
	struct err err = failure ? *failure : (struct err){ 0 };

	(void)description;
	a->describe = NULL;
	if (!failure)
		err_set(&err, ERR_TEMPORARY, "%s: it has named its metrics just now, and is asked for them next",
			a->question->source);
	fail(a, &err);
}

static void *external_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
	question_fn fn, void *arg)
{
	const struct external_question *q = question->data;
	const struct source *s = q->source;
	struct ask *a = mem_zalloc(sizeof(*a));

	a->question = question_ref(question);
	a->fn = fn;
	a->arg = arg;
	if (!q->metric) {
		a->describe = external_describe(sources, question, deadline_ms, on_described, a);
		return a;
	}
	a->value = grpc_unary(sources->grpc, s->endpoint, SERVICE "GetMetrics", buf_text(&q->request), q->request.len,
		deadline_ms, on_value, a);
	a->active = grpc_unary(sources->grpc, s->endpoint, SERVICE "IsActive", buf_text(&s->reference),
		s->reference.len, deadline_ms, on_active, a);
	return a;
}

static void external_cancel(void *handle)
{
	ask_free(handle);
}

/* ---- Push ---- */

/* One stream is enough for a trigger: the first metric's. */
static void *external_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct external_question *q = question->data;

	return q->metric && q->position == 0 ? externalpush_watch(sources, question, look, arg) : NULL;
}

const struct scaler_type external_scaler_type = {
	.name = "external",
	.go_name = "externalScaler",
	.tables = { &table },
	.build = external_build,
	.ask = external_ask,
	.cancel = external_cancel,
	.free_data = external_free_data,
	.describe = external_describe,
	.describe_cancel = external_describe_cancel,
	.narrow = external_narrow,
};

const struct scaler_type external_push_scaler_type = {
	.name = "external-push",
	.go_name = "externalPushScaler",
	.tables = { &table },
	.build = external_push_build,
	.ask = external_ask,
	.cancel = external_cancel,
	.free_data = external_free_data,
	.watch = external_watch,
	.unwatch = externalpush_unwatch,
	.watch_report = externalpush_report,
	.describe = external_describe,
	.describe_cancel = external_describe_cancel,
	.narrow = external_narrow,
};
