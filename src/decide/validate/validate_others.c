/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for a ScaledObject together with other objects (doc/keda.md 7.2): ScaledObjects, foreign
 * HPAs, the requests of the target's containers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "decide/annotations.h"
#include "decide/validate/validate.h"

#define NAME_SIZE 254
#define TYPE_SIZE (3 * NAME_SIZE)

static int refuse_for(const char **reason, const char *word)
{
	if (reason)
		*reason = word;
	return -1;
}

static int pass(const char **reason)
{
	if (reason)
		*reason = NULL;
	return 0;
}

/* ---- Targets ---- */

/* "apps/v1.Deployment", as KEDA writes it; "" for an invalid apiVersion, which has its own rule. */
static char *target_type(const struct scaledobject_spec *s, char out[TYPE_SIZE])
{
	char group[NAME_SIZE], version[NAME_SIZE];

	out[0] = '\0';
	if (scaledobject_target_gv(s, group, version, sizeof(group), NULL) == 0)
		snprintf(out, TYPE_SIZE, "%s/%s.%s", group, version, scaledobject_target_kind(s));
	return out;
}

static bool same_target(const struct scaledobject_spec *a, const struct scaledobject_spec *b)
{
	char type_a[TYPE_SIZE], type_b[TYPE_SIZE];

	/* The name first: this is called for each pair of objects in a namespace. */
	return a->target_name && b->target_name && strcmp(a->target_name, b->target_name) == 0 &&
		strcmp(target_type(a, type_a), target_type(b, type_b)) == 0;
}

static bool same_hpa(const struct scaledobject *a, const struct scaledobject *b)
{
	char name_a[512], name_b[512];

	return strcmp(scaledobject_hpa_name(a, name_a, sizeof(name_a)),
		       scaledobject_hpa_name(b, name_b, sizeof(name_b))) == 0;
}

/* ---- Other ScaledObjects ---- */

int validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err)
{
	char type[TYPE_SIZE], hpa[512];

	if (strcmp(so->meta.name, other->meta.name) == 0)
		return pass(reason);
	if (same_target(&so->spec, &other->spec)) {
		err_set(err, ERR_INVALID,
			"spec.scaleTargetRef: the workload '%s' of type '%s' is already managed by the ScaledObject "
			"'%s'",
			so->spec.target_name, target_type(&so->spec, type), other->meta.name);
		return refuse_for(reason, "other-scaled-object");
	}
	/* Two default names differ as the objects' names do. */
	if ((so->spec.hpa_name || other->spec.hpa_name) && same_hpa(so, other)) {
		err_set(err, ERR_INVALID,
			"spec.advanced.horizontalPodAutoscalerConfig.name: the HPA '%s' is already managed by the "
			"ScaledObject '%s'",
			scaledobject_hpa_name(so, hpa, sizeof(hpa)), other->meta.name);
		return refuse_for(reason, "other-scaled-object-hpa");
	}
	return pass(reason);
}

/* ---- Foreign HPAs ---- */

static bool is_owner(const struct meta *meta, const struct scaledobject *so)
{
	for (size_t i = 0; i < meta->owner_count; i++)
		if (strcmp(meta->owners[i].kind, "ScaledObject") == 0 &&
			strcmp(meta->owners[i].name, so->meta.name) == 0)
			return true;
	return false;
}

/* Empty fields of an HPA's reference have the same defaults as ours (KEDA's ParseGVKR). */
static bool scales_target(const struct hpa *hpa, const struct scaledobject *so)
{
	const struct scaledobject_spec spec = {
		.target_api_version = (char *)(uintptr_t)hpa->target_api_version,
		.target_kind = (char *)(uintptr_t)hpa->target_kind,
		.target_name = hpa->target_name,
	};

	return same_target(&so->spec, &spec);
}

