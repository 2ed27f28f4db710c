/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/doctor/gather_parts.h"
#include "cli/doctor/release.h"
#include "cli/doctor/rights.h"
#include "cli/fetch.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"
#include "cli/host/steps.h"
#include "control/certs/certs.h"
#include "control/leader/leaderkeda.h"
#include "control/leader/leaderrecord.h"
#include "kube/tokenfacts.h"
#include "net/http/httpstatus.h"
#include "net/tls/x509.h"

#define WATCH_MAX_MS 30000 /* for a Lease, whatever its duration */

/* ---- The kubeconfig ---- */

static json_t *token_facts(const char *token)
{
	struct tokenfacts facts = { .issued_unix_ms = 0 };
	MEM_AUTO char *subject = NULL;

	tokenfacts_read(token, &facts, NULL); /* an opaque token has no facts */
	subject = *facts.account ? mem_printf("system:serviceaccount:%s:%s", facts.namespace_, facts.account) : NULL;
	return json_pack("{s:s, s:I, s:I}", "subject", subject ? subject : "", "issued_ms",
		(json_int_t)facts.issued_unix_ms, "until_ms", (json_int_t)facts.ends_unix_ms);
}

static json_t *certificate_facts(const char *pem)
{
	struct x509_facts facts;
	struct err err = { 0 };

	if (x509_read(pem, &facts, &err) < 0)
		return json_pack("{s:s}", "unreadable", err.msg);
	return json_pack("{s:s, s:I, s:I}", "cn", facts.subject_cn, "from_ms", (json_int_t)facts.not_before_unix_ms,
		"until_ms", (json_int_t)facts.not_after_unix_ms);
}

/*
 * For a kubeconfig written by `kscaled join`, even if edited since: the arguments of that call,
 * noted beside it; "": unknown.
 */
static void put_joined(json_t *facts, const char *kubeconfig)
{
	const char *slash = kubeconfig ? strrchr(kubeconfig, '/') : NULL;
	MEM_AUTO char *folder = slash ? mem_dupn(kubeconfig, (size_t)(slash - kubeconfig)) : NULL;
	MEM_AUTO char *call = folder ? hostfiles_call(folder) : NULL;
	struct buf text = BUF_INIT(GATHER_FILE_MAX);

	if (call ||
		(folder && file_read(kubeconfig, FILE_ANY, NULL, &text, NULL) == 0 &&
			text_behind(buf_text(&text), HOSTFILES_MARK)))
		gather_put(facts, "joined", json_string(call ? call : ""));
	buf_done(&text);
}

static void put_config(json_t *facts, const struct kube_config *config)
{
	json_t *object = json_pack("{s:s, s:s, s:s?, s:s?, s:s?}", "source", config->source, "server", config->server,
		"cluster", config->cluster, "user", config->user, "token_file", config->token_file);

	if (config->cert_pem)
		json_object_set_new(object, "certificate", certificate_facts(config->cert_pem));
	if (config->token)
		json_object_set_new(object, "token", token_facts(config->token));
	/* A kubeconfig's namespace is the user's default, not kscaled's, as in the daemon. */
	if (!config->kubeconfig_path && config->namespace_)
		json_object_set_new(object, "namespace", json_string(config->namespace_));
	gather_put(facts, "kubeconfig", object);
}

/* ---- The API server and its clock ---- */

/* 0, or -1 and err: no API server answers. The time of the answer is needed, and no retry. */
static int get_version(const struct kube_config *config, struct fetch_answer *out, struct err *err)
{
	struct fetch *fetch = fetch_new(NULL, config, err);
	int failed = fetch ? fetch_get(fetch, "/version", "application/json", out, err) : -1;

	fetch_free(fetch);
	if (failed || (out->status == 200 && json_is_object(out->body)))
		return failed;
	return err_set(err, out->status == 200 ? ERR_INVALID : httpstatus_kind(out->status), "/version: HTTP %d: %s",
		out->status, out->status == 200 ? "not an API server" : json_str_or_empty(out->body, "message"));
}

