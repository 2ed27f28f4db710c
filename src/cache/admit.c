/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/admit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/readings/triggerparams.h"
#include "crd/triggerauth.h"
#include "decide/hpaspec.h"
#include "decide/validate/validate.h"
#include "net/loop.h"
#include "net/network.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"
#include "scalers/sourceplace.h"

#define WARNINGS_MAX 16
#define LIST_MAX     "500" /* above this LimitRanges are not evaluated, with a warning */
#define LOOKING_MAX  16    /* reviews with requests at the same time, two each */
#define ESCAPED_SIZE (3 * 253 + 1)
#define NOT_CHECKED  "whether the workload requests cpu and memory was not checked: "

enum fact { FACT_TARGET, FACT_LIMIT_RANGES, FACTS };

/* One request to the API server. */
struct lookup {
	struct admit_wait *owner;
	enum fact fact;
	struct kube_call *call; /* NULL: not asked, or answered */
	json_t *answer;         /* NULL: not known */
	bool missing;
};

struct admit_wait {
	struct admit_wait *prev, *next;
	struct admit *owner;
	admit_fn fn;
	void *arg;
	struct scaledobject *so; /* owned; NULL for other kinds */
	struct lookup lookups[FACTS];
	unsigned under_way;
	bool looks_up;          /* counted in LOOKING_MAX */
	struct loop_task later; /* the verdict is final */
	const char *reason;     /* a literal; NULL: allowed */
	char *message;          /* owned */
	char *warnings[WARNINGS_MAX];
	size_t warning_count;
};

struct admit {
	struct store *store;
	struct kube *kube;
	const struct auth_lookup *rules;
	struct loop *loop;
	struct admit_wait *waiting;
	unsigned looking_up;
};

/* ---- Verdicts ---- */

static void warn(struct admit_wait *w, const char *text)
{
	for (size_t i = 0; i < w->warning_count; i++)
		if (strcmp(w->warnings[i], text) == 0)
			return;
	if (w->warning_count < WARNINGS_MAX)
		w->warnings[w->warning_count++] = mem_dup(text);
}

static void refuse_object(struct admit_wait *w, const char *reason, const struct err *err)
{
	w->reason = reason;
	w->message = mem_dup(err->msg);
}

static void wait_free(struct admit_wait *w)
{
	DL_DELETE(w->owner->waiting, w);
	w->owner->looking_up -= w->looks_up;
	loop_task_cancel(w->owner->loop, &w->later);
	for (int i = 0; i < FACTS; i++) {
		kube_cancel(w->lookups[i].call);
		json_decref(w->lookups[i].answer);
	}
	scaledobject_free(w->so);
	for (size_t i = 0; i < w->warning_count; i++)
		free(w->warnings[i]);
	free(w->message);
	free(w);
}

static void on_verdict(void *arg)
{
	struct admit_wait *w = arg;
	const char *warnings[WARNINGS_MAX];
	struct admit_verdict verdict = { .allowed = !w->reason,
		.reason = w->reason ? w->reason : "",
		.message = w->message ? w->message : "",
		.warnings = warnings,
		.warning_count = w->warning_count };

	for (size_t i = 0; i < w->warning_count; i++)
		warnings[i] = w->warnings[i];
	w->fn(w->arg, &verdict);
	wait_free(w);
}

/* ---- Other ScaledObjects: from memory ---- */

struct rival_search {
	const struct scaledobject *so;
	bool older_only;
	const char *reason;
	struct err *err;
	int found; /* -1: a conflict was found */
};

static bool is_taken_up(const struct scaledobject *so)
{
	return so->status.hpa_name && *so->status.hpa_name;
}

static bool was_first(const struct scaledobject *other, const struct scaledobject *so)
{
	if (other->meta.created_unix_ms != so->meta.created_unix_ms)
		return other->meta.created_unix_ms < so->meta.created_unix_ms;
	/*
	 * With equal creationTimestamps (in seconds) the one that already works takes precedence.
	 */
	if (is_taken_up(other) != is_taken_up(so))
		return is_taken_up(other);
	return strcmp(other->meta.name, so->meta.name) < 0;
}

/* A mark may match an object of another namespace, which must not be revealed. */
static bool is_beside(const struct meta *other, const struct scaledobject *so)
{
	return strcmp(other->namespace_, so->meta.namespace_) == 0;
}

