/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/leave/leave.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cli/cluster.h"
#include "cli/hostfiles.h"
#include "cli/leave/undoing.h"
#include "cli/steps.h"
#include "cli/systemd.h"
#include "control/certs/certs.h"

#define NAME         "kscaled leave"
#define LEASE        "operator.keda.sh"
#define USUAL_WAIT   60000
#define PATH_SIZE    1024
#define OURS         "labelSelector=app.kubernetes.io%2Fname%3Dkscaled"
#define KEDA         "/apis/keda.sh/v1alpha1"
#define RBAC         "/apis/rbac.authorization.k8s.io/v1"
#define REGISTRATION "/apis/apiregistration.k8s.io/v1/apiservices/"
#define CRDS         "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
#define WEBHOOKS     "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" CERTS_WEBHOOKS

static const char *const keda_kinds[] = { "scaledobjects", "scaledjobs", "triggerauthentications",
	"clustertriggerauthentications" };

struct leave_arguments {
	const char *kubeconfig, *namespace_, *service_name;
	struct hostfiles files;
	int64_t wait_ms;
	bool in_cluster, restore_replicas, delete_hpas, purge, dry_run, help;
};

/* One run. */
struct leave {
	struct leave_arguments a;
	struct cluster *cluster;
	unsigned failures;
};

/* ---- What is said ---- */

/* What could not be undone; the rest is. */
static void fail(struct leave *l, const char *what, const struct err *err)
{
	fprintf(stderr, NAME ": %s: %s\n", what, err->msg);
	l->failures++;
}

/* ---- Calls ---- */

/* The caller owns it. NULL: there is none, or it could not be read, which is told. */
static json_t *get(struct leave *l, const char *path)
{
	json_t *object = NULL;
	struct err err = { 0 };

	if (cluster_call(l->cluster, KUBE_GET, path, NULL, &object, &err) < 0 && err.kind != ERR_MISSING)
		fail(l, path, &err);
	return object;
}

/* One that is gone already is no failure. */
static void delete (struct leave *l, const char *path, const char *title)
{
	struct err err = { 0 };

	if (l->a.dry_run) {
		steps_say("would delete %s", title);
		return;
	}
	if (cluster_call(l->cluster, KUBE_DELETE, path, NULL, NULL, &err) == 0)
		steps_say("deleted %s", title);
	else if (err.kind != ERR_MISSING)
		fail(l, title, &err);
}

/* Takes patch. */
static void change(struct leave *l, const char *path, json_t *patch, const char *what)
{
	struct err err = { 0 };

	if (l->a.dry_run)
		steps_say("would change %s", what);
	else if (cluster_call(l->cluster, KUBE_MERGE_PATCH, path, patch, NULL, &err) == 0)
		steps_say("changed %s", what);
	else if (err.kind != ERR_MISSING)
		fail(l, what, &err);
	json_decref(patch);
}

typedef void (*object_fn)(struct leave *l, const char *path, const char *title, const json_t *object);

static void hand_on(struct leave *l, const char *api, const char *plural, const json_t *object, object_fn fn)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *namespace_ = json_str_or_empty(metadata, "namespace"), *name = json_str_or_empty(metadata, "name");
	char escaped[800];
	MEM_AUTO char *title = mem_printf("%s %s%s%s", plural, namespace_, *namespace_ ? "/" : "", name);
	MEM_AUTO char *path = NULL;

	if (!kube_escape(name, escaped, sizeof(escaped)))
		return;
	path = mem_printf("%s%s%s/%s/%s", api, *namespace_ ? "/namespaces/" : "", namespace_, plural, escaped);
	fn(l, path, title, object);
}

/*
 * Calls fn for each object of a kind, page by page; namespace_: NULL: of all; query: "" or more of
 * it. A kind that the server does not have has none.
 */
static void each(struct leave *l, const char *api, const char *namespace_, const char *plural, const char *query,
	object_fn fn)
{
	MEM_AUTO char *collection = namespace_ ? mem_printf("%s/namespaces/%s/%s", api, namespace_, plural)
					       : mem_printf("%s/%s", api, plural);
	char more[PATH_SIZE] = "";

	do {
		MEM_AUTO char *path = mem_printf("%s?limit=500%s%s%s%s", collection, *query ? "&" : "", query,
			*more ? "&continue=" : "", more);
		json_t *list = NULL;
		const json_t *object;
		struct err err = { 0 };
		size_t i;

		if (cluster_call(l->cluster, KUBE_LIST, path, NULL, &list, &err) < 0) {
			if (err.kind != ERR_MISSING)
				fail(l, collection, &err);
			return;
		}
		json_array_foreach(json_object_get(list, "items"), i, object)
		{
			hand_on(l, api, plural, object, fn);
		}
		if (!kube_escape(json_str_or_empty(json_object_get(list, "metadata"), "continue"), more, sizeof(more)))
			more[0] = '\0';
		json_decref(list);
	} while (*more);
}

