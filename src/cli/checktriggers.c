/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checktriggers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/validate.h"
#include "decide/verdict.h"

#define FIELD_SIZE 512
#define ROUNDS_MAX 6   /* of parameters that an unknown authentication turns out to need */
#define GUESSES_MAX 60 /* of them at once */

/* What unknown parameters may be. The first two say of themselves that they are made up. */
static const char *const likely[] = { OFFLINE_UNKNOWN, (OFFLINE_UNKNOWN ":1"), ("http://" OFFLINE_UNKNOWN), ("host=" OFFLINE_UNKNOWN " user=" OFFLINE_UNKNOWN), "1", "true", "enable" };
#define LIKELY (sizeof(likely) / sizeof(likely[0]))

struct trial {
	struct offline *offline;
	const struct scaled *of;
	struct findings *findings;
	struct strmap env, unresolved; /* of the target */
	bool env_read;                 /* else triggers that need it are not built */
};

/* --- one attempt ----------------------------------------------------------------------------------------------------------------- */

static bool is_made_up(const char *text)
{
	return strstr(text, OFFLINE_UNKNOWN) != NULL;
}

static bool has_unknown(const struct strmap *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (is_made_up(m->pairs[i].value))
			return true;
	return false;
}

/* A copy with `value` in the place of what is unknown. */
static void copy_with(struct strmap *to, const struct strmap *from, const char *value)
{
	for (size_t i = 0; i < from->count; i++)
		strmap_set(to, from->pairs[i].key, strcmp(from->pairs[i].value, OFFLINE_UNKNOWN) == 0 ? value : from->pairs[i].value);
}

static int attempt(const struct trial *j, size_t index, const struct strmap *auth, const char *value, struct scaler *out, struct err *err)
{
	const struct trigger *t = &j->of->triggers[index];
	struct strmap auth_now = { 0 }, env_now = { 0 };
	struct scaler_params params = {
		.namespace_ = j->of->meta->namespace_, .object = j->of->meta->name, .type = t->type, .index = (int)index, .name = t->name, .metric_type = t->metric_type, .formula_source = j->of->so && verdict_has_composite(&j->of->so->spec), .metadata = &t->metadata, .auth = &auth_now, .env = &env_now, .unresolved = &j->unresolved,
	};
	int rc;

	copy_with(&auth_now, auth, value);
	copy_with(&env_now, &j->env, value);
	rc = scaler_build(&params, out, err);
	strmap_done_secret(&auth_now);
	strmap_done_secret(&env_now);
	return rc;
}

/* --- an authentication that may have anything ------------------------------------------------------------------------------------ */

/* Every word of the complaint may be the name of a parameter that the scaler misses. True when there was a new one. */
static bool guess(struct strmap *auth, const char *complaint, const char *value)
{
	size_t before = auth->count;

	while (*complaint && auth->count < before + GUESSES_MAX) {
		size_t len = 0;

		while (isalnum((unsigned char)complaint[len]))
			len++;
		if (len > 1 && isalpha((unsigned char)*complaint)) {
			MEM_AUTO char *word = mem_dupn(complaint, len);

			if (!strmap_get(auth, word))
				strmap_set(auth, word, value);
		}
		complaint += len > 0 ? len : 1;
	}
	return auth->count > before;
}

static int attempt_open(const struct trial *j, size_t index, const struct strmap *auth, const char *value, struct scaler *out, struct err *err)
{
	struct strmap more = { 0 };
	int rc;

	copy_with(&more, auth, value);
	rc = attempt(j, index, &more, value, out, err);
	for (int round = 0; rc != 0 && round < ROUNDS_MAX && guess(&more, err->msg, value); round++) {
		struct err next;

		rc = attempt(j, index, &more, value, out, &next);
		if (rc == 0)
			break;
		if (strcmp(next.msg, err->msg) == 0) /* the same with all that it could ask for */
			break;
		*err = next;
	}
	strmap_done_secret(&more);
	return rc;
}

/* --- all attempts ---------------------------------------------------------------------------------------------------------------- */

/* Whether the complaint is about something whose value was made up: its name stands there in quotes. */
static bool is_about(const char *complaint, const char *name)
{
	MEM_AUTO char *quoted = mem_printf("\"%s\"", name);

	return strstr(complaint, quoted) != NULL;
}

