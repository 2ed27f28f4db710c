/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/checktriggers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/readings/triggerparams.h"
#include "cli/fields.h"
#include "decide/validate/validate.h"
#include "scalers/params.h"
#include "scalers/scalerbuild.h"
#include "scalers/sourceplace.h"

#define FIELD_SIZE 512

struct trial {
	struct offline *offline;
	const struct scaled *of;
	struct findings *findings;
	struct strmap env, unresolved; /* of the target */
	/* The current trigger, its place, and what its authentication provides. */
	const struct trigger *trigger;
	size_t index;
	struct strmap auth;
	struct pod_identity identity;

	bool env_read;             /* false: the environment is unknown */
	char *no_containers;       /* owned; as struct scaler_params has it */
	struct err secrets_denied; /* the same; ERR_NONE: they may be read */
};

/* ---- Findings ---- */

/* The key of the metadata that sets a parameter, directly or by a variable; NULL. */
static const char *key_of(const struct trigger *t, const char *name, size_t len)
{
	for (size_t i = 0; len > 0 && i < t->metadata.count; i++) {
		const char *key = t->metadata.pairs[i].key;

		if (strncmp(key, name, len) == 0 && (!key[len] || strcmp(key + len, "FromEnv") == 0))
			return key;
	}
	return NULL;
}

/* The key that a message begins with or quotes: `address "x": must be host:port`. */
static const char *key_in(const struct trigger *t, const char *message)
{
	const char *key = key_of(t, message, strcspn(message, " :")), *quote = strchr(message, '"');

	for (; !key && quote; quote = strchr(quote + 1, '"'))
		key = key_of(t, quote + 1, strcspn(quote + 1, "\""));
	return key;
}

/* REFUSED: only by kscaled's options: a problem if these are given, else a warning. */
enum severity { PROBLEM, WARNING, REFUSED };

static void tell(const struct offline *o, struct findings *f, enum severity severity, const char *field,
	const char *text)
{
	if (severity == PROBLEM || (severity == REFUSED && o->rules->given))
		findings_problem(f, field, "%s", text);
	else
		findings_warning(f, field, "%s", text);
}

/* below: what follows the path of the trigger, ".metadata"; "": nothing. text NULL: no finding. */
static void tell_trigger(const struct trial *j, enum severity severity, const char *below, const char *text)
{
	MEM_AUTO char *field = mem_printf("spec.triggers[%zu]%s", j->index, below);

	if (text)
		tell(j->offline, j->findings, severity, field, text);
}

/*
 * The field is the parameter, if the metadata has it, or may have it and no authentication provides
 * it; else the trigger.
 */
static void tell_fault(const struct trial *j, enum severity severity, struct param_fault *f)
{
	const struct scaler_type *type = scaler_type_find(j->trigger->type);
	const char *about = f->about, *key;
	MEM_AUTO char *below = NULL;

	offline_hide(j->offline, &f->err);
	key = *about ? key_of(j->trigger, about, strlen(about)) : key_in(j->trigger, f->err.msg);
	if (!key && *about && type && !strmap_get(&j->auth, about) && params_may_be_in_metadata(type->tables, about))
		key = about;
	below = type && key ? mem_printf(".metadata.%s", key) : NULL;
	tell_trigger(j, severity, below ? below : type ? "" : ".type", f->err.msg);
}

/* Only a warning, since KEDA accepts unknown keys. The line is that of the first key. */
static void tell_unknown(const struct trial *j, const char *unknown)
{
	const char *key = unknown ? strchr(unknown, '"') : NULL;
	int len = key ? (int)strcspn(key + 1, "\"") : 0;
	MEM_AUTO char *text = unknown ? mem_printf("no parameter of %s has this name: %s", j->trigger->type, unknown)
				      : NULL,
		      *below = len > 0 && len < FIELD_SIZE / 2 ? mem_printf(".metadata.%.*s", len, key + 1)
							       : mem_dup(".metadata");

	tell_trigger(j, WARNING, below, text);
}