/* ---- 1: It stops acting ---- */

static void stop_deployment(struct leave *l)
{
	MEM_AUTO char *path = mem_printf("/apis/apps/v1/namespaces/%s/deployments/kscaled", l->a.namespace_);

	change(l, path, json_pack("{s:{s:i}}", "spec", "replicas", 0), "Deployment kscaled: no replicas");
}

static void stop_service(struct leave *l)
{
	static const char *const stop[] = { "stop", SYSTEMD_UNIT, NULL },
				 *const disable[] = { "disable", SYSTEMD_UNIT, NULL };
	struct err err = { 0 };

	if (!systemd_is_running())
		return;
	if (l->a.dry_run)
		steps_say("would stop and disable " SYSTEMD_UNIT);
	else if (systemd_control(stop, &err) < 0 && err.kind == ERR_MISSING)
		steps_say("there is no " SYSTEMD_UNIT " here to stop");
	else if (err.kind != ERR_NONE || systemd_control(disable, &err) < 0)
		fail(l, SYSTEMD_UNIT, &err);
	else
		steps_say("stopped and disabled " SYSTEMD_UNIT);
}

/* -1: it still acts: it would put back what is taken away. */
static int wait_stopped(struct leave *l, struct err *err)
{
	MEM_AUTO char *path = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEASE, l->a.namespace_);
	int64_t until = steps_now_ms() + l->a.wait_ms;

	for (;;) {
		json_t *lease = NULL;
		int failed = cluster_call(l->cluster, KUBE_GET, path, NULL, &lease, err);
		bool held = undoing_is_held(lease, timestamp_now_ms());
		bool missing = failed && err->kind == ERR_MISSING;

		if (held)
			err_set(err, ERR_CONFLICT,
				"\"%.200s\" holds Lease %s/" LEASE
				" and still scales: stop it first (nothing was undone)",
				json_str_or_empty(json_object_get(lease, "spec"), "holderIdentity"), l->a.namespace_);
		json_decref(lease);
		if (missing || (!failed && !held))
			return 0;
		if (failed)
			return err_wrap(err, "Lease %s/" LEASE, l->a.namespace_);
		if (l->a.dry_run) {
			steps_say("would wait until nobody holds Lease %s/" LEASE, l->a.namespace_);
			return 0;
		}
		if (steps_now_ms() >= until)
			return -1;
		steps_nap();
	}
}

/* ---- 2: Replicas ---- */

static void restore(struct leave *l, const char *path, const char *title, const json_t *object)
{
	int64_t replicas = 0;
	MEM_AUTO char *scale = undoing_original(object, &replicas), *what = NULL;
	struct err err = { 0 };

	(void)path;
	if (!scale) {
		err_set(&err, ERR_INVALID, "its status does not say how many replicas its target had");
		fail(l, title, &err);
		return;
	}
	what = mem_printf("the target of %s: %lld replicas, as before", title, (long long)replicas);
	change(l, scale, json_pack("{s:{s:I}}", "spec", "replicas", (json_int_t)replicas), what);
}

/* ---- 3: The API server asks it no more ---- */