static bool is_about_unknown(const struct trial *j, const struct trigger *t, const struct strmap *auth, const char *complaint)
{
	if (is_made_up(complaint))
		return true;
	for (size_t i = 0; i < auth->count; i++)
		if (is_made_up(auth->pairs[i].value) && is_about(complaint, auth->pairs[i].key))
			return true;
	for (size_t i = 0; i < t->metadata.count; i++) {
		const char *key = t->metadata.pairs[i].key, *value = strmap_get(&j->env, t->metadata.pairs[i].value);
		size_t len = strlen(key);
		MEM_AUTO char *name = len > 7 ? mem_dupn(key, len - 7) : mem_dup(key);

		if (value && is_made_up(value) && len > 7 && strcmp(key + len - 7, "FromEnv") == 0 && (is_about(complaint, key) || is_about(complaint, name)))
			return true;
	}
	return false;
}

/*
 * 0 built, 1 wrong (*err), -1 not to be judged. Something is wrong when no likely value will do and two of them lead to the same complaint, which is not about what is unknown.
 */
static int try_all(const struct trial *j, size_t index, const struct strmap *auth, bool open, struct scaler *out, struct err *err)
{
	const struct trigger *t = &j->of->triggers[index];
	struct err complaints[LIKELY];
	size_t count = 0;
	bool wrong = false;

	if (!open && !has_unknown(auth) && !has_unknown(&j->env))
		return attempt(j, index, auth, OFFLINE_UNKNOWN, out, err) == 0 ? 0 : 1;
	for (size_t i = 0; i < LIKELY; i++) {
		struct err one;

		if ((open ? attempt_open : attempt)(j, index, auth, likely[i], out, &one) == 0)
			return 0;
		if (is_about_unknown(j, t, auth, one.msg))
			continue;
		for (size_t k = 0; k < count && !wrong; k++) {
			wrong = strcmp(complaints[k].msg, one.msg) == 0;
			if (wrong)
				*err = one;
		}
		complaints[count++] = one;
	}
	return wrong ? 1 : -1;
}

/* --- telling --------------------------------------------------------------------------------------------------------------------- */

/* The message behind what scaler_build puts before it. */
static const char *behind_prefix(const char *message, const char *type, size_t index)
{
	MEM_AUTO char *typed = mem_printf("trigger %zu (%s): ", index, type), *plain = mem_printf("trigger %zu: ", index);

	if (strncmp(message, typed, strlen(typed)) == 0)
		return message + strlen(typed);
	return strncmp(message, plain, strlen(plain)) == 0 ? message + strlen(plain) : message;
}

/* The parameter that a message names: `param "x"`, `parameter "x"`, else its first word (`address "x": must be host:port`). */
static const char *named_in(const char *message, size_t *len)
{
	static const char *const marks[] = { "param \"", "parameter \"" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *mark = strstr(message, marks[i]);

		if (!mark)
			continue;
		mark += strlen(marks[i]);
		*len = strcspn(mark, "\"");
		return mark;
	}
	*len = strcspn(message, " :");
	return message;
}

/* The field that a message is about: a parameter that it names and that is written in the metadata, or misses there; else the trigger. */
static void place_of(const struct trigger *t, size_t index, const char *message, char field[FIELD_SIZE])
{
	size_t len;
	const char *name = named_in(message, &len);

	if (strncmp(message, "no scaler found", 15) == 0)
		snprintf(field, FIELD_SIZE, "spec.triggers[%zu].type", index);
	else if (strncmp(message, "missing required", 16) == 0)
		snprintf(field, FIELD_SIZE, "spec.triggers[%zu].metadata.%.*s", index, (int)len, name);
	else
		snprintf(field, FIELD_SIZE, "spec.triggers[%zu]", index);
	for (size_t i = 0; i < t->metadata.count; i++) {
		const char *key = t->metadata.pairs[i].key;

		if (strncmp(key, name, len) == 0 && (key[len] == '\0' || strcmp(key + len, "FromEnv") == 0))
			snprintf(field, FIELD_SIZE, "spec.triggers[%zu].metadata.%s", index, key);
	}
}

static void tell(const struct trial *j, size_t index, struct err *err)
{
	char field[FIELD_SIZE];
	const char *rest;

	offline_hide(j->offline, err);
	rest = behind_prefix(err->msg, j->of->triggers[index].type, index);
	place_of(&j->of->triggers[index], index, rest, field);
	findings_problem(j->findings, field, "%s", rest);
}

/* A warning: KEDA takes such a manifest, and whoever checks before he deploys must not be stopped by a word too many. The line is that of the first key. */
static void tell_unknown(const struct trial *j, size_t index, const struct scaler *scaler)
{
	const char *key = strchr(scaler->unknown, '"');
	int len = key ? (int)strcspn(key + 1, "\"") : 0;
	MEM_AUTO char *field = len > 0 && len < FIELD_SIZE / 2 ? mem_printf("spec.triggers[%zu].metadata.%.*s", index, len, key + 1) : mem_printf("spec.triggers[%zu].metadata", index);

	findings_warning(j->findings, field, "no parameter of %s has this name: %s", scaler->type->name, scaler->unknown);
}