static void look_at(struct rival_search *s, const struct scaledobject *other)
{
	if (other && is_beside(&other->meta, s->so) && s->found == 0 && (!s->older_only || was_first(other, s->so)))
		s->found = validate_beside(s->so, other, &s->reason, s->err);
}

/* ScaledObjects of its namespace with the same target or HPA name. */
static void search_others(const struct store *store, struct rival_search *s)
{
	struct store_claims claims = store_claims_of(s->so);
	const struct object *o;

	for (const struct index_entry *at = NULL; (o = store_next_claim(store, claims.target, &at));)
		look_at(s, o->of.so);
	for (const struct index_entry *at = NULL; (o = store_next_claim(store, claims.hpa, &at));)
		look_at(s, o->of.so);
}

int admit_among_others(const struct store *store, const struct scaledobject *so, struct err *err)
{
	struct rival_search search = { .so = so, .older_only = true, .err = err };

	search_others(store, &search);
	return search.found;
}

/* ---- Look-ups ---- */

/* Foreign HPAs that scale its target, from memory; an object without a target has none. */
static int check_hpas(const struct store *store, const struct scaledobject *so, const char **reason, struct err *err)
{
	uint64_t claim = store_claims_of(so).target;
	const struct hpa *hpa;

	for (const struct index_entry *at = NULL; (hpa = store_next_rival_hpa(store, claim, &at));) {
		const struct validate_facts facts = { .hpas = &hpa, .hpa_count = 1 };

		if (is_beside(&hpa->meta, so) && validate_surroundings(so, &facts, reason, err) < 0)
			return -1;
	}
	return 0;
}

int admit_among_hpas(const struct store *store, const struct scaledobject *so, struct err *err)
{
	return check_hpas(store, so, NULL, err);
}

static void on_fault(void *arg, const struct err *err)
{
	warn(arg, err->msg);
}

static void judge_object(struct admit_wait *w)
{
	const struct lookup *l = w->lookups;
	const struct validate_facts facts = {
		.target = l[FACT_TARGET].answer,
		.target_missing = l[FACT_TARGET].missing,
		.limit_ranges = json_object_get(l[FACT_LIMIT_RANGES].answer, "items"),
	};
	const char *reason;
	struct err err;

	if (validate_surroundings(w->so, &facts, &reason, &err) < 0)
		refuse_object(w, reason, &err);
	validate_containers(w->so, facts.target, on_fault, w);
}

/* A list may be truncated; a single object is not. */
static void check_whole(struct lookup *l)
{
	if (*json_metadata_text(l->answer, "continue"))
		warn(l->owner, "the namespace has more than " LIST_MAX " LimitRanges: not all were checked");
}

/* The server's message reveals our own identity, so it goes to the log only. */
static const char *why_not_checked(const struct err *err)
{
	return err->kind == ERR_DENIED ? NOT_CHECKED "kscaled may not read it"
				       : NOT_CHECKED "the API server did not answer in time";
}

static void on_fact(void *arg, const json_t *object, const struct err *err)
{
	struct lookup *l = arg;
	struct admit_wait *w = l->owner;

	l->call = NULL;
	if (!err) {
		l->answer = json_incref((json_t *)(uintptr_t)object);
		check_whole(l);
	} else if (l->fact == FACT_TARGET && err->kind == ERR_MISSING) {
		l->missing = true;
	} else {
		log_debug("webhook", "%s", err->msg);
		warn(w, why_not_checked(err));
	}
	if (--w->under_way > 0)
		return;
	judge_object(w);
	on_verdict(w);
}

static void look_up(struct admit_wait *w, enum fact fact, enum kube_verb verb, const char *path, int64_t left_ms)
{
	struct kube_request request = { .verb = verb, .path = path, .deadline_ms = left_ms, .priority = KUBE_ASIDE };

	w->lookups[fact].owner = w;
	w->lookups[fact].fact = fact;
	w->lookups[fact].call = kube_call(w->owner->kube, &request, on_fact, &w->lookups[fact]);
	w->under_way++;
}

