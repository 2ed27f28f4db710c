/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"

/* More findings than this are only counted. */
#define REPORTED_MAX 20

/* ---- Leases ---- */

/* gather.c watched whether the holder renews it. */
void competitors_lease(const struct facts *c)
{
	const char *ns = c->namespace_, *name = c->setup->lease_name,
		   *holder = fields_text(c->facts, "lease.object.spec.holderIdentity");

	if (c->setup->no_lease)
		facts_ok(c, "none needed: --leader-elect=false");
	else if (!facts_object(c, "lease"))
		facts_error(c, facts_restart(c), "Lease %s/%s does not exist: kscaled has never run here", ns, name);
	else if (!*holder)
		facts_error(c, facts_restart(c), "no one holds the Lease %s/%s: kscaled is stopped or waiting", ns,
			name);
	else if (!json_is_true(fields_at(c->facts, "lease.renewed")))
		facts_error(c, facts_restart(c),
			"%s holds the Lease %s/%s, but did not renew it in the %lld seconds it was watched", holder, ns,
			name, (long long)fields_number(c->facts, "lease.watched_ms") / 1000);
	else
		facts_ok(c, "%s is the leader and renews the Lease", holder);
}

void competitors_keda(const struct facts *c)
{
	const char *ns = c->setup->keda_namespace,
		   *holder = fields_text(c->facts, "keda-lease.object.spec.holderIdentity");
	const json_t *deployment = facts_object(c, "keda-deployment");
	int replicas = (int)fields_number(deployment, "spec.replicas");
	bool is_ours = ns && strcmp(ns, c->namespace_) == 0;

	if (!ns || (is_ours && !deployment)) {
		facts_ok(c, ns ? "kscaled runs in KEDA's namespace, KEDA does not" : "--keda-namespace is empty");
		return;
	}
	if (!facts_known(c, "keda-lease"))
		return;
	if (!is_ours && *holder && json_is_true(fields_at(c->facts, "keda-lease.renewed")) && !c->setup->take_over)
		facts_error(c, mem_printf("kubectl -n %s scale deployment keda-operator --replicas 0", ns),
			"KEDA is running: %s holds the Lease %s/operator.keda.sh, so kscaled stays passive", holder,
			ns);
	else if (replicas > 0)
		facts_warn(c, mem_printf("kubectl -n %s scale deployment keda-operator --replicas 0", ns),
			"KEDA is installed: Deployment %s/keda-operator wants %d replicas", ns, replicas);
	else if (deployment)
		facts_ok(c, "Deployment %s/keda-operator has no replicas", ns);
	else
		facts_ok(c, "not installed");
}

/* ---- HPAs of others ---- */

/* "shop Deployment.apps/web". The caller owns it. */
static char *target_key(const json_t *object, const json_t *ref)
{
	const char *version = json_str_or_empty(ref, "apiVersion"), *kind = json_str_or_empty(ref, "kind");
	const char *slash;

	if (!*version)
		version = "apps/v1"; /* the default of a ScaledObject, with kind Deployment */
	slash = strchr(version, '/');
	return mem_printf("%s %s.%.*s/%s", fields_namespace(object), *kind ? kind : "Deployment",
		(int)(slash ? slash - version : 0), version, json_str_or_empty(ref, "name"));
}

static bool is_of(const json_t *hpa, const char *scaledobject)
{
	const json_t *owner;
	size_t i;

	json_array_foreach(fields_at(hpa, "metadata.ownerReferences"), i, owner)
	{
		if (json_str_is(owner, "kind", "ScaledObject") && json_str_is(owner, "name", scaledobject))
			return true;
	}
	return false;
}

/* The ScaledObject is annotated to adopt this HPA. */
static bool is_to_be_taken(const json_t *scaledobject, const json_t *hpa)
{
	return strcmp(fields_text(scaledobject, "spec.advanced.horizontalPodAutoscalerConfig.name"),
		       fields_name(hpa)) == 0 &&
		json_str_is(fields_at(scaledobject, "metadata.annotations"),
			"scaledobject.keda.sh/transfer-hpa-ownership", "true");
}

/* json: target -> its ScaledObject, borrowed. The caller owns it. */
static json_t *targets_of(const json_t *scaledobjects)
{
	json_t *targets = json_object();
	json_t *so;
	size_t i;

	json_array_foreach(scaledobjects, i, so)
	{
		MEM_AUTO char *key = target_key(so, fields_at(so, "spec.scaleTargetRef"));

		json_object_set(targets, key, so);
	}
	return targets;
}

void competitors_hpas(const struct facts *c)
{
	json_t *targets = targets_of(fields_at(c->facts, "scaledobjects.object.items"));
	const json_t *hpa;
	size_t i, count = 0;

	json_array_foreach(fields_at(c->facts, "hpas.object.items"), i, hpa)
	{
		MEM_AUTO char *key = target_key(hpa, fields_at(hpa, "spec.scaleTargetRef"));
		const json_t *so = json_object_get(targets, key);
		const char *ns = fields_namespace(hpa), *name = fields_name(hpa);

		if (!so || is_of(hpa, fields_name(so)) || is_to_be_taken(so, hpa) || ++count > REPORTED_MAX)
			continue;
		facts_error(c, mem_printf("kubectl -n %s delete hpa %s", ns, name),
			"HorizontalPodAutoscaler %s/%s has the same target as ScaledObject %s/%s, but does not belong "
			"to it: both scale",
			ns, name, ns, fields_name(so));
	}
	if (count > REPORTED_MAX)
		diagnosis_more(c->out, c->hop, count - REPORTED_MAX, NULL);
	if (count == 0)
		facts_ok(c, "no other HorizontalPodAutoscaler has the target of one of %zu ScaledObjects",
			json_object_size(targets));
	json_decref(targets);
}