static int check_hpa(const struct hpa *hpa, const struct scaledobject *so, const char **reason, struct err *err)
{
	const char *name = hpa->meta.name;
	struct annotations annotations;
	char type[TYPE_SIZE];

	if (!scales_target(hpa, so) || is_owner(&hpa->meta, so))
		return 0;
	if (annotations_read(so, &annotations, NULL) < 0 || !annotations.transfer_hpa) {
		err_set(err, ERR_INVALID,
			"spec.scaleTargetRef: the workload '%s' of type '%s' is already managed by the hpa '%s': "
			"delete that, or let it be taken over by annotation " ANNOTATION_TRANSFER_HPA
			": \"true\" and spec.advanced.horizontalPodAutoscalerConfig.name",
			so->spec.target_name, target_type(&so->spec, type), name);
		return refuse_for(reason, "other-hpa");
	}
	if (so->spec.hpa_name && strcmp(so->spec.hpa_name, name) == 0)
		return 0;
	err_set(err, ERR_INVALID,
		"spec.advanced.horizontalPodAutoscalerConfig.name: the existing hpa '%s' for workload '%s' of type "
		"'%s' must be specified by name in advanced settings to enable ownership transfer",
		name, so->spec.target_name, target_type(&so->spec, type));
	return refuse_for(reason, "transfer-ownership-missing-hpa-name");
}

/* ---- Requests, for cpu and memory triggers ---- */

bool validate_needs_target(const struct scaledobject *so)
{
	char type[TYPE_SIZE];

	target_type(&so->spec, type);
	if (strcmp(type, "apps/v1.Deployment") != 0 && strcmp(type, "apps/v1.StatefulSet") != 0)
		return false;
	for (size_t i = 0; i < so->spec.trigger_count; i++)
		if (validate_is_resource_type(so->spec.triggers[i].type))
			return true;
	return false;
}

static bool is_positive(const json_t *amounts, const char *resource)
{
	struct quantity q;

	return quantity_parse(json_str_or_empty(amounts, resource), &q, NULL) == 0 && q.milli > 0;
}

static bool has_default(const json_t *limit_ranges, const char *resource)
{
	const json_t *range, *limit;
	size_t i, j;

	json_array_foreach(limit_ranges, i, range)
		json_array_foreach(json_object_get(json_object_get(range, "spec"), "limits"), j,
			limit) if (json_str_is(limit, "type", "Container") &&
			(is_positive(json_object_get(limit, "defaultRequest"), resource) ||
				is_positive(json_object_get(limit, "default"), resource))) return true;
	return false;
}

static bool has_request(const json_t *container, const char *resource)
{
	const json_t *resources = json_object_get(container, "resources");

	return is_positive(json_object_get(resources, "requests"), resource) ||
		is_positive(json_object_get(resources, "limits"), resource);
}

/*
 * The requests of the namespace and the target for one resource. A thousand triggers may ask about
 * a target with ten thousand containers, so they are gathered once.
 */
struct requests {
	const char *resource;
	bool gathered, by_default, of_pod;
	const char *first;    /* the first container without a request; NULL: all have one */
	const char **lacking; /* owned; all of them, sorted by name */
	size_t count;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const json_t *pod_of(const json_t *target)
{
	return json_object_get(json_object_get(json_object_get(target, "spec"), "template"), "spec");
}

/*
 * The containers that run as long as the Pod, which the HPA controller measures, including sidecars
 * among the initContainers. The caller frees the array.
 */
static const json_t **running_containers(const json_t *pod, size_t *count)
{
	const json_t *containers = json_object_get(pod, "containers"), *init = json_object_get(pod, "initContainers"),
		     *container,
		     **out = mem_array(json_array_size(containers) + json_array_size(init) + 1, sizeof(*out));
	size_t i;

	*count = 0;
	json_array_foreach(containers, i, container) out[(*count)++] = container;
	json_array_foreach(init, i, container) if (json_str_is(container, "restartPolicy", "Always"))
		out[(*count)++] = container;
	return out;
}

static void gather(struct requests *r, const struct validate_facts *facts, const json_t *pod)
{
	size_t count;
	const json_t **containers = running_containers(pod, &count);

	r->gathered = true;
	r->by_default = has_default(facts->limit_ranges, r->resource);
	r->of_pod = has_request(pod, r->resource); /* Pod-level resources */
	r->lacking = mem_array(count + 1, sizeof(*r->lacking));
	for (size_t i = 0; i < count; i++)
		if (!has_request(containers[i], r->resource))
			r->lacking[r->count++] = json_str_or_empty(containers[i], "name");
	free(containers);
	r->first = r->lacking[0];
	qsort(r->lacking, r->count, sizeof(*r->lacking), compare_texts);
}

/* An AverageValue needs no request. */
static bool is_measured_by_request(const struct trigger *t)
{
	return !t->metric_type || strcmp(t->metric_type, "AverageValue") != 0;
}

/* The container without a request that the trigger needs; NULL: none. */
static const char *lacking(const struct requests *r, const struct trigger *t)
{
	const char *only = strmap_get(&t->metadata, "containerName"), **found;

	if (r->by_default)
		return NULL;
	if (!only || !*only)
		return r->of_pod ? NULL : r->first;
	found = bsearch(&only, r->lacking, r->count, sizeof(*r->lacking), compare_texts);
	return found ? *found : NULL;
}

static int check_requests(const struct trigger *t, size_t index, const struct requests *r, const char **reason,
	struct err *err)
{
	const char *name = lacking(r, t);