static void free_endpoint(struct leave *l, const char *path, const char *title)
{
	json_t *object = get(l, path);

	if (object && undoing_leads_to(object, l->a.namespace_, l->a.service_name))
		delete (l, path, title);
	else if (object)
		steps_say("%s stays: it does not lead to Service %s/%s", title, l->a.namespace_, l->a.service_name);
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

/* ---- 4: Finalizers ---- */

static void take_finalizer(struct leave *l, const char *path, const char *title, const json_t *object)
{
	json_t *patch = undoing_without_finalizer(object);
	MEM_AUTO char *what = mem_printf("%s: no finalizer of ours", title);

	if (patch)
		change(l, path, patch, what);
}

static void take_finalizers(struct leave *l)
{
	for (size_t i = 0; i < MEM_COUNT(keda_kinds); i++)
		each(l, KEDA, NULL, keda_kinds[i], "", take_finalizer);
}

/* ---- 5: HPAs ---- */

static void delete_hpa(struct leave *l, const char *path, const char *title, const json_t *object)
{
	if (undoing_is_of_scaledobject(object))
		delete (l, path, title);
}

/* ---- 6: CRDs ---- */

static bool is_labelled_ours(const json_t *object)
{
	return json_str_is(json_object_get(json_object_get(object, "metadata"), "labels"), "app.kubernetes.io/name",
		"kscaled");
}

static void wait_gone(struct leave *l, const char *path, const char *title)
{
	int64_t until = steps_now_ms() + l->a.wait_ms;
	struct err err = { 0 };

	while (!l->a.dry_run && cluster_call(l->cluster, KUBE_GET, path, NULL, NULL, &err) == 0) {
		if (steps_now_ms() >= until) {
			err_set(&err, ERR_TEMPORARY, "is being deleted, but still there");
			fail(l, title, &err);
			return;
		}
		steps_nap();
	}
}

static void delete_if_ours(struct leave *l, const char *path, const char *title)
{
	json_t *object = get(l, path);

	if (object && is_labelled_ours(object)) {
		delete (l, path, title);
		wait_gone(l, path, title);
	} else if (object) {
		steps_say("%s stays: it has no label app.kubernetes.io/name=kscaled, so another installation made it",
			title);
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

static void delete_it(struct leave *l, const char *path, const char *title, const json_t *object)
{
	(void)object;
	delete (l, path, title);
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
		{ RBAC, "rolebindings", true },
		{ RBAC, "clusterrolebindings", true },
		{ RBAC, "roles", true },
		{ RBAC, "clusterroles", true },
	};
	MEM_AUTO char *secret = mem_printf("/api/v1/namespaces/%s/secrets/" CERTS_SECRET, l->a.namespace_);
	MEM_AUTO char *lease = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEASE, l->a.namespace_);

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		each(l, kinds[i].api, kinds[i].everywhere ? NULL : l->a.namespace_, kinds[i].plural, OURS, delete_it);
	delete (l, secret, "the Secret " CERTS_SECRET);
	delete (l, lease, "the Lease " LEASE);
}

/* Users keep what ClusterTriggerAuthentications name in there. */
static void leave_namespace(struct leave *l)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s", l->a.namespace_),
		      *title = mem_printf("Namespace %s", l->a.namespace_);

	if (l->a.purge)
		delete_if_ours(l, path, title);
	else
		steps_say("%s, the CustomResourceDefinitions and their objects stay; --purge deletes them", title);
}

/* ---- All of it ---- */

static void remove_files(struct leave *l)
{
	struct err err = { 0 };

	if (l->a.dry_run)
		steps_say("would remove %s/kubeconfig, %s/join.env, %s/token", l->a.files.config_dir,
			l->a.files.config_dir, l->a.files.state_dir);
	else if (hostfiles_remove(&l->a.files, &err) < 0)
		fail(l, "the files of this host", &err);
	else
		steps_say("removed %s/kubeconfig, %s/join.env, %s/token", l->a.files.config_dir, l->a.files.config_dir,
			l->a.files.state_dir);
}

static int run(struct leave *l, struct err *err)
{
	if (l->a.in_cluster)
		stop_deployment(l);
	else
		stop_service(l);
	if (wait_stopped(l, err) < 0)
		return -1;
	if (l->a.restore_replicas)
		each(l, KEDA, NULL, "scaledobjects", "", restore);
	free_endpoints(l);
	take_finalizers(l);
	if (l->a.delete_hpas)
		each(l, "/apis/autoscaling/v2", NULL, "horizontalpodautoscalers", "", delete_hpa);
	if (l->a.purge)
		delete_crds(l);
	delete_the_rest(l);
	leave_namespace(l);
	if (!l->a.in_cluster)
		remove_files(l);
	if (l->failures > 0)
		return err_set(err, ERR_TEMPORARY, "%u steps failed; run it again when their reasons are gone",
			l->failures);
	return 0;
}

