/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `kscaled leave`: removes kscaled from a cluster, with an administrator's kubeconfig, in an order
 * in which nothing hangs: first it stops kscaled, then it removes the APIService and webhooks, then
 * finalizers, then the rest. It reports a step that fails and continues.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"
#include "cli/host/ownership.h"
#include "cli/host/steps.h"
#include "cli/host/systemd.h"
#include "cli/leave/cleanup.h"
#include "cli/manifests.h"
#include "control/certs/certs.h"
#include "control/certs/takennote.h"
#include "control/leader/leaderrecord.h"
#include "kube/config.h"

#define NAME         "kscaled leave"
#define LEASE        "operator.keda.sh"
#define SETTLE_NAPS  4 /* two seconds */
#define KEDA         "/apis/keda.sh/v1alpha1"
#define REGISTRATION "/apis/apiregistration.k8s.io/v1/apiservices/"
#define CRDS         "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
#define WEBHOOKS     "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" CERTS_WEBHOOKS

static const char *const keda_kinds[] = { "scaledobjects", "scaledjobs", "triggerauthentications",
	"clustertriggerauthentications" };

struct leave_arguments {
	struct steps_arguments host;
	struct manifests_params names;
	int64_t wait_ms;
	bool in_cluster, restore_replicas, delete_hpas, purge;
};

/* One run. */
struct leave {
	struct leave_arguments a;
	struct cluster *cluster;
	unsigned failures;
	struct strmap of_others; /* "namespace/name" of ScaledObjects whose HPA another installation manages */
	unsigned hpas;           /* ours, at the last look */
	unsigned moved, round;   /* targets restored in this round; its number */
};

/* ---- Errors ---- */

/* Reports a failed step; the others go on. */
static void fail(struct leave *l, const char *what, const struct err *err)
{
	fprintf(stderr, NAME ": %s: %s\n", what, err->msg);
	l->failures++;
}

/* ---- Calls ---- */

/* The caller owns it. NULL: does not exist, or could not be read, which is reported. */
static json_t *get(struct leave *l, const char *path)
{
	struct err err = { 0 };
	json_t *object = cluster_get(l->cluster, path, &err);

	if (!object && err.kind != ERR_MISSING)
		fail(l, path, &err);
	return object;
}

/* Deletes or patches an object; takes patch. One that does not exist is not an error. */
static void act(struct leave *l, enum kube_verb verb, const char *path, json_t *patch, const char *what)
{
	const char *word = verb == KUBE_DELETE ? "delete" : "change";
	struct err err = { 0 };

	if (l->a.host.dry_run)
		steps_report("would %s %s", word, what);
	else if (cluster_call(l->cluster, verb, path, patch, NULL, &err) == 0)
		steps_report("%sd %s", word, what);
	else if (err.kind != ERR_MISSING)
		fail(l, what, &err);
	json_decref(patch);
}

static void delete (struct leave *l, const char *path, const char *title)
{
	act(l, KUBE_DELETE, path, NULL, title);
}

static void change(struct leave *l, const char *path, json_t *patch, const char *what)
{
	act(l, KUBE_MERGE_PATCH, path, patch, what);
}

/* The object is the current one of the list. */
typedef void (*leave_fn)(struct leave *l, const struct cluster_list *list, const json_t *object);

/* Calls fn for each object of a list. An unknown kind has no objects. */
static void each(struct leave *l, struct cluster_list list, leave_fn fn)
{
	const json_t *object;
	struct err err = { 0 };

	list.cluster = l->cluster;
	while ((object = cluster_next(&list)) != NULL)
		fn(l, &list, object);
	if (cluster_list_done(&list, &err) < 0 && err.kind != ERR_MISSING)
		fail(l, "could not list all objects", &err);
}

/* ---- 1: Stop kscaled ---- */

static void stop_deployment(struct leave *l)
{
	MEM_AUTO char *path = mem_printf("/apis/apps/v1/namespaces/%s/deployments/kscaled", l->a.names.namespace_);

	change(l, path, json_pack("{s:{s:i}}", "spec", "replicas", 0), "Deployment kscaled: 0 replicas");
}