	if (!name)
		return 0;
	err_set(err, ERR_INVALID,
		"spec.triggers[%zu]: the scaledobject has a %s trigger but the container %s doesn't have the %s "
		"request defined: without one its utilization cannot be computed; set resources.requests.%s of "
		"the container",
		index, t->type, name, t->type, t->type);
	return refuse_for(reason, "missing-requests");
}

static int check_all_requests(const struct scaledobject *so, const struct validate_facts *facts, const char **reason,
	struct err *err)
{
	const json_t *pod = pod_of(facts->target);
	struct requests resources[] = { { .resource = "cpu" }, { .resource = "memory" } };
	int rc = 0;

	for (size_t i = 0; i < so->spec.trigger_count && rc == 0; i++) {
		const struct trigger *t = &so->spec.triggers[i];

		for (size_t k = 0; k < MEM_COUNT(resources) && rc == 0; k++) {
			struct requests *r = &resources[k];

			if (!t->type || strcmp(t->type, r->resource) != 0 || !is_measured_by_request(t))
				continue;
			if (!r->gathered)
				gather(r, facts, pod);
			rc = check_requests(t, i, r, reason, err);
		}
	}
	for (size_t k = 0; k < MEM_COUNT(resources); k++)
		free(resources[k].lacking);
	return rc;
}

static const char *container_of(const struct trigger *t)
{
	const char *name = validate_is_resource_type(t->type) ? strmap_get(&t->metadata, "containerName") : NULL;

	return name && *name ? name : NULL;
}

void validate_containers(const struct scaledobject *so, const json_t *target,
	void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	const struct scaledobject_spec *s = &so->spec;
	const json_t **containers;
	const char **names;
	size_t count;

	if (!pod_of(target))
		return;
	containers = running_containers(pod_of(target), &count);
	names = mem_array(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] = json_str_or_empty(containers[i], "name");
	qsort(names, count, sizeof(*names), compare_texts);
	for (size_t i = 0; i < s->trigger_count; i++) {
		const char *name = container_of(&s->triggers[i]);
		struct err err;

		if (!name || bsearch(&name, names, count, sizeof(*names), compare_texts))
			continue;
		err_set(&err, ERR_INVALID,
			"spec.triggers[%zu].metadata.containerName: %s %s/%s has no container \"%.253s\"", i,
			scaledobject_target_kind(s), so->meta.namespace_, s->target_name, name);
		on_fault(arg, &err);
	}
	free(names);
	free(containers);
}

static int check_resource_triggers(const struct scaledobject *so, const struct validate_facts *facts,
	const char **reason, struct err *err)
{
	bool alone = true;

	if (facts->target_missing) {
		err_set(err, ERR_INVALID,
			"spec.scaleTargetRef: the %s '%s' does not exist: with a trigger cpu or memory it must, so "
			"that its requests can be checked",
			scaledobject_target_kind(&so->spec), so->spec.target_name);
		return refuse_for(reason, "missing-target");
	}
	if (facts->limit_ranges && check_all_requests(so, facts, reason, err) < 0)
		return -1;
	for (size_t i = 0; i < so->spec.trigger_count; i++)
		alone = alone && validate_is_resource_type(so->spec.triggers[i].type);
	if (alone && scaledobject_min(&so->spec) == 0) {
		err_set(err, ERR_INVALID,
			"spec.minReplicaCount: scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to "
			"zero doesn't work in this case): set it to 1 or more, or add another trigger");
		return refuse_for(reason, "scale-to-zero-requirements-not-met");
	}
	return 0;
}

int validate_surroundings(const struct scaledobject *so, const struct validate_facts *facts, const char **reason,
	struct err *err)
{
	for (size_t i = 0; i < facts->hpa_count; i++)
		if (check_hpa(facts->hpas[i], so, reason, err) < 0)
			return -1;
	if ((facts->target || facts->target_missing) && validate_needs_target(so) &&
		check_resource_triggers(so, facts, reason, err) < 0)
		return -1;
	return pass(reason);
}