static bool ask_version(const struct kube_config *config, json_t *facts)
{
	struct fetch_answer answer = { .body = NULL };
	int64_t before_ms = timestamp_now_ms();
	struct err err = { 0 };

	if (get_version(config, &answer, &err) < 0) {
		gather_put_error(facts, "version", "", &err);
		json_decref(answer.body);
		return false;
	}
	/*
	 * The Date header has whole seconds: add half a second. Our time is the middle of the round
	 * trip.
	 */
	json_object_set_new(answer.body, "date_ms", json_integer(answer.date_ms ? answer.date_ms + 500 : 0));
	json_object_set_new(answer.body, "asked_ms", json_integer((before_ms + timestamp_now_ms()) / 2));
	gather_put(facts, "version", answer.body);
	return true;
}

bool gather_apiserver(struct doctor_setup *setup, json_t **facts)
{
	struct err err = { 0 };
	struct kube_config config;
	const char *namespace_;
	bool reached = false;

	*facts = json_object();
	put_joined(*facts, setup->kubeconfig);
	release_read_kubeconfig(setup, *facts);
	if (kube_config_load(setup->kubeconfig, KUBE_CONFIG_MOUNT, &config, &err) < 0) {
		gather_put_error(*facts, "kubeconfig", "", &err);
	} else {
		put_config(*facts, &config);
		reached = ask_version(&config, *facts);
		kube_config_done(&config);
	}
	namespace_ = json_string_value(fields_at(*facts, "kubeconfig.object.namespace"));
	setup->guessed_namespace = !setup->manifests.namespace_ && !namespace_;
	if (!setup->manifests.namespace_)
		setup->manifests.namespace_ = namespace_ ? namespace_ : "kscaled";
	return reached;
}

/* ---- Calls ---- */

/* Lists in all watched namespaces. */
static void list_watched(const struct gatherer *g, const char *fact, const char *api, const char *resource)
{
	const char *watched = g->setup->manifests.watch_namespaces;
	MEM_AUTO char *names = mem_dup(watched ? watched : ""), *wanted = mem_printf("list on %s", resource);
	json_t *items = json_array();
	struct err err = { 0 };
	char *rest = names, *name;

	while (err.kind == ERR_NONE && (name = strsep(&rest, ",")) != NULL) {
		struct cluster_list list = { .cluster = g->cluster,
			.api = api,
			.plural = resource,
			.namespace_ = *name ? name : NULL };
		const json_t *one;

		while ((one = cluster_next(&list)) != NULL)
			json_array_append(items, (json_t *)(uintptr_t)one);
		cluster_list_done(&list, &err);
	}
	gather_put_answer(g, fact, wanted, err.kind == ERR_NONE ? json_pack("{s:O}", "items", items) : NULL, &err);
	json_decref(items);
}

/* ---- Certificates ---- */

static void put_own_files(const struct gatherer *g)
{
	struct buf text = BUF_INIT(GATHER_FILE_MAX);
	struct err err = { 0 };

	if (file_read(g->setup->tls_cert_file, FILE_ANY, NULL, &text, &err) < 0) {
		MEM_AUTO char *wanted = mem_printf("to read %s (%s)", g->setup->tls_cert_file, err.msg);

		err.kind = ERR_DENIED;
		gather_put_error(g->facts, "certificates", wanted, &err);
	} else {
		gather_put(g->facts, "certificates", json_pack("{s:s}", "serving", buf_text(&text)));
	}
	buf_done(&text);
}

static json_t *decoded(const json_t *secret, const char *key)
{
	MEM_AUTO char *text = base64_decode(json_str_or_empty(fields_at(secret, "data"), key), NULL);

	return json_string(text ? text : "");
}

