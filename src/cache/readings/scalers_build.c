/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds one object's scalers from its triggers, authentications, the target's environment and the
 * sources' descriptions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cache/auth/auth.h"
#include "cache/auth/holders.h"
#include "cache/readings/scalers_parts.h"
#include "cache/readings/triggerparams.h"
#include "decide/validate/validate.h"
#include "scalers/scalerbuild.h"

/*
 * The parameters from the authentication of one or more triggers: it may have a thousand, and a
 * thousand triggers may refer to it, so it is resolved once per round.
 */
struct given {
	char *key; /* its kind and name, and the triggers' type, which decides about identities */
	struct strmap params;
	struct pod_identity identity;
	struct err *err; /* owned; NULL: none */
	UT_hash_handle hh;
};

/*
 * Cap on parameters from all authentications of one object: resolving them is work of one turn, and
 * one authentication has at most TRIGGERAUTH_ENTRIES_MAX in each of its lists.
 */
#define PARAMETERS_MAX 5000

/* What one object's scalers are built from. */
struct material {
	const struct auth_lookup *lookup;
	const struct workload *target; /* NULL: not needed */
	struct workload *template;     /* owned: a ScaledJob's target */
	struct strmap env, unresolved;
	char *no_containers;       /* owned: why there is no environment; NULL */
	struct err secrets_denied; /* ERR_NONE: the namespace's Secrets may be read */
	struct given *given;
	size_t parameters; /* number of them */
};

static int read_template(const struct object *o, struct material *m, struct err *err)
{
	m->target = m->template = scaledjob_workload(o->of.sj);
	return m->template ? 0
			   : err_set(err, ERR_INVALID,
				     "spec.jobTargetRef.template cannot be read, so the environment of its containers "
				     "is not known");
}

static int read_scale_target(const struct object *o, struct material *m, struct err *err)
{
	const char *trouble, *name = o->of.so->spec.target_name;
	const struct workload *target;
	enum target_state state = targets_get_pods(o, &m->target, &trouble);

	if (state == TARGET_UNREAD)
		return err_set(err, trouble ? ERR_TEMPORARY : ERR_WAITING,
			"the scale target's environment is not read yet%s%s", trouble ? ": " : "",
			trouble ? trouble : "");
	if (state == TARGET_PRESENT)
		return 0;
	if (targets_get(o, &target) == TARGET_PRESENT)
		return err_set(err, ERR_INVALID,
			"the Deployment %s that spec.workloadRef of the scale target %s names does not exist, so its "
			"environment cannot be read",
			target->template_deployment, name);
	return err_set(err, ERR_INVALID, "the scale target %s does not exist, so its environment cannot be read", name);
}

/* ---- Metrics described by the source ---- */

static struct scaler *add_scaler(struct built_scalers *b)
{
	b->list = mem_resize(b->list, b->count + 1, sizeof(*b->list));
	return &b->list[b->count++];
}

/* Of the scalingModifiers; NULL without one. */
static const char *formula_text(const struct scaled *of)
{
	const struct scaling_modifiers *m = of->so ? of->so->spec.modifiers : NULL;

	return m && m->formula && *m->formula ? m->formula : NULL;
}

/* A formula refers to a trigger by name, which must mean one metric only. */
static int check_one_metric(const struct scaled *of, const struct scaler *whole, const struct description *d,
	struct err *err)
{
	if (d->count == 1 || !formula_text(of))
		return 0;
	return err_set(err, ERR_INVALID,
		"%s names %zu metrics (%s, %s, ...): with spec.advanced.scalingModifiers.formula a trigger must have "
		"one",
		whole->question->source, d->count, d->metrics[0].name, d->metrics[1].name);
}

/* Refuses more metrics than one object may have. who: names the trigger, for the message. */
static int narrow(struct built_scalers *b, const struct scaler *whole, const struct description *d, const char *who,
	struct err *err)
{
	if (d->count > SCALERS_DESCRIBED_MAX - b->described)
		return err_set(err, ERR_INVALID,
			"%s names %zu metrics, and the triggers before it have %zu: an object may have %d of such "
			"metrics in all; let the servers name fewer, or spread the triggers over several objects",
			who, d->count, b->described, SCALERS_DESCRIBED_MAX);
	b->described += d->count;
	for (size_t i = 0; i < d->count; i++)
		scaler_narrow(whole, &d->metrics[i], i, add_scaler(b));
	return 0;
}