static void stop_service(struct leave *l)
{
	struct err err = { 0 };

	if (!systemd_is_running())
		return;
	if (l->a.host.dry_run)
		steps_report("would stop and disable " SYSTEMD_UNIT);
	else if (systemd_control("stop", &err) < 0 && err.kind == ERR_MISSING)
		steps_report("no " SYSTEMD_UNIT " to stop here");
	else if (err.kind != ERR_NONE || systemd_control("disable", &err) < 0)
		fail(l, SYSTEMD_UNIT, &err);
	else
		steps_report("stopped and disabled " SYSTEMD_UNIT);
}

/*
 * 1: held, as far as is known. Watches for changes by this host's clock, like candidates do
 * (control/leader): clocks may differ.
 */
static int look_at_lease(struct leave *l, struct leaderrecord *seen, struct err *err)
{
	MEM_AUTO char *path = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEASE,
		l->a.names.namespace_);
	json_t *object = cluster_get(l->cluster, path, err);
	struct lease lease;
	int failed;

	if (!object && err->kind == ERR_MISSING)
		return 0;
	failed = !object || lease_decode(object, &lease, err) < 0;
	json_decref(object);
	if (failed)
		return err_wrap(err, "Lease %s/" LEASE, l->a.names.namespace_);
	leaderrecord_see(seen, &lease, steps_now_ms());
	return leaderrecord_held(seen) && !leaderrecord_expired(seen, steps_now_ms());
}

static int held_error(const struct leave *l, const struct leaderrecord *seen, struct err *err)
{
	if (seen->changed)
		return err_set(err, ERR_CONFLICT,
			"\"%.200s\" holds Lease %s/" LEASE " and is still running: stop it first (nothing was undone)",
			seen->lease.holder, l->a.names.namespace_);
	return err_set(err, ERR_CONFLICT,
		"\"%.200s\" holds Lease %s/" LEASE
		" and may still be running: stop it first (nothing was undone); if it was killed, --wait must exceed "
		"%lld seconds, when the Lease expires",
		seen->lease.holder, l->a.names.namespace_, (long long)seen->lease.duration_s);
}

/* -1: still running: it would restore what is removed. */
static int wait_stopped(struct leave *l, struct err *err)
{
	struct leaderrecord seen = { 0 };
	int64_t until = steps_now_ms() + l->a.wait_ms;
	int held;

	while ((held = look_at_lease(l, &seen, err)) > 0 && !l->a.host.dry_run && steps_now_ms() < until)
		steps_nap();
	if (held > 0 && l->a.host.dry_run)
		steps_report("would wait until Lease %s/" LEASE " is free", l->a.names.namespace_);
	else if (held > 0)
		held = held_error(l, &seen, err);
	leaderrecord_done(&seen);
	return held < 0 ? -1 : 0;
}

/* ---- 2: APIServices and webhooks ---- */

static bool exists(struct leave *l, const char *service)
{
	const char *slash = strchr(service, '/');
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%.*s/services/%s", (int)(slash - service), service,
		slash + 1);
	struct err err = { 0 };

	return cluster_call(l->cluster, KUBE_GET, path, NULL, NULL, &err) == 0 || err.kind != ERR_MISSING;
}

/*
 * Gives a taken APIService back to its Service. If that is gone, deletes it, or namespaces could
 * not be deleted.
 */
static void give_back(struct leave *l, const char *path, const char *title, const json_t *object)
{
	json_t *patch = takennote_undo(object);
	MEM_AUTO char *service = patch ? takennote_service(object) : NULL, *others = ownership_of_others(object),
		      *what = NULL;

	if (!patch || !exists(l, service)) {
		json_decref(patch);
		delete (l, path, title);
		if (others)
			steps_report("%s belonged to another installation (%s), which must restore it itself", title,
				others);
		return;
	}
	what = mem_printf("%s: back to Service %s", title, service);
	change(l, path, patch, what);
}

static void free_endpoint(struct leave *l, const char *path, const char *title)
{
	json_t *object = get(l, path);

	if (object && cleanup_leads_to(object, l->a.names.namespace_, l->a.names.service_name))
		give_back(l, path, title, object);
	else if (object)
		steps_report("%s stays: it does not point to Service %s/%s", title, l->a.names.namespace_,
			l->a.names.service_name);
	json_decref(object);
}