/* For a type that KEDA has deprecated: KEDA's words, which the daemon puts into an Event. */
static void tell_announced(const struct trial *j)
{
	const struct scaler_type *type = scaler_type_find(j->trigger->type);
	MEM_AUTO char *text = type && type->announced ? mem_printf("%s: %s", type->name, type->announced) : NULL;

	tell_trigger(j, WARNING, ".type", text);
}

/* ---- Building ---- */

/*
 * Builds it again with the identity that the options allow. Errors of its authentication are
 * reported there.
 */
static void check_identity(const struct trial *j, const struct scaler_params *allowed)
{
	const struct auth_lookup lookup = offline_rules_of(j->offline);
	struct pod_identity rules = auth_identity(&lookup, j->trigger), identity = j->identity;
	struct scaler_params params = *allowed;
	struct param_faults faults;
	struct scaler scaler;

	if (identity.provider && !rules.may_be_kscaled)
		return;
	identity.may_be_kscaled = rules.may_be_kscaled;
	identity.azure_trusted = rules.azure_trusted;
	identity.aws_trusted = rules.aws_trusted;
	params.identity = &identity;
	if (scaler_try(&params, &scaler, &faults) == 0) {
		scaler_done(&scaler);
		return;
	}
	tell_fault(j, REFUSED, &faults.list[0]);
	param_faults_done(&faults);
}

static void check_place(const struct trial *j, const struct question *question)
{
	const struct sourcerules rules = { .judges = true, .allow_local = j->offline->rules->local_sources };
	struct err err;

	if (!question || sourceplace_judge(&rules, question->source, &err) == 0)
		return;
	offline_hide(j->offline, &err);
	tell_trigger(j, REFUSED, "", err.msg);
}

static void build(const struct trial *j, struct checktriggers *out)
{
	struct scaler *next = &out->list[out->count];
	struct scaler_params params = triggerparams_of(j->of, j->index);
	struct param_faults faults;

	params.auth = &j->auth;
	params.identity = &j->identity;
	params.env = &j->env;
	params.unresolved = &j->unresolved;
	params.no_containers = j->no_containers;
	params.secrets_denied = j->secrets_denied.kind != ERR_NONE ? j->secrets_denied.msg : NULL;
	params.unknown = OFFLINE_UNKNOWN;
	params.auth_open = j->offline->open;
	params.env_open = !j->env_read;
	tell_announced(j);
	if (scaler_try(&params, next, &faults)) {
		for (size_t i = 0; i < faults.count; i++)
			tell_fault(j, PROBLEM, &faults.list[i]);
		tell_unknown(j, faults.unknown);
		param_faults_done(&faults);
		out->all = false;
		return;
	}
	check_identity(j, &params);
	check_place(j, next->question);
	tell_unknown(j, next->unknown);
	tell_trigger(j, WARNING, ".metadata", next->shortened);
	tell_trigger(j, WARNING, "", next->ignored);
	out->all = out->all && next->metric_name;
	out->count++;
}

static void run_one(struct trial *j, const struct auth_lookup *lookup, const struct workload *target,
	struct checktriggers *out)
{
	struct err err = { 0 };

	j->auth = (struct strmap){ 0 };
	j->offline->open = false;
	if (auth_params(lookup, j->of, j->trigger, target, &j->auth, &j->identity, &err)) {
		offline_hide(j->offline, &err);
		tell_trigger(j, PROBLEM, ".authenticationRef", err.msg);
		j->offline->open = true;
	}
	build(j, out);
	strmap_done_secret(&j->auth);
}

void checktriggers_run(struct offline *o, const struct scaled *of, struct findings *f, struct checktriggers *out)
{
	struct trial j = { .offline = o, .of = of, .findings = f, .env_read = true };
	const struct auth_lookup lookup = offline_lookup(o);
	struct workload *target;
	struct err err = { 0 };

	out->list = mem_array(of->trigger_count + 1, sizeof(*out->list));
	out->count = 0;
	out->all = true;
	target = offline_begin(o, of, &err);
	j.no_containers = auth_no_containers(of, target);
	auth_denies_secrets(&lookup, of->meta->namespace_, &j.secrets_denied);
	if (!target || auth_environment(&lookup, of, target, &j.env, &j.unresolved, &err)) {
		offline_hide(o, &err);
		j.env_read = false;
		/* A target that cannot be decoded is an error only if a trigger needs it. */
		if (auth_needs_target(&lookup, of))
			findings_problem_of(f, of->sj ? "spec.jobTargetRef" : "spec.scaleTargetRef", err.msg);
	}
	for (j.index = 0; j.index < of->trigger_count; j.index++) {
		j.trigger = &of->triggers[j.index];
		if (j.trigger->type && *j.trigger->type &&
			!(of->kind == SCALED_JOB && validate_is_resource_type(j.trigger->type)))
			run_one(&j, &lookup, target, out);
	}
	strmap_done_secret(&j.env);
	strmap_done(&j.unresolved);
	free(j.no_containers);
	workload_free(target);
	offline_end(o);
}

