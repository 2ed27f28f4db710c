/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/external/externalquestion.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/tls/tlsrules.h"
#include "scalers/external/externalmessages.h"

#define FROM_ENV     "FromEnv"
#define MESSAGE_MAX  ((size_t)2 << 20) /* of our messages; Kubernetes objects are smaller */
#define HIDDEN_LEAST 4                 /* shorter values are not secrets and occur in texts by chance */

/* Connection parameters as written. Owns its texts. */
struct external_fields {
	char *address, *ca, *cert, *key;
	bool tls, insecure;
};

#define AT(field) offsetof(struct external_fields, field)
static const struct param_row rows[] = {
	{ "scalerAddress", PARAM_TEXT, "m", AT(address), .required = true, .help = "host:port of the server" },
	{ "enableTLS", PARAM_BOOL, "m", AT(tls), .help = "TLS" },
	{ "unsafeSsl", PARAM_BOOL, "m", AT(insecure), .help = "true: do not verify the server's certificate" },
	{ "caCert", PARAM_TEXT, "a", AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "tlsClientCert", PARAM_TEXT, "a", AT(cert), .help = "client certificate, PEM" },
	{ "tlsClientKey", PARAM_TEXT, "a", AT(key), .help = "private key of tlsClientCert, PEM" },
	{ "*", PARAM_OTHERS, "m", .help = "passed to the server" },
};
const struct param_table externalquestion_table = PARAM_LOGIN_TABLE(rows);

/* ---- The parameters ---- */

static void source_unref(struct externalquestion_source *s)
{
	if (--s->count > 0)
		return;
	endpoint_unref(s->endpoint);
	free(s->namespace_);
	free(s->object);
	strmap_done_secret(&s->metadata);
	strmap_done(&s->variables);
	buf_done_secret(&s->reference);
	free(s);
}

/*
 * Sends the key with the variable's value; an absent or empty variable is not sent (A.9). A
 * variable that exists but cannot be read is an error.
 */
static int take_variable(const struct scaler_params *params, const struct strmap_pair *pair,
	struct externalquestion_source *s, struct err *err)
{
	MEM_AUTO char *variable = params_trimmed(pair->value);
	const char *value = params->env && variable ? strmap_get(params->env, variable) : NULL;
	const char *why = params->unresolved && variable ? strmap_get(params->unresolved, variable) : NULL;

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

/* Values from the TriggerAuthentication are never sent. */
static int take_metadata(const struct scaler_params *params, struct externalquestion_source *s, struct err *err)
{
	for (size_t i = 0; i < params->metadata->count; i++) {
		const struct strmap_pair *pair = &params->metadata->pairs[i];
		size_t len = strlen(pair->key), suffix = sizeof(FROM_ENV) - 1;

		if (len <= suffix || strcmp(pair->key + len - suffix, FROM_ENV) != 0)
			strmap_set(&s->metadata, pair->key, pair->value);
		else if (take_variable(params, pair, s, err))
			return -1;
	}
	return 0;
}

static int make_endpoint(const struct external_fields *f, const char *namespace_, struct externalquestion_source *s,
	struct err *err)
{
	const struct grpcendpoint_config config = { .namespace_ = namespace_,
		.target = f->address,
		.tls = f->tls || f->ca || f->cert,
		.tls_config = { .insecure = f->insecure, .ca_pem = f->ca, .cert_pem = f->cert, .key_pem = f->key } };

	if (params_check_pair("tlsClientCert", f->cert, "tlsClientKey", f->key, err) ||
		tlsrules_demand(config.tls, "set enableTLS to \"true\"", err))
		return -1;
	s->endpoint = grpcendpoint_new(&config, err);
	return s->endpoint ? 0 : params_wrap(err, "scalerAddress");
}

/* The key has everything that is sent, as the server's answer depends on it. */
static void add_key(struct scaler_build *b, const struct externalquestion_source *s)
{
	params_add_key(b, s->endpoint->base.key);
	params_add_key(b, s->namespace_);
	params_add_key(b, s->object);
	for (size_t i = 0; i < s->metadata.count; i++) {
		params_add_key(b, s->metadata.pairs[i].key);
		params_add_key(b, s->metadata.pairs[i].value);
	}
}

int externalquestion_build(struct scaler_build *b, struct err *err)
{
	const struct scaler_params *params = b->params;
	struct externalquestion *q = b->data;
	struct externalquestion_source *s = q->source = mem_zalloc(sizeof(*s));
	const struct external_fields *f = params_read_login(b, &externalquestion_table, sizeof(*f), err);

	s->count = 1;
	s->namespace_ = mem_dup(params->namespace_ ? params->namespace_ : "");
	s->object = mem_dup(params->object ? params->object : "");
	buf_init(&s->reference, MESSAGE_MAX);
	b->scaler->undescribed = true;
	b->scaler->target = quantity_from_int(1);
	b->metric_name = mem_dup(params->type);
	if (!f || b->open)
		return f ? 0 : -1;
	if (make_endpoint(f, params->namespace_, s, err) || take_metadata(params, s, err))
		return -1;
	externalmessages_put(&s->reference, s->namespace_, s->object, &s->metadata, NULL);
	b->source = mem_printf("external %s", s->endpoint->base.name);
	add_key(b, s);
	return 0;
}

struct question *externalquestion_narrow(const struct question *question, const char *metric, size_t position)
{
	const struct externalquestion *whole = question->data;
	struct externalquestion *q = mem_zalloc(sizeof(*q));

	whole->source->count++;
	*q = (struct externalquestion){ whole->source, mem_dup(metric), position };
	return question_new(question->type, mem_printf("%s metric %s", question->key, metric),
		mem_dup(question->source), q);
}

void externalquestion_done(void *data)
{
	struct externalquestion *q = data;

	if (q->source)
		source_unref(q->source);
	free(q->metric);
}

void externalquestion_name_error(const struct question *question, struct err *err)
{
	const struct externalquestion_source *s = ((const struct externalquestion *)question->data)->source;

	for (size_t i = 0; i < s->variables.count; i++) {
		const char *value = strmap_get(&s->metadata, s->variables.pairs[i].key);

		if (strlen(value) >= HIDDEN_LEAST && strstr(err->msg, value))
			err_set(err, err->kind, "the server's message is not shown, as it contains the value of %s",
				s->variables.pairs[i].key);
	}
	err_wrap(err, "%s", question->source);
}