/* Keeps only the public part of the Secret. */
static void get_certificates(const struct gatherer *g)
{
	const struct gather_row row = { "certificates", "/api/v1", "secrets", g->setup->manifests.namespace_,
		.name = CERTS_SECRET };
	const json_t *secret;

	if (g->setup->tls_cert_file) {
		put_own_files(g);
		return;
	}
	gather_rows(g, &row, 1);
	secret = fields_at(g->facts, "certificates.object");
	if (secret)
		gather_put(g->facts, "certificates",
			json_pack("{s:o, s:o}", "ca", decoded(secret, "ca.crt"), "serving",
				decoded(secret, "tls.crt")));
}

/* ---- Rights ---- */

/* The name of the current user; "": unknown. The caller owns it. */
static char *own_name(const struct gatherer *g)
{
	static const char *const versions[] = { "v1", "v1beta1", "v1alpha1" };
	const char *subject = fields_text(g->facts, "kubeconfig.object.token.subject");
	char *name = NULL;

	if (*subject)
		return mem_dup(subject);
	for (size_t i = 0; !name && i < MEM_COUNT(versions); i++) {
		MEM_AUTO char *path = mem_printf("/apis/authentication.k8s.io/%s/selfsubjectreviews", versions[i]);
		json_t *answer = cluster_post(g->cluster, KUBE_REVIEW, path, json_pack("{s:{}}", "spec"), NULL);

		name = answer ? mem_dup(fields_text(answer, "status.userInfo.username")) : NULL;
		json_decref(answer);
	}
	return name ? name : mem_dup("");
}

/* The groups that the API server adds to each service account. The caller owns them. */
static json_t *groups_of(const char *account)
{
	const char *name = text_behind(account, "system:serviceaccount:");
	MEM_AUTO char *of_namespace = mem_printf("system:serviceaccounts:%.*s", name ? (int)strcspn(name, ":") : 0,
		name);

	return json_pack("[s, s, s]", "system:serviceaccounts", of_namespace, "system:authenticated");
}

/* 1: has the right; 0: does not; -1 and err: the review failed. */
static int review(const struct gatherer *g, const json_t *need, bool own, struct err *err)
{
	const char *account = json_str_or_empty(need, "account"),
		   *kind = own ? "SelfSubjectAccessReview" : "SubjectAccessReview",
		   *path = own ? "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
			       : "/apis/authorization.k8s.io/v1/subjectaccessreviews";
	json_t *spec = json_pack("{s:O}", "resourceAttributes", json_object_get(need, "attributes")), *answer;
	int allowed;

	if (!own) {
		json_object_set_new(spec, "user", json_string(account));
		json_object_set_new(spec, "groups", groups_of(account));
	}
	answer = cluster_post(g->cluster, KUBE_REVIEW, path,
		json_pack("{s:s, s:s, s:o}", "apiVersion", "authorization.k8s.io/v1", "kind", kind, "spec", spec), err);
	allowed = !answer ? -1 : json_is_true(fields_at(answer, "status.allowed"));
	json_decref(answer);
	return allowed;
}

/*
 * SelfSubjectAccessReview for the current user, SubjectAccessReview for others, which needs a
 * right: if that is denied, those are left out. Stops at any other error.
 */
static int review_all(const struct gatherer *g, const json_t *needs, const char *own, json_t *out, struct err *err)
{
	json_t *missing = json_object_get(out, "missing"), *not_asked = json_object_get(out, "not_asked");
	json_t *need;
	size_t i;

	json_array_foreach(needs, i, need)
	{
		bool is_own = json_str_is(need, "account", own);
		int rc = !is_own && json_array_size(not_asked) > 0 ? -1 : review(g, need, is_own, err);

		if (rc < 0 && (is_own || err->kind != ERR_DENIED))
			return -1;
		if (rc < 0)
			json_array_append(not_asked, need);
		if (rc == 0)
			json_array_append(missing, need);
	}
	return 0;
}