void checktriggers_done(struct checktriggers *c)
{
	for (size_t i = 0; i < c->count; i++)
		scaler_done(&c->list[i]);
	free(c->list);
	memset(c, 0, sizeof(*c));
}

/* ---- Authentications ---- */

/*
 * `TriggerAuthentication shop/redis: secretTargetRef parameter "password": ...`: the field is the
 * entry of that parameter; the object's name and the source are not repeated. Returns the text.
 */
static const char *field_of_source(const struct findings *f, const char *message, char field[FIELD_SIZE])
{
	const char *behind = strstr(message, ": "), *rest = behind ? behind + 2 : message, *quote;
	size_t source_len = strcspn(rest, " :"), i;
	MEM_AUTO char *source = mem_dupn(rest, source_len), *first = mem_dupn(rest, strcspn(source, ".")),
		      *parameter = NULL;
	const json_t *entries = json_object_get(fields_at(f->doc->json, "spec"), first), *entry;

	snprintf(field, FIELD_SIZE, entries ? "spec.%.200s" : "spec", source);
	quote = strchr(rest, '"');
	parameter = quote ? mem_dupn(quote + 1, strcspn(quote + 1, "\"")) : mem_dup("");
	json_array_foreach(entries, i, entry)
	{
		if (json_str_is(entry, "parameter", parameter)) {
			snprintf(field, FIELD_SIZE, "spec.%.200s[%zu]", source, i);
			break;
		}
	}
	return entries ? rest + source_len + strspn(rest + source_len, ": ") : rest;
}

void checktriggers_allowed(struct offline *o, const struct triggerauth *t, struct findings *f)
{
	const struct auth_lookup rules = offline_rules_of(o);
	char field[FIELD_SIZE];
	const char *text;
	struct err err = { 0 };

	if (auth_alone(&rules, t, &err) == 0)
		return;
	text = field_of_source(f, err.msg, field);
	tell(o, f, REFUSED, field, text);
}

int checktriggers_authentication(struct offline *o, const struct triggerauth *t, const char *namespace_,
	struct findings *f)
{
	char type[] = "any", name[] = ""; /* not the name of a workload */
	bool cluster = !*t->meta.namespace_;
	char kind[] = TRIGGERAUTH_CLUSTER_KIND, kind_here[] = TRIGGERAUTH_KIND;
	struct trigger trigger = { .type = type, .auth_name = t->meta.name, .auth_kind = cluster ? kind : kind_here };
	MEM_AUTO char *home = mem_dup(namespace_);
	struct scaledobject so = { .meta = { .namespace_ = home, .name = name },
		.spec = { .target_name = name, .triggers = &trigger, .trigger_count = 1 } };
	const struct auth_lookup lookup = offline_lookup(o);
	struct scaled of = scaled_of_object(&so);
	struct workload *target;
	struct strmap params = { 0 };
	struct pod_identity identity;
	char field[FIELD_SIZE];
	const char *text;
	struct err err = { 0 };
	int rc;

	o->own = true;
	target = offline_begin(o, &of, &err);
	rc = auth_params(&lookup, &of, &trigger, target, &params, &identity, &err);
	offline_hide(o, &err);
	offline_end(o);
	o->own = false;
	strmap_done_secret(&params);
	workload_free(target);
	if (rc != 0 && f) {
		text = field_of_source(f, err.msg, field);
		tell(o, f, PROBLEM, field, text);
	}
	return rc;
}