static bool is_of(const struct hpa_external *metric, const char *prefix, const struct scaler *whole)
{
	size_t len = strlen(prefix);

	/* An earlier placeholder of the trigger is not a metric of its source. */
	return strncmp(metric->name, prefix, len) == 0 && metric->name[len] &&
		strcmp(metric->name, whole->metric_name) != 0 && metric->target.milli > 0;
}

/* The HPA's metrics of this trigger, "s2-..."; *d is empty when there are none. */
static int recall(const struct scalers *s, const struct scaledobject *so, const struct scaler *whole,
	struct description *d, struct err *err)
{
	const struct hpa *hpa = store_hpa_named(s->store, so);
	MEM_AUTO char *prefix = mem_printf("s%d-", whole->index);
	const char *trouble = NULL;

	if (!store_knows_hpas(s->store, so->meta.namespace_, &trouble) && !trouble)
		return err_set(err, ERR_WAITING, "the HPAs are not read yet");
	for (size_t i = 0; hpa && i < hpa->external_count; i++)
		if (is_of(&hpa->externals[i], prefix, whole))
			description_add(d, hpa->externals[i].name + strlen(prefix), hpa->externals[i].target);
	return 0;
}

/* Used while the source has never described its metrics. Takes whole. */
static int stand_in(struct scalers *s, struct object *o, struct scaler *whole, struct err *err)
{
	struct description d = { 0 };
	int failed = o->kind == SCALED_OBJECT ? recall(s, o->of.so, whole, &d, err) : 0;

	if (!failed && d.count == 0) {
		*add_scaler(o->scalers) = *whole;
		return 0;
	}
	if (!failed)
		failed = narrow(o->scalers, whole, &d, "for this trigger the object's HPA", err);
	scaler_done(whole);
	description_done(&d);
	return failed;
}

/* Reported like an ignored setting. */
static void note_trouble(struct scaler *whole)
{
	const char *trouble = descriptions_trouble(whole->question);
	struct scaler_build build = { .scaler = whole };
	const struct scaler_params params = { .build = &build };

	if (trouble)
		params_ignore(&params, "its present description of its metrics, so the earlier one is used: %s",
			trouble);
}

/* Takes whole. */
static int expand(struct scalers *s, struct object *o, struct scaler *whole, struct err *err)
{
	const struct description *d;
	enum reference_state state;
	int failed = -1;

	whole->question = questions_share(s->questions, whole->question);
	state = descriptions_get(s->descriptions, o, whole->question, &d, err);
	if (state == REFERENCE_MISSING)
		return stand_in(s, o, whole, err);
	if (state == REFERENCE_FOUND) {
		note_trouble(whole);
		failed = check_one_metric(&o->of, whole, d, err);
	}
	if (state == REFERENCE_FOUND && !failed)
		failed = narrow(o->scalers, whole, d, whole->question->source, err);
	scaler_done(whole);
	return failed;
}

/* ---- Parameters from authentications ---- */

static int resolve(struct material *m, const struct scaled *of, const struct trigger *t, struct given *g,
	struct err *err)
{
	m->parameters += auth_parameter_count(m->lookup, of, t);
	if (m->parameters > PARAMETERS_MAX)
		return err_set(err, ERR_INVALID,
			"the authentications of its triggers have more than %d parameters in all: spread the triggers "
			"over several objects",
			PARAMETERS_MAX);
	return auth_params(m->lookup, of, t, m->target, &g->params, &g->identity, err);
}

static const struct given *given_to(struct material *m, const struct scaled *of, const struct trigger *t)
{
	MEM_AUTO char *key = mem_printf("%s %s %s", t->auth_kind ? t->auth_kind : "", t->auth_name ? t->auth_name : "",
		t->type);
	struct err err = { 0 };
	struct given *g;

	HASH_FIND_STR(m->given, key, g);
	if (g)
		return g;
	g = mem_zalloc(sizeof(*g));
	g->key = mem_dup(key);
	if (resolve(m, of, t, g, &err))
		err_keep(&g->err, &err);
	HASH_ADD_KEYPTR(hh, m->given, g->key, strlen(g->key), g);
	return g;
}

static void given_done(struct given *all)
{
	struct given *g, *next;

	HASH_ITER (hh, all, g, next) {
		HASH_DEL(all, g);
		strmap_done_secret(&g->params);
		err_keep(&g->err, NULL);
		free(g->key);
		free(g);
	}
}

