/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/checkobjects.h"

#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/check/catalogue.h"
#include "cli/check/checktriggers.h"
#include "cli/check/conflicts.h"
#include "cli/check/crdschema.h"
#include "cli/check/findings.h"
#include "cli/check/offline.h"
#include "cli/check/schema.h"
#include "cli/fields.h"
#include "decide/formula/formula.h"
#include "decide/hpaspec.h"
#include "decide/validate/validate.h"

/* The state of one run. */
struct run {
	struct findings findings;
	struct crdschema *schemas;
	json_t *metadata_schema;
	struct catalogue *catalogue;
	struct offline offline;
	const struct documents *documents;
	/* For each document: */
	struct conflict_entry *conflicts; /* filled if it is a ScaledObject */
	const struct document **earlier;  /* of the same object; NULL: none */
};

/* ---- ScaledObjects ---- */

static void on_broken_rule(void *arg, const struct err *err)
{
	findings_problem_of(arg, "spec", err->msg);
}

static void on_broken_when_new(void *arg, const struct err *err)
{
	MEM_AUTO char *text = mem_printf("%s (the webhook denies it for new objects)", err->msg);

	findings_warning_of(arg, text);
}

static void check_rules(struct run *r, const struct scaledobject *so)
{
	const char *warnings[VALIDATE_WARNINGS_MAX];
	size_t count;

	validate_every(scaled_of_object(so), on_broken_rule, &r->findings);
	validate_only_new(scaled_of_object(so), on_broken_when_new, &r->findings);
	count = validate_warnings(so, warnings);
	for (size_t i = 0; i < count; i++)
		findings_warning_of(&r->findings, warnings[i]);
}

/* A LimitRange that is not in the input may set a default. */
static void report_surroundings(struct run *r, const char *reason, bool ranges_known, const struct err *err)
{
	if (strcmp(reason, "missing-requests") == 0 && !ranges_known) {
		MEM_AUTO char *text = mem_printf("%s (or use a LimitRange in the namespace)", err->msg);

		findings_warning_of(&r->findings, text);
	} else {
		findings_problem_of(&r->findings, "spec", err->msg);
	}
}

static const struct hpa **read_hpas(const json_t *list, size_t *count)
{
	const struct hpa **hpas = mem_array(json_array_size(list) + 1, sizeof(*hpas));
	const json_t *object;
	size_t i;

	*count = 0;
	json_array_foreach(list, i, object)
	{
		hpas[*count] = hpa_decode(object, NULL);
		*count += hpas[*count] != NULL;
	}
	return hpas;
}

static void check_surroundings(struct run *r, const struct scaledobject *so)
{
	size_t hpa_count;
	const struct hpa **hpas =
		read_hpas(catalogue_list(r->catalogue, "HorizontalPodAutoscaler", so->meta.namespace_), &hpa_count);
	const json_t *target = offline_target_object(&r->offline, so),
		     *ranges = catalogue_list(r->catalogue, "LimitRange", so->meta.namespace_);
	json_t *unknown = json_object(), *none = json_array();
	struct validate_facts facts = {
		.hpas = hpas,
		.hpa_count = hpa_count,
		.target = target ? target : unknown,
		.limit_ranges = target ? ranges ? ranges : none : NULL,
	};
	const char *reason;
	struct err err = { 0 };

	if (validate_surroundings(so, &facts, &reason, &err) < 0)
		report_surroundings(r, reason, ranges || r->offline.complete, &err);
	if (!target && r->offline.complete && so->spec.target_name && *so->spec.target_name)
		findings_problem(&r->findings, "spec.scaleTargetRef", "%s %s/%s is not in the input",
			scaledobject_target_kind(&so->spec), so->meta.namespace_, so->spec.target_name);
	for (size_t i = 0; i < hpa_count; i++)
		hpa_free((struct hpa *)(uintptr_t)hpas[i]);
	free(hpas);
	json_decref(unknown);
	json_decref(none);
}

static void on_container(void *arg, const struct err *err)
{
	findings_warning_of(arg, err->msg);
}

