/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/company.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"

/* So many of one kind are told each by itself. */
#define TOLD_MAX 20

/* ---- Leases ---- */

struct tenure {
	const char *holder; /* "": nobody */
	bool renewed;       /* while it was watched (gather.c) */
	int64_t watched_ms;
};

static struct tenure tenure_of(const struct casefile *c, const char *fact)
{
	const json_t *seen = json_object_get(c->facts, fact);

	return (struct tenure){ .holder = casefile_text_at(casefile_object(c, fact), "spec.holderIdentity"),
		.renewed = json_is_true(json_object_get(seen, "renewed")),
		.watched_ms = json_integer_value(json_object_get(seen, "watched_ms")) };
}

static bool is_alive(const struct tenure *h)
{
	return *h->holder && h->renewed;
}

void company_lease(const struct casefile *c)
{
	const char *ns = c->setup->namespace_, *name = c->setup->lease_name;
	bool told;
	const json_t *lease = casefile_read(c, "lease", &told);
	struct tenure hold = tenure_of(c, "lease");

	if (told)
		return;
	if (c->setup->no_lease)
		casefile_fine(c, "none is needed, as --leader-elect=false has it");
	else if (!lease)
		casefile_wrong(c, casefile_restart(c), "there is no Lease %s/%s: kscaled has never run here", ns, name);
	else if (!*hold.holder)
		casefile_wrong(c, casefile_restart(c),
			"nobody holds the Lease %s/%s: kscaled was stopped, or waits for others", ns, name);
	else if (!is_alive(&hold))
		casefile_wrong(c, casefile_restart(c),
			"%s holds the Lease %s/%s, but has not renewed it for %lld seconds, as long as it was watched",
			hold.holder, ns, name, (long long)hold.watched_ms / 1000);
	else
		casefile_fine(c, "%s leads, and renews the Lease", hold.holder);
}

void company_keda(const struct casefile *c)
{
	const char *ns = c->setup->keda_namespace;
	const json_t *lease = casefile_object(c, "keda-lease"), *deployment = casefile_object(c, "keda-deployment");
	struct tenure hold = tenure_of(c, "keda-lease");
	json_int_t replicas = json_integer_value(casefile_at(deployment, "spec.replicas"));
	bool told;

	if (!ns || (strcmp(ns, c->setup->namespace_) == 0 && !deployment)) {
		casefile_fine(c,
			ns ? "kscaled is in the namespace of KEDA, which is not" : "--keda-namespace is empty");
		return;
	}
	casefile_read(c, "keda-lease", &told);
	if (told)
		return;
	if (lease && strcmp(ns, c->setup->namespace_) != 0 && is_alive(&hold) && !c->setup->take_over)
		casefile_wrong(c, mem_printf("kubectl -n %s scale deployment keda-operator --replicas 0", ns),
			"KEDA is at work: %s holds the Lease %s/operator.keda.sh, so kscaled does not act", hold.holder,
			ns);
	else if (deployment && replicas > 0)
		casefile_warn(c, mem_printf("kubectl -n %s scale deployment keda-operator --replicas 0", ns),
			"KEDA is installed: Deployment %s/keda-operator wants %d replicas", ns, (int)replicas);
	else if (deployment)
		casefile_fine(c, "Deployment %s/keda-operator has no replicas", ns);
	else
		casefile_fine(c, "is not there");
}

/* ---- HPAs of others ---- */

/* "shop deployment.apps/web", in lower case as far as it is a kind; the caller owns it. */
static char *target_key(const json_t *object, const json_t *ref)
{
	const char *version = json_str_or_empty(ref, "apiVersion"), *kind = json_str_or_empty(ref, "kind");
	const char *slash;

	if (!*version)
		version = "apps/v1"; /* the default of a ScaledObject, with kind Deployment */
	slash = strchr(version, '/');
	return mem_printf("%s %s.%.*s/%s", casefile_namespace_of(object), *kind ? kind : "Deployment",
		(int)(slash ? slash - version : 0), version, json_str_or_empty(ref, "name"));
}

static bool is_of(const json_t *hpa, const char *scaledobject)
{
	const json_t *owner;
	size_t i;

	json_array_foreach(casefile_at(hpa, "metadata.ownerReferences"), i, owner)
	{
		if (json_str_is(owner, "kind", "ScaledObject") && json_str_is(owner, "name", scaledobject))
			return true;
	}
	return false;
}

/* An HPA that the ScaledObject is told to take as its own. */
static bool is_to_be_taken(const json_t *scaledobject, const json_t *hpa)
{
	return strcmp(casefile_text_at(scaledobject, "spec.advanced.horizontalPodAutoscalerConfig.name"),
		       casefile_name_of(hpa)) == 0 &&
		json_str_is(casefile_at(scaledobject, "metadata.annotations"),
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
		MEM_AUTO char *key = target_key(so, casefile_at(so, "spec.scaleTargetRef"));

		json_object_set(targets, key, so);
	}
	return targets;
}

static bool judge_hpa(const struct casefile *c, const json_t *targets, const json_t *hpa, size_t *count)
{
	MEM_AUTO char *key = target_key(hpa, casefile_at(hpa, "spec.scaleTargetRef"));
	const json_t *so = json_object_get(targets, key);
	const char *ns = casefile_namespace_of(hpa), *name = casefile_name_of(hpa);

	if (!so || is_of(hpa, casefile_name_of(so)) || is_to_be_taken(so, hpa))
		return false;
	if (++*count <= TOLD_MAX)
		casefile_wrong(c, mem_printf("kubectl -n %s delete hpa %s", ns, name),
			"HorizontalPodAutoscaler %s/%s has the target of ScaledObject %s/%s and is not of it: both "
			"scale",
			ns, name, ns, casefile_name_of(so));
	return true;
}

void company_hpas(const struct casefile *c)
{
	bool told;
	const json_t *objects = casefile_read(c, "scaledobjects", &told), *hpas, *hpa;
	size_t i, count = 0;
	json_t *targets;

	hpas = told ? NULL : casefile_read(c, "hpas", &told);
	if (told)
		return;
	targets = targets_of(json_object_get(objects, "items"));
	json_array_foreach(json_object_get(hpas, "items"), i, hpa) judge_hpa(c, targets, hpa, &count);
	if (count > TOLD_MAX)
		casefile_wrong(c, NULL, "and %zu more", count - TOLD_MAX);
	if (count == 0)
		casefile_fine(c, "none of others on the targets of %zu ScaledObjects", json_object_size(targets));
	json_decref(targets);
}