static void ask_rights(const struct gatherer *g)
{
	const struct doctor_setup *s = g->setup;
	struct err err = { 0 };
	MEM_AUTO char *own = own_name(g),
		      *account = mem_printf("system:serviceaccount:%s:%s", s->manifests.namespace_,
			      s->account ? s->account : "kscaled");
	json_t *needs = rights_needed(s, &err),
	       *out = json_pack("{s:s, s:i, s:[], s:[], s:O?}", "account", account, "asked",
		       (int)json_array_size(needs), "missing", "not_asked", "needed", needs);

	if (!needs || review_all(g, needs, own, out, &err) < 0)
		gather_put_error(g->facts, "rights", "", &err);
	else if (json_array_size(json_object_get(out, "not_asked")) == json_array_size(needs))
		gather_put_error(g->facts, "rights", "create on subjectaccessreviews.authorization.k8s.io", &err);
	else
		gather_put(g->facts, "rights", json_incref(out));
	json_decref(needs);
	json_decref(out);
}

/* ---- Trials ---- */

/* The first ScaledObject with an external metric, preferably one that is Ready. */
static const json_t *with_metric(const json_t *objects)
{
	const json_t *object, *found = NULL;
	size_t i;

	json_array_foreach(objects, i, object)
	{
		if (json_array_size(fields_at(object, "status.externalMetricNames")) == 0)
			continue;
		if (fields_has_condition(object, "Ready"))
			return object;
		found = found ? found : object;
	}
	return found;
}

static void ask_metric(const struct gatherer *g)
{
	const json_t *object = with_metric(fields_at(g->facts, "scaledobjects.object.items"));
	MEM_AUTO char *path = cluster_metric_path(object);
	json_t *metric;

	if (!path)
		return;
	gather_get(g, "metric", "list on *.external.metrics.k8s.io", path);
	metric = json_object_get(g->facts, "metric");
	json_object_set_new(metric, "of", json_sprintf("%s/%s", fields_namespace(object), fields_name(object)));
	json_object_set_new(metric, "name", json_string(fields_text(object, "status.externalMetricNames.0")));
}

/* A ScaledObject that passes the schema but not the webhook: its formula is incomplete. */
static json_t *bad_object(const char *namespace_)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}, s:{s:{s:s, s:s}}, s:[{s:s, s:s, s:{s:s, s:s, s:s, "
			 "s:s}}]}}",
		"apiVersion", "keda.sh/v1alpha1", "kind", "ScaledObject", "metadata", "name", "kscaled-doctor",
		"namespace", namespace_, "spec", "scaleTargetRef", "name", "kscaled-doctor", "advanced",
		"scalingModifiers", "formula", "a +", "target", "1", "triggers", "type", "cron", "name", "a",
		"metadata", "timezone", "UTC", "start", "0 8 * * *", "end", "0 9 * * *", "desiredReplicas", "1");
}

static void ask_webhook(const struct gatherer *g)
{
	const char *watched = g->setup->manifests.watch_namespaces;
	MEM_AUTO char *ns = watched ? mem_dupn(watched, strcspn(watched, ","))
				    : mem_dup(g->setup->manifests.namespace_),
		      *path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/scaledobjects?dryRun=All", ns),
		      *wanted = mem_printf("create on scaledobjects.keda.sh in %s", ns);
	struct err err = { 0 };

	if (fields_at(g->facts, "webhooks.object"))
		gather_put_answer(g, "trial", wanted, cluster_post(g->cluster, KUBE_CREATE, path, bad_object(ns), &err),
			&err);
}

/* ---- Objects ---- */

static void get_objects(const struct gatherer *g)
{
	const struct manifests_params *m = &g->setup->manifests;
	const char *own = m->namespace_, *keda = g->setup->keda_namespace ? g->setup->keda_namespace : "";
	MEM_AUTO char *of_service = mem_printf("?labelSelector=kubernetes.io%%2Fservice-name%%3D%s", m->service_name);
	const struct gather_row rows[] = {
		{ "service", "/api/v1", "services", own, .name = m->service_name },
		{ "endpointslices", "/apis/discovery.k8s.io/v1", "endpointslices", own, .query = of_service },
		{ "endpoints", "/api/v1", "endpoints", own, .name = m->service_name },
		{ "request-header", "/api/v1", "configmaps", "kube-system",
			.name = "extension-apiserver-authentication" },
		{ "lease", "/apis/coordination.k8s.io/v1", "leases", own, .name = g->setup->lease_name },
		{ "keda-lease", "/apis/coordination.k8s.io/v1", "leases", keda, .name = LEADERKEDA_LEASE },
		{ "keda-deployment", "/apis/apps/v1", "deployments", keda, .name = "keda-operator" },
	};

	gather_rows(g, rows, MEM_COUNT(rows));
}

/* ---- Leases ---- */

/* A Lease and its observed renewals. */
struct lease_watch {
	const char *fact, *namespace_, *name;
	struct leaderrecord seen;
	bool done;
};

/* Done when it was renewed, or never will be: free, expired, missing or unreadable. */
static void look_at_lease(const struct gatherer *g, struct lease_watch *w)
{
	MEM_AUTO char *path = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s", w->namespace_,
		w->name);
	json_t *object = cluster_get(g->cluster, path, NULL);
	struct lease lease;

	w->done = !object || lease_decode(object, &lease, NULL) < 0;
	json_decref(object);
	if (w->done)
		return;
	leaderrecord_see(&w->seen, &lease, steps_now_ms());
	w->done = w->seen.changed || !leaderrecord_alive(&w->seen, steps_now_ms());
}