static void check_formula(struct run *r, const struct scaledobject *so)
{
	const char *text = so->spec.modifiers ? so->spec.modifiers->formula : NULL;
	const char **names;
	struct formula *formula;
	struct err err = { 0 };
	size_t count = 0;

	if (!text || !*text)
		return;
	names = mem_array(so->spec.trigger_count + 1, sizeof(*names));
	for (size_t i = 0; i < so->spec.trigger_count; i++) {
		const struct trigger *t = &so->spec.triggers[i];

		if (t->type && !validate_is_resource_type(t->type))
			names[count++] = t->name ? t->name : "";
	}
	formula = formula_compile(text, names, count, &err);
	if (!formula)
		findings_problem(&r->findings, "spec.advanced.scalingModifiers.formula", "%s", err.msg);
	formula_free(formula);
	free(names);
}

/* Errors of the resulting HPA: a duplicate metric name, an unsupported metricType. */
static void check_hpa(struct run *r, const struct scaledobject *so, const struct checktriggers *built)
{
	struct metric_spec *metrics;
	struct err err = { 0 };
	json_t *hpa;

	if (!built->all || built->count == 0)
		return;
	metrics = mem_array(built->count, sizeof(*metrics));
	for (size_t i = 0; i < built->count; i++)
		metrics[i] = scaler_metric_spec(&built->list[i]);
	hpa = hpaspec_make(so, metrics, built->count, "", &err);
	if (!hpa)
		findings_problem_of(&r->findings, "spec.triggers", err.msg);
	json_decref(hpa);
	free(metrics);
}

/* Otherwise an object whose metadata cannot be decoded would seem valid. */
static void check_unreadable(struct run *r, const struct document *doc)
{
	json_t *object = catalogue_placed(r->catalogue, doc->json);
	struct meta meta;
	struct err err = { 0 };

	if (meta_decode(object, &meta, &err) == 0)
		meta_done(&meta);
	else if (r->findings.object_problems == 0)
		findings_problem_of(&r->findings, "metadata", err.msg);
	json_decref(object);
}

static void check_scaledobject(struct run *r, const struct document *doc)
{
	const struct conflict_entry *entry = &r->conflicts[doc - r->documents->list];
	const struct scaledobject *so = entry->so;
	struct checktriggers built;
	struct scaled of;

	if (!so) {
		check_unreadable(r, doc);
		return;
	}
	check_rules(r, so);
	if (entry->conflict)
		findings_problem_of(&r->findings, "spec", entry->conflict);
	if (!so->spec_err)
		check_surroundings(r, so);
	validate_containers(so, offline_target_object(&r->offline, so), on_container, &r->findings);
	check_formula(r, so);
	if (so->spec_err)
		return;
	of = scaled_of_object(so);
	checktriggers_run(&r->offline, &of, &r->findings, &built);
	if (r->findings.object_problems == 0)
		check_hpa(r, so, &built);
	checktriggers_done(&built);
}

/* ---- ScaledJobs ---- */

static void check_job_rules(struct run *r, const struct scaledjob *sj)
{
	const char *warnings[VALIDATE_JOB_WARNINGS_MAX];
	size_t count;

	validate_every(scaled_of_job(sj), on_broken_rule, &r->findings);
	count = validate_job_warnings(sj, warnings);
	/* These two warnings repeat a problem above, which names the trigger. */
	for (size_t i = 0; i < count; i++)
		if (!text_begins(warnings[i], "spec.triggers: metricType ") &&
			!text_begins(warnings[i], "spec.triggers: cpu and memory "))
			findings_warning_of(&r->findings, warnings[i]);
}

/* The environment is that of its own Pod template. */
static void check_scaledjob(struct run *r, const struct document *doc)
{
	json_t *object = catalogue_placed(r->catalogue, doc->json);
	struct scaledjob *sj = scaledjob_decode(object, NULL);
	struct checktriggers built;
	struct scaled of;

	json_decref(object);
	if (!sj) {
		check_unreadable(r, doc);
		return;
	}
	check_job_rules(r, sj);
	validate_jobs_of(sj, on_broken_rule, &r->findings);
	if (!sj->spec_err) {
		of = scaled_of_job(sj);
		checktriggers_run(&r->offline, &of, &r->findings, &built);
		checktriggers_done(&built);
	}
	scaledjob_free(sj);
}

/* ---- Authentications ---- */