static void free_endpoints(struct leave *l)
{
	static const char *const names[] = { CERTS_APISERVICE, CERTS_INSIGHT };

	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		MEM_AUTO char *path = mem_printf(REGISTRATION "%s", names[i]),
			      *title = mem_printf("APIService %s", names[i]);

		free_endpoint(l, path, title);
	}
	free_endpoint(l, WEBHOOKS, "ValidatingWebhookConfiguration " CERTS_WEBHOOKS);
}

/* ---- 3: Finalizers ---- */

static void take_finalizer(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	json_t *patch = cleanup_without_finalizer(object);
	MEM_AUTO char *what = mem_printf("%s: no finalizer", list->title);

	if (patch)
		change(l, list->path, patch, what);
}

static void take_finalizers(struct leave *l)
{
	for (size_t i = 0; i < MEM_COUNT(keda_kinds); i++)
		each(l, (struct cluster_list){ .api = KEDA, .plural = keda_kinds[i] }, take_finalizer);
}

/* ---- 4: HPAs ---- */

/* Keeps an HPA that KEDA manages, and the replicas of its target. */
static void delete_hpa(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	const char *owner = cleanup_scaledobject_of(object);
	MEM_AUTO char *key = NULL;

	if (!owner)
		return;
	if (cleanup_is_our_hpa(object)) {
		l->hpas++;
		delete (l, list->path, list->title);
		return;
	}
	key = mem_printf("%s/%s", fields_namespace(object), owner);
	strmap_set(&l->of_others, key, "");
	steps_report("%s stays: it belongs to another installation", list->title);
}

static void count_hpa(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	(void)list;
	l->hpas += cleanup_scaledobject_of(object) && cleanup_is_our_hpa(object);
}

/* false: some remain, which is reported. */
static bool delete_hpas(struct leave *l)
{
	const struct cluster_list hpas = { .api = "/apis/autoscaling/v2", .plural = "horizontalpodautoscalers" };
	int64_t until = steps_now_ms() + l->a.wait_ms;
	struct err err = { 0 };

	each(l, hpas, delete_hpa);
	while (l->hpas > 0 && !l->a.host.dry_run) {
		l->hpas = 0;
		each(l, hpas, count_hpa);
		if (l->hpas > 0 && steps_now_ms() >= until) {
			err_set(&err, ERR_TEMPORARY, "%u are still there: does another kscaled create them again?",
				l->hpas);
			fail(l, "horizontalpodautoscalers", &err);
			return false;
		}
		if (l->hpas > 0)
			steps_nap();
	}
	return true;
}

/* ---- 5: Replicas ---- */

static bool is_of_others(const struct leave *l, const json_t *object)
{
	MEM_AUTO char *key = mem_printf("%s/%s", fields_namespace(object), fields_name(object));

	return strmap_get(&l->of_others, key) != NULL;
}

/* report() does the rest. */
static void restore(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	int64_t wanted = 0;
	MEM_AUTO char *scale = is_of_others(l, object) ? NULL : cleanup_original(object, &wanted);
	struct err err = { 0 };
	json_t *now;

	if (scale && l->a.host.dry_run)
		steps_report("would give the target of %s its original %lld replicas", list->title, (long long)wanted);
	if (!scale || l->a.host.dry_run)
		return;
	now = cluster_get(l->cluster, scale, &err);
	if (now && fields_number(now, "spec.replicas") != wanted) {
		json_t *patch = json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)wanted);

		if (cluster_patch(l->cluster, scale, patch, &err) == 0)
			l->moved++;
		else if (l->round == 0)
			fail(l, list->title, &err);
	}
	json_decref(now);
}

/* Reports the final replicas. */
static void report(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	int64_t wanted = 0;
	MEM_AUTO char *scale = cleanup_original(object, &wanted);
	struct err err = { 0 };
	json_t *now;

	if (is_of_others(l, object))
		return;
	now = scale ? cluster_get(l->cluster, scale, &err) : NULL;
	if (!scale)
		err_set(&err, ERR_INVALID, "its status does not have the original replicas of its target");
	else if (now && fields_number(now, "spec.replicas") == wanted)
		steps_report("the target of %s has its original %lld replicas", list->title, (long long)wanted);
	else if (now)
		err_set(&err, ERR_CONFLICT,
			"its target has %lld replicas, not the original %lld: does something else scale it?",
			(long long)fields_number(now, "spec.replicas"), (long long)wanted);
	if (err.kind != ERR_NONE && err.kind != ERR_MISSING) /* no target, nothing to restore */
		fail(l, list->title, &err);
	json_decref(now);
}