/* Only triggers cpu and memory need requests. */
static void look_up_all(struct admit_wait *w, int64_t left_ms)
{
	const struct scaledobject *so = w->so;
	const char *resource = strcmp(scaledobject_target_kind(&so->spec), "StatefulSet") == 0 ? "statefulsets"
											       : "deployments";
	char namespace_[ESCAPED_SIZE], name[ESCAPED_SIZE];
	MEM_AUTO char *target = NULL, *ranges = NULL;

	kube_escape(so->meta.namespace_, namespace_, sizeof(namespace_));
	kube_escape(so->spec.target_name, name, sizeof(name));
	target = mem_printf("/apis/apps/v1/namespaces/%s/%s/%s", namespace_, resource, name);
	w->looks_up = true;
	w->owner->looking_up++;
	ranges = mem_printf("/api/v1/namespaces/%s/limitranges?limit=" LIST_MAX, namespace_);
	look_up(w, FACT_TARGET, KUBE_GET, target, left_ms);
	look_up(w, FACT_LIMIT_RANGES, KUBE_LIST, ranges, left_ms);
}

/* ---- The kinds ---- */

static int check_namespace(const struct meta *meta, struct err *err)
{
	if (dnsname_is_subdomain(meta->namespace_, strlen(meta->namespace_)))
		return 0;
	return err_set(err, ERR_INVALID, "metadata.namespace: \"%s\" cannot be the name of a namespace",
		meta->namespace_);
}

static void warn_of_metadata(struct admit_wait *w, const struct scaler_params *params, const char *what,
	const char *which)
{
	MEM_AUTO char *text = mem_printf("trigger %d (%s): metadata%s: %s", params->index, params->type, what, which);

	warn(w, text);
}

static void warn_of_unknown(struct admit_wait *w, const struct scaler_params *params, const char *unknown)
{
	if (unknown)
		warn_of_metadata(w, params, " has unknown parameters", unknown);
}

static void warn_of_place(struct admit_wait *w, const struct scaler_params *params, const struct question *question)
{
	struct err err;

	if (!question || sourceplace_judge(&network_of(w->owner->loop)->rules, question->source, &err) == 0)
		return;
	scaler_wrap(params, &err);
	warn(w, err.msg);
}

/* Errors that may not be errors elsewhere are warnings; what this installation forbids is not. */
static void tell_faults(struct admit_wait *w, const struct scaler_params *params, struct param_faults *faults)
{
	for (size_t i = 0; i < faults->count; i++) {
		struct err *err = &faults->list[i].err;

		scaler_wrap(params, err);
		if (err->kind == ERR_DENIED && !w->reason)
			refuse_object(w, "requires-tls", err);
		else
			warn(w, err->msg);
	}
	warn_of_unknown(w, params, faults->unknown);
	param_faults_done(faults);
}

/* KEDA's own words about a type that it will drop; the daemon sends them in an Event. */
static void warn_of_type(struct admit_wait *w, const struct scaler_params *params)
{
	const struct scaler_type *type = scaler_type_find(params->type);

	if (type && type->announced) {
		MEM_AUTO char *text = mem_printf("trigger %d (%s): %s", params->index, type->name, type->announced);

		warn(w, text);
	}
}

static void warn_of_parameters(struct admit_wait *w, const struct scaled *of)
{
	struct err denied;
	bool denies = auth_denies_secrets(w->owner->rules, of->meta->namespace_, &denied);

	for (size_t i = 0; i < of->trigger_count; i++) {
		const struct pod_identity identity = auth_identity(w->owner->rules, &of->triggers[i]);
		struct scaler_params params = triggerparams_of(of, i);
		struct param_faults faults;
		struct scaler scaler;

		/* Another message already says that it cannot be used. */
		if (of->kind == SCALED_JOB && validate_is_resource_type(params.type))
			continue;
		/* A review reads no Secrets. */
		params.identity = &identity;
		params.secrets_denied = denies ? denied.msg : NULL;
		params.auth_open = of->triggers[i].auth_name != NULL;
		params.env_open = true;
		warn_of_type(w, &params);
		if (scaler_try(&params, &scaler, &faults)) {
			tell_faults(w, &params, &faults);
			continue;
		}
		warn_of_unknown(w, &params, scaler.unknown);
		warn_of_place(w, &params, scaler.question);
		if (scaler.shortened)
			warn_of_metadata(w, &params, "", scaler.shortened);
		if (scaler.ignored)
			warn_of_metadata(w, &params, "", scaler.ignored);
		scaler_done(&scaler);
	}
}