static void check_triggerauth(struct run *r, const struct document *doc)
{
	json_t *object = catalogue_placed(r->catalogue, doc->json);
	struct triggerauth *t = triggerauth_decode(object, NULL);
	const char *namespace_ = catalogue_namespace(r->catalogue, doc->json);
	struct err err = { 0 };

	json_decref(object);
	if (!t) {
		check_unreadable(r, doc);
		return;
	}
	if (validate_triggerauth(t, NULL, &err) < 0)
		findings_problem_of(&r->findings, "spec", err.msg);
	else if (checktriggers_authentication(&r->offline, t, namespace_, &r->findings) == 0)
		checktriggers_allowed(&r->offline, t, &r->findings);
	triggerauth_free(t);
}

static const struct {
	const char *kind;
	void (*check)(struct run *r, const struct document *doc);
} kinds[] = {
	{ "ScaledObject", check_scaledobject },
	{ "ScaledJob", check_scaledjob },
	{ TRIGGERAUTH_KIND, check_triggerauth },
	{ TRIGGERAUTH_CLUSTER_KIND, check_triggerauth },
};

/* ---- Every object ---- */

static void on_fault(void *arg, size_t line, const char *key)
{
	MEM_AUTO char *text = mem_printf("duplicate key \"%.100s\"", key);

	findings_problem_at(arg, line, text);
}

static void on_schema(void *arg, const char *path, const char *message)
{
	findings_problem(arg, *path ? path : NULL, "%s", message);
}

/*
 * The API server's own schema of metadata, which CustomResourceDefinitions lack. The most common
 * fault is an annotation that YAML reads as a boolean or a number.
 */
#define TEXT_OF(...) #__VA_ARGS__
static const char metadata_schema[] = TEXT_OF({
	"type" : "object",
	"additionalProperties" : true,
	"properties" : {
		"metadata" : {
			"type" : "object",
			"properties" : {
				"name" : { "type" : "string", "nullable" : true },
				"generateName" : { "type" : "string", "nullable" : true },
				"namespace" : { "type" : "string", "nullable" : true },
				"labels" : {
					"type" : "object",
					"nullable" : true,
					"additionalProperties" : { "type" : "string", "nullable" : true }
				},
				"annotations" : {
					"type" : "object",
					"nullable" : true,
					"additionalProperties" : { "type" : "string", "nullable" : true }
				},
				"finalizers" : { "type" : "array", "nullable" : true, "items" : { "type" : "string" } },
				"ownerReferences" : { "type" : "array", "nullable" : true },
				"uid" : {},
				"resourceVersion" : {},
				"generation" : {},
				"creationTimestamp" : {},
				"deletionTimestamp" : {},
				"deletionGracePeriodSeconds" : {},
				"selfLink" : {},
				"managedFields" : {}
			}
		}
	}
});

static void check_metadata(struct run *r, const json_t *object)
{
	const char *name = fields_name(object), *namespace_ = fields_namespace(object);

	if (!*name && !*fields_text(object, "metadata.generateName"))
		findings_problem(&r->findings, "metadata.name", "missing");
	else if (*name && !dnsname_is_subdomain(name, strlen(name)))
		findings_problem(&r->findings, "metadata.name",
			"\"%.253s\" cannot be the name of an object: lower case letters, digits, '-' and '.' are "
			"allowed",
			name);
	if (*namespace_ && !dnsname_is_label(namespace_, strlen(namespace_)))
		findings_problem(&r->findings, "metadata.namespace", "\"%.253s\" is not a valid name of a namespace",
			namespace_);
}

static void check_known(struct run *r, const struct document *doc, const json_t *schema, const char *kind)
{
	const struct document *earlier = r->earlier[doc - r->documents->list];
	const char *api_version = json_str_or_empty(doc->json, "apiVersion");

	if (strcmp(api_version, CRDSCHEMA_API_VERSION) != 0) {
		findings_problem(&r->findings, "apiVersion",
			"\"%.100s\" is not the apiVersion of this kind: " CRDSCHEMA_API_VERSION, api_version);
		return;
	}
	if (earlier)
		findings_warning(&r->findings, "metadata.name",
			"the same object is also at %s:%zu: the last one applied wins", earlier->file, earlier->line);
	schema_check(schema, doc->json, on_schema, &r->findings);
	schema_check(r->metadata_schema, doc->json, on_schema, &r->findings);
	check_metadata(r, doc->json);
	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			kinds[i].check(r, doc);
}