/* ---- Building ---- */

static int build_one(struct scalers *s, struct object *o, const struct material *m, size_t i, const struct given *given,
	struct err *err)
{
	struct scaler whole;
	struct scaler_params params = triggerparams_of(&o->of, i);

	params.auth = &given->params;
	params.identity = &given->identity;
	params.env = &m->env;
	params.unresolved = &m->unresolved;
	params.no_containers = m->no_containers;
	params.secrets_denied = m->secrets_denied.kind != ERR_NONE ? m->secrets_denied.msg : NULL;
	if (scaler_build(&params, &whole, err))
		return -1;
	if (whole.undescribed)
		return expand(s, o, &whole, err) ? err_wrap(err, "trigger %zu (%s)", i, params.type) : 0;
	*add_scaler(o->scalers) = whole;
	return 0;
}

/*
 * Requests the references of all triggers, also after a failure: references that a round does not
 * request are no longer watched.
 */
static void build_all(struct scalers *s, struct object *o, struct material *m, struct err *worst)
{
	struct err waits = { 0 }; /* for a description; the others are requested at the same time */

	for (size_t i = 0; i < o->of.trigger_count; i++) {
		const struct given *given = given_to(m, &o->of, &o->of.triggers[i]);
		struct err err = { 0 };

		if (given->err) {
			err = *given->err;
			err_wrap(&err, "trigger %zu (%s)", i, o->of.triggers[i].type);
			auth_note_failure(worst, &err);
		} else if (worst->kind == ERR_NONE && build_one(s, o, m, i, given, &err)) {
			auth_note_failure(err.kind == ERR_WAITING ? &waits : worst, &err);
		}
	}
	if (waits.kind != ERR_NONE)
		auth_note_failure(worst, &waits);
}

/* Over the triggers with questions, by name; triggers without a name cannot be referenced. */
static int build_formula(struct built_scalers *b, const struct scaled *of, struct err *err)
{
	const char *text = formula_text(of);
	const char **names;
	size_t count = 0;

	if (!text)
		return 0;
	names = mem_array(b->count + 1, sizeof(*names));
	for (size_t i = 0; i < b->count; i++)
		if (b->list[i].question)
			names[count++] = b->list[i].trigger_name ? b->list[i].trigger_name : "";
	b->formula = formula_compile(text, names, count, err);
	free(names);
	return b->formula ? 0 : err_wrap(err, "spec.advanced.scalingModifiers.formula");
}

static void build_round(struct scalers *s, struct object *o, struct material *m, struct err *worst)
{
	struct err err = { 0 };

	o->scalers->uses_target = auth_needs_target(m->lookup, &o->of);
	if (o->scalers->uses_target) {
		if (o->kind == SCALED_JOB ? read_template(o, m, worst) : read_scale_target(o, m, worst))
			return;
		m->no_containers = auth_no_containers(&o->of, m->target);
		if (auth_environment(m->lookup, &o->of, m->target, &m->env, &m->unresolved, &err))
			auth_note_failure(worst, &err);
	}
	build_all(s, o, m, worst);
	if (worst->kind == ERR_NONE)
		build_formula(o->scalers, &o->of, worst);
}

static void share_questions(struct scalers *s, struct built_scalers *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->list[i].question)
			b->list[i].question = questions_share(s->questions, b->list[i].question);
}

int scalers_build(struct scalers *s, struct object *o, struct err *err)
{
	struct material m = { .target = NULL };
	struct err worst = { 0 };

	if (validate_for_reconcile(o->of, NULL, err)) {
		holdings_release(o);
		return -1;
	}
	m.lookup = lookups_begin(s->lookups, o);
	auth_denies_secrets(m.lookup, o->of.meta->namespace_, &m.secrets_denied);
	build_round(s, o, &m, &worst);
	share_questions(s, o->scalers);
	lookups_end(s->lookups);
	given_done(m.given);
	strmap_done_secret(&m.env);
	strmap_done(&m.unresolved);
	workload_free(m.template);
	free(m.no_containers);
	if (worst.kind == ERR_NONE)
		return 0;
	/*
	 * A missing reference is reported as ERR_INVALID, like a wrong parameter: ERR_MISSING would
	 * mean that the object does not exist.
	 */
	if (worst.kind == ERR_MISSING)
		worst.kind = ERR_INVALID;
	*err = worst;
	return -1;
}