/*
 * Finds out whether the Leases are renewed, by watching for a change: comparing times would trust
 * three clocks. Takes at most the duration of an abandoned Lease.
 */
static void watch_leases(const struct gatherer *g)
{
	const struct doctor_setup *s = g->setup;
	struct lease_watch list[] = {
		{ .fact = "lease", .namespace_ = s->manifests.namespace_, .name = s->lease_name },
		{ .fact = "keda-lease", .namespace_ = s->keda_namespace, .name = LEADERKEDA_LEASE },
	};
	int64_t start_ms = steps_now_ms(), watched_ms;
	size_t open;

	for (size_t i = 0; i < MEM_COUNT(list); i++)
		list[i].done = !json_object_get(json_object_get(g->facts, list[i].fact), "object");
	for (;;) {
		open = 0;
		for (size_t i = 0; i < MEM_COUNT(list); i++) {
			if (!list[i].done)
				look_at_lease(g, &list[i]);
			open += !list[i].done;
		}
		watched_ms = steps_now_ms() - start_ms;
		if (open == 0 || watched_ms >= WATCH_MAX_MS)
			break;
		steps_nap();
	}
	for (size_t i = 0; i < MEM_COUNT(list); i++) {
		json_t *fact = json_object_get(g->facts, list[i].fact);

		json_object_set_new(fact, "renewed", json_boolean(list[i].seen.changed));
		json_object_set_new(fact, "watched_ms", json_integer(watched_ms));
		leaderrecord_done(&list[i].seen);
	}
}

/* ---- All of it ---- */

static void ask_the_rest(const struct gatherer *g)
{
	get_certificates(g);
	list_watched(g, "scaledobjects", "/apis/keda.sh/v1alpha1", "scaledobjects");
	list_watched(g, "scaledjobs", "/apis/keda.sh/v1alpha1", "scaledjobs");
	list_watched(g, "hpas", "/apis/autoscaling/v2", "horizontalpodautoscalers");
	ask_rights(g);
	gather_get(g, "discovery", "get on " CLUSTER_METRICS, CLUSTER_METRICS);
	ask_metric(g);
	ask_webhook(g);
	watch_leases(g);
}

void gather_cluster(struct doctor_setup *setup, json_t *facts)
{
	struct gatherer g = { .setup = setup, .facts = facts, .cluster = cluster_new(setup->kubeconfig, NULL) };
	const struct facts known = { .setup = setup, .facts = facts };

	if (!g.cluster)
		return; /* the kubeconfig is gone: each hop reports missing facts */
	gather_release(&g);
	get_objects(&g);
	if (release_is_there(&known))
		ask_the_rest(&g);
	cluster_free(g.cluster);
}