static void warn_of_scaledobject(struct admit_wait *w)
{
	const struct store *store = w->owner->store;
	struct scaled of = scaled_of_object(w->so);
	const char *texts[VALIDATE_WARNINGS_MAX], *trouble;
	size_t count = validate_warnings(w->so, texts);

	for (size_t i = 0; i < count; i++)
		warn(w, texts[i]);
	warn_of_parameters(w, &of);
	if (!store_watches(store, w->so->meta.namespace_))
		return;
	if (!store_knows_hpas(store, w->so->meta.namespace_, &trouble))
		warn(w,
			trouble ? "whether another HorizontalPodAutoscaler scales the same workload was not checked: "
				  "kscaled cannot watch them at present, as its log tells"
				: "whether another HorizontalPodAutoscaler scales the same workload was not checked: "
				  "not all of them are known yet");
	if (!store_synced(store))
		warn(w,
			"whether another ScaledObject has the same workload was not checked: not all of them are known "
			"yet");
}

static void count_fault(void *arg, const struct err *err)
{
	(void)err;
	++*(size_t *)arg;
}

/* The stored object breaks rules for new ones already: its next version may, too. */
static bool breaks_rules_of_new(const json_t *old)
{
	struct scaledobject *so = old ? scaledobject_decode(old, NULL) : NULL;
	size_t count = 0;

	if (so)
		validate_only_new(scaled_of_object(so), count_fault, &count);
	scaledobject_free(so);
	return count > 0;
}

static int validate_again(struct admit_wait *w, const json_t *old, const char **reason, struct err *err)
{
	struct scaled of = scaled_of_object(w->so);

	if (validate_admission(of, reason, err) == 0)
		return 0;
	if (!breaks_rules_of_new(old))
		return -1;
	validate_only_new(of, on_fault, w);
	return validate_stored(of, reason, err);
}

static int judge_scaledobject(struct admit_wait *w, const json_t *object, const json_t *old, const char **reason,
	struct err *err)
{
	struct rival_search search = { .err = err };

	w->so = scaledobject_decode(object, err);
	if (!w->so || check_namespace(&w->so->meta, err) < 0)
		return -1;
	if (validate_again(w, old, reason, err) < 0)
		return -1;
	search.so = w->so;
	search_others(w->owner->store, &search);
	*reason = search.reason;
	return search.found < 0 ? -1 : check_hpas(w->owner->store, w->so, reason, err);
}

static void warn_of_scaledjob(struct admit_wait *w, const struct scaledjob *sj)
{
	struct scaled of = scaled_of_job(sj);
	const char *texts[VALIDATE_JOB_WARNINGS_MAX];
	size_t count = validate_job_warnings(sj, texts);

	for (size_t i = 0; i < count; i++)
		warn(w, texts[i]);
	validate_jobs_of(sj, on_fault, w);
	warn_of_parameters(w, &of);
}

/* Needs no outside facts: a ScaledJob has no target and no conflicts. */
static int judge_scaledjob(struct admit_wait *w, const json_t *object, const json_t *old, const char **reason,
	struct err *err)
{
	struct scaledjob *sj = scaledjob_decode(object, err);
	int rc;

	(void)old;
	if (!sj)
		return -1;
	rc = check_namespace(&sj->meta, err);
	if (rc == 0)
		rc = validate_admission(scaled_of_job(sj), reason, err);
	if (rc == 0)
		warn_of_scaledjob(w, sj);
	scaledjob_free(sj);
	return rc;
}

static int judge_triggerauth(struct admit_wait *w, const json_t *object, const json_t *old, const char **reason,
	struct err *err)
{
	struct triggerauth *t = triggerauth_decode(object, err);
	struct err unusable;
	int rc;

	(void)old;
	if (!t)
		return -1;
	rc = validate_triggerauth(t, reason, err);
	/* KEDA's webhook admits it, and users that refer to it get the error. */
	if (rc == 0 && auth_alone(w->owner->rules, t, &unusable))
		warn(w, unusable.msg);
	triggerauth_free(t);
	return rc;
}