/*
 * The HPA controller may still write what it decided before the deletion. So check again until the
 * replicas stay.
 */
static void let_settle(const struct leave *l)
{
	for (int i = 0; i < SETTLE_NAPS && !l->a.host.dry_run; i++)
		steps_nap();
}

static void restore_all(struct leave *l)
{
	const struct cluster_list objects = { .api = KEDA, .plural = "scaledobjects" };
	int64_t until = steps_now_ms() + l->a.wait_ms;

	do {
		let_settle(l);
		l->moved = 0;
		each(l, objects, restore);
		l->round++;
	} while (l->moved > 0 && steps_now_ms() < until);
	if (l->moved > 0)
		let_settle(l);
	if (!l->a.host.dry_run)
		each(l, objects, report);
}

/* ---- 6: CRDs ---- */

static void wait_gone(struct leave *l, const char *path, const char *title)
{
	int64_t until = steps_now_ms() + l->a.wait_ms;
	struct err err = { 0 };

	while (!l->a.host.dry_run && cluster_call(l->cluster, KUBE_GET, path, NULL, NULL, &err) == 0) {
		if (steps_now_ms() >= until) {
			err_set(&err, ERR_TEMPORARY, "is still being deleted");
			break;
		}
		steps_nap();
	}
	if (err.kind != ERR_NONE && err.kind != ERR_MISSING)
		fail(l, title, &err);
}

static void delete_if_ours(struct leave *l, const char *path, const char *title)
{
	json_t *object = get(l, path);
	MEM_AUTO char *others = object ? ownership_of_others(object) : NULL;

	if (others) {
		steps_report("%s stays: %s", title, others);
	} else if (object) {
		delete (l, path, title);
		wait_gone(l, path, title);
	}
	json_decref(object);
}

static void delete_crds(struct leave *l)
{
	for (size_t i = 0; i < MEM_COUNT(keda_kinds); i++) {
		MEM_AUTO char *path = mem_printf(CRDS "%s.keda.sh", keda_kinds[i]),
			      *title = mem_printf("CustomResourceDefinition %s.keda.sh, with all its objects",
				      keda_kinds[i]);

		delete_if_ours(l, path, title);
	}
}

/* ---- 7: The rest of the manifests ---- */

static void delete_it(struct leave *l, const struct cluster_list *list, const json_t *object)
{
	(void)object;
	delete (l, list->path, list->title);
}

static void delete_the_rest(struct leave *l)
{
	static const struct {
		const char *api, *plural;
		bool everywhere;
	} kinds[] = {
		{ "/apis/apps/v1", "deployments", false },
		{ "/apis/policy/v1", "poddisruptionbudgets", false },
		{ "/apis/networking.k8s.io/v1", "networkpolicies", false },
		{ "/apis/discovery.k8s.io/v1", "endpointslices", false },
		{ "/api/v1", "endpoints", false },
		{ "/api/v1", "services", false },
		{ "/api/v1", "serviceaccounts", false },
		{ CLUSTER_RBAC, "rolebindings", true },
		{ CLUSTER_RBAC, "clusterrolebindings", true },
		{ CLUSTER_RBAC, "roles", true },
		{ CLUSTER_RBAC, "clusterroles", true },
	};
	MEM_AUTO char *secret = mem_printf("/api/v1/namespaces/%s/secrets/" CERTS_SECRET, l->a.names.namespace_);
	MEM_AUTO char *lease = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEASE,
		l->a.names.namespace_);

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		each(l,
			(struct cluster_list){ .api = kinds[i].api,
				.plural = kinds[i].plural,
				.namespace_ = kinds[i].everywhere ? NULL : l->a.names.namespace_,
				.query = CLUSTER_OURS },
			delete_it);
	delete (l, secret, "the Secret " CERTS_SECRET);
	delete (l, lease, "the Lease " LEASE);
}

/* The namespace may hold users' Secrets that ClusterTriggerAuthentications refer to. */
static void leave_namespace(struct leave *l)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s", l->a.names.namespace_),
		      *title = mem_printf("Namespace %s", l->a.names.namespace_);

	if (l->a.purge)
		delete_if_ours(l, path, title);
	else
		steps_report("%s, the CustomResourceDefinitions and their objects stay; --purge deletes them", title);
}