static const char help_text[] =
	"Usage: kscaled leave --kubeconfig FILE [OPTION]...\n"
	"Take kscaled out of a cluster, in the order in which nothing hangs.\n"
	"\n"
	"  --kubeconfig FILE      the administrator's\n"
	"  --in-cluster           kscaled runs there as Deployment kscaled, not on this host\n"
	"  --restore-replicas     give each target of a ScaledObject the replicas that it had before\n"
	"  --delete-hpas          delete the HorizontalPodAutoscalers of ScaledObjects (default: they stay)\n"
	"  --purge                delete also the CustomResourceDefinitions with all ScaledObjects, ScaledJobs and\n"
	"                         TriggerAuthentications, and the namespace of kscaled with all in it\n"
	"  --dry-run              print what would be done, and change nothing\n"
	"  --wait DURATION        how long to wait until kscaled has stopped, and for what is deleted (default: 60s)\n"
	"  --config-dir DIR       where kubeconfig and join.env are (default: " HOSTFILES_CONFIG ")\n"
	"  --state-dir DIR        where the token is (default: " HOSTFILES_STATE ")\n"
	"  --namespace NS         namespace of kscaled (default: kscaled)\n"
	"  --service-name NAME    Service behind the APIService (default: kscaled)\n"
	"  --help                 print this text\n";

static const struct option options[] = {
	{ "kubeconfig", required_argument, NULL, 'k' },
	{ "in-cluster", no_argument, NULL, 'i' },
	{ "restore-replicas", no_argument, NULL, 'r' },
	{ "delete-hpas", no_argument, NULL, 'a' },
	{ "purge", no_argument, NULL, 'p' },
	{ "dry-run", no_argument, NULL, 'd' },
	{ "wait", required_argument, NULL, 'w' },
	{ "config-dir", required_argument, NULL, 'C' },
	{ "state-dir", required_argument, NULL, 'D' },
	{ "namespace", required_argument, NULL, 'n' },
	{ "service-name", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

const struct commandline cli_leave_line = { .help = help_text, .options = options };

enum { USAGE_ERROR = 2 };

static int check_label(const char *option, const char *text, struct err *err)
{
	if (dnsname_is_label(text, strlen(text)))
		return 0;
	return err_set(err, ERR_INVALID, "--%s: \"%.80s\" is not a name that Kubernetes allows", option, text);
}

static int check_arguments(const struct leave_arguments *a, struct err *err)
{
	if (!a->kubeconfig)
		return err_set(err, ERR_INVALID, "--kubeconfig is missing: which cluster is to be left?");
	if (*a->files.config_dir != '/' || *a->files.state_dir != '/')
		return err_set(err, ERR_INVALID, "--config-dir and --state-dir must be absolute");
	return check_label("namespace", a->namespace_, err) || check_label("service-name", a->service_name, err) ? -1
														 : 0;
}

static int read_arguments(int argc, char **argv, struct leave_arguments *a, struct err *err)
{
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'k': a->kubeconfig = optarg; break;
		case 'i': a->in_cluster = true; break;
		case 'r': a->restore_replicas = true; break;
		case 'a': a->delete_hpas = true; break;
		case 'p': a->purge = true; break;
		case 'd': a->dry_run = true; break;
		case 'w':
			if (steps_read_wait(optarg, &a->wait_ms, err) < 0)
				return -1;
			break;
		case 'C': a->files.config_dir = optarg; break;
		case 'D': a->files.state_dir = optarg; break;
		case 'n': a->namespace_ = optarg; break;
		case 's': a->service_name = optarg; break;
		case 'h': a->help = true; return 0;
		default: return err_set(err, ERR_INVALID, "try \"" NAME " --help\"");
		}
	}
	if (optind < argc)
		return err_set(err, ERR_INVALID, "\"%s\" is no option", argv[optind]);
	return check_arguments(a, err);
}

int cli_leave(int argc, char **argv)
{
	static char name[] = NAME; /* what getopt's own messages begin with */
	struct leave l = { .a = { .namespace_ = "kscaled",
				   .service_name = "kscaled",
				   .wait_ms = USUAL_WAIT,
				   .files = { .config_dir = HOSTFILES_CONFIG, .state_dir = HOSTFILES_STATE } } };
	struct err err = { 0 };
	int failed;

	argv[0] = name;
	if (read_arguments(argc, argv, &l.a, &err) < 0) {
		fprintf(stderr, NAME ": %s\n", err.msg);
		return USAGE_ERROR;
	}
	if (l.a.help) {
		fputs(help_text, stdout);
		return 0;
	}
	l.cluster = cluster_new(l.a.kubeconfig, &err);
	failed = l.cluster ? run(&l, &err) : -1;
	if (failed)
		fprintf(stderr, NAME ": %s\n", err.msg);
	cluster_free(l.cluster);
	return failed ? 1 : 0;
}