static const struct kind {
	const char *name;
	/* from facts in memory; old: NULL on creation */
	int (*judge)(struct admit_wait *w, const json_t *object, const json_t *old, const char **reason,
		struct err *err);
} kinds[] = {
	{ "ScaledObject", judge_scaledobject },
	{ "ScaledJob", judge_scaledjob },
	{ TRIGGERAUTH_KIND, judge_triggerauth },
	{ TRIGGERAUTH_CLUSTER_KIND, judge_triggerauth },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* ---- Asking ---- */

static size_t finalizers_of(const json_t *object)
{
	return json_array_size(json_metadata(object, "finalizers"));
}

static bool passes_unseen(const struct admit_request *request)
{
	const json_t *old = request->old_object;

	if (!old)
		return false;
	if (*json_metadata_text(request->object, "deletionTimestamp"))
		return true;
	return finalizers_of(request->object) < finalizers_of(old) &&
		json_equal((json_t *)(uintptr_t)json_object_get(request->object, "spec"),
			(json_t *)(uintptr_t)json_object_get(old, "spec"));
}

/*
 * An object with generateName gets its name after admission: five more characters. The caller owns
 * the result.
 */
static json_t *with_name(const json_t *object)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *generate = json_str_or_empty(metadata, "generateName");
	json_t *copy, *named;

	if (!*generate || *json_str_or_empty(metadata, "name"))
		return json_incref((json_t *)(uintptr_t)object);
	copy = json_copy((json_t *)(uintptr_t)object);
	named = json_copy((json_t *)(uintptr_t)metadata);
	json_object_set_new(named, "name", json_sprintf("%sxxxxx", generate));
	json_object_set_new(copy, "metadata", named);
	return copy;
}

static void warn_of_namespace(struct admit_wait *w, const char *namespace_)
{
	MEM_AUTO char *text = NULL;

	if (!*namespace_ || store_watches(w->owner->store, namespace_))
		return;
	text = mem_printf("metadata.namespace: \"%.80s\" is not in --watch-namespace: this kscaled does nothing there",
		namespace_);
	warn(w, text);
}

static void judge_at_once(struct admit_wait *w, const struct admit_request *request)
{
	const struct kind *kind = find_kind(request->kind);
	const char *reason = "incorrect-spec";
	struct err err;
	json_t *object;

	if (!kind) {
		err_set(&err, ERR_INVALID, "kind: \"%.80s\" is not validated here", request->kind);
		refuse_object(w, reason, &err);
		return;
	}
	object = with_name(request->object);
	warn_of_namespace(w, json_metadata_text(object, "namespace"));
	if (kind->judge(w, object, request->old_object, &reason, &err) < 0)
		refuse_object(w, reason, &err);
	json_decref(object);
}

struct admit_wait *admit_ask(struct admit *a, const struct admit_request *request, admit_fn fn, void *arg)
{
	struct admit_wait *w = mem_zalloc(sizeof(*w));
	int64_t left_ms = request->deadline_ms - loop_now_ms(a->loop);

	w->owner = a;
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->later, on_verdict, w);
	DL_APPEND(a->waiting, w);
	if (!passes_unseen(request))
		judge_at_once(w, request);
	if (w->so && !w->reason)
		warn_of_scaledobject(w);
	/* A dry run may precede the creation of the target. */
	if (!w->so || w->reason || request->dry_run || !validate_needs_target(w->so)) {
		loop_task_queue(a->loop, &w->later);
	} else if (a->looking_up >= LOOKING_MAX) {
		warn(w, NOT_CHECKED "too many objects are being validated at once");
		loop_task_queue(a->loop, &w->later);
	} else {
		look_up_all(w, left_ms > 0 ? left_ms : 1);
	}
	return w;
}

void admit_cancel(struct admit_wait *w)
{
	if (w)
		wait_free(w);
}

struct admit *admit_new(struct store *store, struct kube *kube, const struct auth_lookup *rules)
{
	struct admit *a = mem_zalloc(sizeof(*a));

	a->store = store;
	a->kube = kube;
	a->rules = rules;
	a->loop = kube_loop(kube);
	return a;
}

void admit_free(struct admit *a)
{
	struct admit_wait *w, *next;

	if (!a)
		return;
	DL_FOREACH_SAFE (a->waiting, w, next)
		wait_free(w);
	free(a);
}