/* ---- All of it ---- */

static void remove_files(struct leave *l)
{
	struct err err = { 0 };

	if (l->a.host.dry_run)
		steps_report("would remove %s/kubeconfig, %s/join.env, %s/token", l->a.host.files.config_dir,
			l->a.host.files.config_dir, l->a.host.files.state_dir);
	else if (hostfiles_remove(&l->a.host.files, &err) < 0)
		fail(l, "the files of this host", &err);
	else
		steps_report("removed %s/kubeconfig, %s/join.env, %s/token", l->a.host.files.config_dir,
			l->a.host.files.config_dir, l->a.host.files.state_dir);
}

static int run(struct leave *l, struct err *err)
{
	if (l->a.in_cluster)
		stop_deployment(l);
	else
		stop_service(l);
	if (wait_stopped(l, err) < 0)
		return -1;
	free_endpoints(l);
	take_finalizers(l);
	if (l->a.restore_replicas) {
		if (delete_hpas(l))
			restore_all(l);
	} else if (l->a.delete_hpas) {
		delete_hpas(l);
	}
	if (l->a.purge)
		delete_crds(l);
	delete_the_rest(l);
	leave_namespace(l);
	if (!l->a.in_cluster)
		remove_files(l);
	if (l->failures > 0)
		return err_set(err, ERR_TEMPORARY, "%u steps failed; fix their causes and run it again", l->failures);
	return 0;
}

static const struct option options[] = {
#define AT(member) .offset = offsetof(struct leave_arguments, member)
	{ "in-cluster", OPTION_SWITCH, AT(in_cluster), NULL,
		"kscaled runs there as Deployment kscaled, not on this host; in a Pod, its account is used if no "
		"kubeconfig is given" },
	{ "restore-replicas", OPTION_SWITCH, AT(restore_replicas), NULL,
		"give each target of a ScaledObject its original replicas; implies --delete-hpas, because "
		"HorizontalPodAutoscalers would change them again" },
	{ "delete-hpas", OPTION_SWITCH, AT(delete_hpas), NULL,
		"delete the HorizontalPodAutoscalers of ScaledObjects (default: keep them)" },
	{ "purge", OPTION_SWITCH, AT(purge), NULL,
		"also delete the CustomResourceDefinitions with all ScaledObjects, ScaledJobs and "
		"TriggerAuthentications, and the namespace of kscaled with everything in it" },
	{ "wait", OPTION_DURATION, AT(wait_ms), "DURATION", "how long to wait for kscaled to stop and for deletions",
		.initial = "60s", .most = STEPS_WAIT_MAX },
	{ .name = NULL },
#undef AT
};

static int check_arguments(struct leave_arguments *a, struct err *err)
{
	struct manifests_params *names = &a->names;

	if (!a->host.kubeconfig && !(a->in_cluster && kube_config_in_pod()))
		return err_set(err, ERR_INVALID, "--kubeconfig is missing: which cluster to leave?");
	names->namespace_ = names->namespace_ ? names->namespace_ : "kscaled";
	names->service_name = names->service_name ? names->service_name : "kscaled";
	return 0;
}

static int run_leave(void *arguments, char **operands, int count, struct err *err)
{
	struct leave l = { .a = *(const struct leave_arguments *)arguments };
	int failed;

	(void)operands;
	(void)count;
	if (check_arguments(&l.a, err) < 0)
		return COMMANDLINE_WRONG;
	l.cluster = cluster_new(l.a.host.kubeconfig, err);
	failed = l.cluster ? run(&l, err) : -1;
	strmap_done(&l.of_others);
	cluster_free(l.cluster);
	return failed ? 1 : 0;
}

const struct commandline cli_leave_line = {
	.name = "leave",
	.summary = "removes kscaled from a cluster",
	.usage = "--kubeconfig FILE [OPTION]...",
	.text = "Remove kscaled from a cluster, in an order in which nothing hangs.",
	.tables = { { .options = steps_options, .base = offsetof(struct leave_arguments, host) },
		{ .options = options },
		{ .options = manifests_name_options, .base = offsetof(struct leave_arguments, names) } },
	.size = sizeof(struct leave_arguments),
	.run = run_leave,
};