static void run_one(struct trial *j, const struct auth_lookup *lookup, const struct workload *target, size_t index, struct checktriggers *out)
{
	const struct trigger *t = &j->of->triggers[index];
	struct scaler *next = &out->list[out->count];
	struct strmap auth = { 0 };
	struct err err = { 0 };
	int result = -1;

	j->offline->open = false;
	if (auth_params(lookup, j->of, t, target, &auth, &err)) {
		MEM_AUTO char *field = mem_printf("spec.triggers[%zu].authenticationRef", index);

		offline_hide(j->offline, &err);
		findings_problem(j->findings, field, "%s", err.msg);
		j->offline->open = true;
	}
	if (j->env_read || !trigger_uses_env(t))
		result = try_all(j, index, &auth, j->offline->open, next, &err);
	strmap_done_secret(&auth);
	if (result == 1)
		tell(j, index, &err);
	if (result == 0 && next->unknown)
		tell_unknown(j, index, next);
	if (result == 0)
		out->count++;
	out->all = out->all && result == 0 && !is_made_up(next->metric_name);
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
	offline_begin(o, of);
	target = offline_target(o, of, &err);
	if (!target || auth_environment(&lookup, of, target, &j.env, &j.unresolved, &err)) {
		offline_hide(o, &err);
		j.env_read = false;
		/* A target that cannot be read says so only when somebody needs it. */
		if (auth_needs_target(&lookup, of))
			findings_problem_of(f, of->sj ? "spec.jobTargetRef" : "spec.scaleTargetRef", &err);
	}
	for (size_t i = 0; i < of->trigger_count; i++)
		if (of->triggers[i].type && *of->triggers[i].type && !(of->kind == SCALED_JOB && validate_is_resource_type(of->triggers[i].type)))
			run_one(&j, &lookup, target, i, out);
	strmap_done_secret(&j.env);
	strmap_done(&j.unresolved);
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

/* --- authentications by themselves ------------------------------------------------------------------------------------------------- */

/* `TriggerAuthentication shop/redis: secretTargetRef parameter "password": ...`: the field is the entry of that parameter, and what it is called is not said again. */
static void tell_source(struct findings *f, const char *message)
{
	const char *behind = strstr(message, ": "), *rest = behind ? behind + 2 : message, *quote;
	size_t source_len = strcspn(rest, " :"), i;
	MEM_AUTO char *source = mem_dupn(rest, source_len), *parameter = NULL;
	const json_t *entries = json_object_get(json_object_get(f->doc->json, "spec"), source), *entry;
	char field[FIELD_SIZE];

	snprintf(field, sizeof(field), entries ? "spec.%.200s" : "spec", source);
	quote = strchr(rest, '"');
	parameter = quote ? mem_dupn(quote + 1, strcspn(quote + 1, "\"")) : mem_dup("");
	json_array_foreach(entries, i, entry) {
		if (strcmp(json_str_or_empty(entry, "parameter"), parameter) == 0) {
			snprintf(field, sizeof(field), "spec.%.200s[%zu]", source, i);
			break;
		}
	}
	findings_problem(f, field, "%s", entries ? rest + source_len + strspn(rest + source_len, ": ") : rest);
}

int checktriggers_authentication(struct offline *o, const struct triggerauth *t, const char *namespace_, struct findings *f)
{
	char type[] = "any", name[] = ""; /* no workload has that name */
	bool cluster = !*t->meta.namespace_;
	char kind[] = TRIGGERAUTH_CLUSTER_KIND, kind_here[] = TRIGGERAUTH_KIND;
	struct trigger trigger = { .type = type, .auth_name = t->meta.name, .auth_kind = cluster ? kind : kind_here };
	MEM_AUTO char *home = mem_dup(namespace_);
	struct scaledobject so = { .meta = { .namespace_ = home, .name = name }, .spec = { .target_name = name, .triggers = &trigger, .trigger_count = 1 } };
	const struct auth_lookup lookup = offline_lookup(o);
	struct scaled of = scaled_of_object(&so);
	struct workload *target;
	struct strmap params = { 0 };
	struct err err = { 0 };
	int rc;

	o->own = true;
	offline_begin(o, &of);
	target = offline_target(o, &of, &err);
	rc = auth_params(&lookup, &of, &trigger, target, &params, &err);
	offline_hide(o, &err);
	offline_end(o);
	o->own = false;
	strmap_done_secret(&params);
	workload_free(target);
	if (rc != 0 && f)
		tell_source(f, err.msg);
	return rc;
}