/* keda.sh, or a subdomain of it */
static bool is_of_keda(const char *api_version)
{
	MEM_AUTO char *domain = mem_printf(".%.*s", (int)strcspn(api_version, "/"), api_version);
	size_t len = strlen(domain);

	return len >= strlen(".keda.sh") && strcmp(domain + len - strlen(".keda.sh"), ".keda.sh") == 0;
}

static void check_document(struct run *r, const struct document *doc)
{
	const char *kind = json_str_or_empty(doc->json, "kind"),
		   *api_version = json_str_or_empty(doc->json, "apiVersion");
	const json_t *schema = crdschema_get(r->schemas, kind);

	findings_begin(&r->findings, doc, *kind ? kind : NULL, catalogue_namespace(r->catalogue, doc->json),
		*fields_name(doc->json) ? fields_name(doc->json) : fields_text(doc->json, "metadata.generateName"));
	documents_each_fault(doc, on_fault, &r->findings);
	if (!json_is_object(doc->json))
		findings_problem(&r->findings, NULL, "%s",
			json_is_array(doc->json) ? "a list is not a Kubernetes object: write several documents, or one "
						   "of kind List with items"
						 : "a single value is not a Kubernetes object");
	else if (!*kind || !*api_version)
		findings_problem(&r->findings, NULL, "not a Kubernetes object: %s",
			*kind                  ? "apiVersion is missing"
				: *api_version ? "kind is missing"
					       : "apiVersion and kind are missing");
	else if (schema)
		check_known(r, doc, schema, kind);
	else if (is_of_keda(api_version))
		findings_warning(&r->findings, NULL, "kscaled ignores %s of %s: not checked", kind, api_version);
	findings_end(&r->findings, schema);
}

/* Authentications come first, so that an error is reported once, not by each reference. */
static void find_faulty(struct run *r, const struct document *doc)
{
	const char *kind = json_str_or_empty(doc->json, "kind"),
		   *namespace_ = catalogue_namespace(r->catalogue, doc->json);
	struct catalogue_entry *e;
	const struct triggerauth *t;

	if (strcmp(kind, TRIGGERAUTH_KIND) != 0 && strcmp(kind, TRIGGERAUTH_CLUSTER_KIND) != 0)
		return;
	e = catalogue_find(r->catalogue, kind, namespace_, fields_name(doc->json));
	t = e && e->doc == doc ? catalogue_triggerauth(r->catalogue, e) : NULL;
	if (t && checktriggers_authentication(&r->offline, t, namespace_, NULL) < 0)
		e->faulty = true;
}

static void collect(struct run *r, size_t at)
{
	const struct document *doc = &r->documents->list[at];

	r->earlier[at] = catalogue_add(r->catalogue, doc);
	if (json_str_is(doc->json, "kind", "ScaledObject")) {
		json_t *object = catalogue_placed(r->catalogue, doc->json);

		conflicts_decode(&r->conflicts[at], object);
		json_decref(object);
	}
}

struct checkobjects_result checkobjects_run(const struct checkobjects_params *params, const struct documents *documents,
	FILE *out)
{
	size_t i, count = documents->count;
	struct run r = { .schemas = crdschema_new(),
		.metadata_schema = json_loads(metadata_schema, 0, NULL),
		.catalogue = catalogue_new(params->namespace_),
		.documents = documents,
		.conflicts = mem_array(count + 1, sizeof(*r.conflicts)),
		.earlier = mem_array(count + 1, sizeof(*r.earlier)) };

	findings_init(&r.findings, out, params->verbose);
	r.offline = (struct offline){ .catalogue = r.catalogue, .rules = &params->rules, .complete = params->complete };
	for (i = 0; i < count; i++)
		collect(&r, i);
	conflicts_find(r.conflicts, count);
	for (i = 0; i < count; i++)
		find_faulty(&r, &documents->list[i]);
	for (i = 0; i < count; i++)
		check_document(&r, &documents->list[i]);
	conflicts_done(r.conflicts, count);
	catalogue_free(r.catalogue);
	crdschema_free(r.schemas);
	json_decref(r.metadata_schema);
	free(r.earlier);
	return (struct checkobjects_result){ r.findings.problems, r.findings.warnings };
}
