/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/doctor.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/gather.h"
#include "cli/doctor/release.h"
#include "cli/doctor/rights.h"
#include "cli/kubectlplugin.h"
#include "cli/manifests.h"
#include "cli/output.h"
#include "kube/config.h"
#include "options/options.h"

enum { FINE = 0, WRONG = 1, UNREACHABLE = 2 /* wrong usage, too */ };

/* The paths in the systemd unit. */
#define HOST_CONFIG     "/etc/kscaled/kscaled.conf"
#define HOST_KUBECONFIG "/etc/kscaled/kubeconfig"

/* The administrator's kubeconfig of k3s. */
#define K3S_KUBECONFIG "/etc/rancher/k3s/k3s.yaml"

/* ---- The chain ---- */

#define NEEDS_MAX 4

/*
 * In the order of the report. A hop whose prerequisite failed is skipped: its failure would be a
 * consequence.
 */
static const struct hop {
	const char *name;
	void (*check)(const struct facts *c);
	const char *needs[NEEDS_MAX];
	const char *facts[2]; /* without an answer for one of them it is not checked */
} hops[] = {
	{ "kubeconfig", apiserver_kubeconfig, .needs = { NULL } },
	{ "credentials", apiserver_credentials, .needs = { "kubeconfig" } },
	{ "api-server", apiserver_version, .needs = { "kubeconfig" } },
	{ "clock", apiserver_clock, .needs = { "api-server" } },
	{ "release", release_check, .needs = { "api-server" } },
	{ "pods", pods_check, .needs = { "release" } },
	{ "rights", rights_check, .needs = { "api-server" }, .facts = { "rights" } },
	{ "crds", definitions_crds, .needs = { "api-server" } },
	{ "service", aggregation_service, .needs = { "api-server" }, .facts = { "service" } },
	{ "endpoints", aggregation_endpoints, .needs = { "pods", "service" } },
	{ "apiservice", aggregation_apiservice, .needs = { "api-server" }, .facts = { "apiservice" } },
	{ "routing", aggregation_routing, .needs = { "pods", "service", "endpoints", "apiservice" } },
	{ "ca-bundle", aggregation_ca_bundle, .needs = { "pods", "apiservice" } },
	{ "request-header", aggregation_request_header, .needs = { "api-server" }, .facts = { "request-header" } },
	{ "available", aggregation_available, .needs = { "pods", "service", "endpoints", "apiservice" } },
	{ "metric", aggregation_metric, .needs = { "crds", "available" }, .facts = { "discovery" } },
	{ "webhook", webhook_configuration, .needs = { "pods" }, .facts = { "webhooks" } },
	{ "webhook-reached", webhook_reached, .needs = { "crds", "service", "endpoints", "webhook" } },
	{ "lease", competitors_lease, .needs = { "pods" }, .facts = { "lease" } },
	{ "keda", competitors_keda, .needs = { "api-server" } },
	{ "hpas", competitors_hpas, .needs = { "crds" }, .facts = { "scaledobjects", "hpas" } },
	{ "objects", status_objects, .needs = { "pods", "crds" } },
	{ "certificates", status_certificates, .needs = { "pods" }, .facts = { "certificates" } },
	{ "sources", status_sources, .needs = { "pods", "crds" } },
};

/* The failed hop behind the failure of a prerequisite; NULL: none failed. */
static const char *failed_need(const struct diagnosis *found, const struct hop *hop)
{
	const char *cause = NULL;

	for (size_t i = 0; !cause && i < NEEDS_MAX && hop->needs[i]; i++)
		cause = diagnosis_cause(found, hop->needs[i]);
	return cause;
}

/* false: a finding says which answer is missing. */
static bool knows_facts(const struct facts *c, const struct hop *hop)
{
	bool known = true;

	for (size_t i = 0; known && i < MEM_COUNT(hop->facts) && hop->facts[i]; i++)
		known = facts_known(c, hop->facts[i]);
	return known;
}

/* If nothing is installed, the report ends here. */
#define LAST_WORD "release"

void doctor_check(const struct doctor_setup *setup, json_t *facts, int64_t now_ms, struct diagnosis *out)
{
	struct facts c = { .setup = setup,
		.namespace_ = setup->manifests.namespace_,
		.service = setup->manifests.service_name,
		.account = setup->account ? setup->account : "kscaled",
		.facts = facts,
		.now_ms = now_ms,
		.out = out };

	for (size_t i = 0; i < MEM_COUNT(hops); i++) {
		const char *need = failed_need(out, &hops[i]);

		c.hop = hops[i].name;
		if (need)
			diagnosis_follows(out, c.hop, need);
		else if (knows_facts(&c, &hops[i]))
			hops[i].check(&c);
		if (strcmp(c.hop, LAST_WORD) == 0 && diagnosis_worst(out, c.hop) == DIAGNOSIS_ERROR &&
			!release_is_there(&c)) {
			diagnosis_drop_fine(out);
			return;
		}
	}
}

/* ---- The command line ---- */

struct doctor_arguments {
	struct doctor_setup setup;
	const char *config, *output;
	bool strict;
};

static const char *const formats[] = { "json", NULL };

static const struct option options[] = {
#define AT(member) .offset = offsetof(struct doctor_arguments, member)
	{ "kubeconfig", OPTION_TEXT, AT(setup.kubeconfig), "FILE",
		"the cluster and the identity (default: kscaled's own, the Pod's, yours)" },
	{ "config", OPTION_TEXT, AT(config), "FILE", "kscaled's options (default: " HOST_CONFIG ", if it exists)" },
	{ "output", OPTION_WORD, AT(output), "json", "print the findings as JSON", .letter = 'o', .words = formats },
	{ "strict", OPTION_SWITCH, AT(strict), NULL, "treat warnings as errors" },
	{ .name = NULL },
};

static const struct option setup_options[] = {
	{ "namespace", OPTION_LABEL, AT(setup.manifests.namespace_), "NS",
		"its namespace (default: where it is found)" },
	{ "service-name", OPTION_LABEL, AT(setup.manifests.service_name), "NAME", "the Service behind the APIService" },
	{ "keda-namespace", OPTION_OPTIONAL_LABEL, AT(setup.keda_namespace), "NS", "KEDA's namespace" },
	{ "host", OPTION_TEXT, AT(setup.manifests.host), "HOST:PORT",
		"where the API server reaches it outside the cluster" },
	{ .name = NULL },
#undef AT
};

static int load_with(const char *config, struct options *o, struct err *err)
{
	MEM_AUTO char *flag = config ? mem_printf("--config=%s", config) : NULL;

	return options_load(flag ? 1 : 0, &flag, o, err);
}

/*
 * As the daemon does; if neither the command line nor the environment names a configuration file,
 * with that of the systemd unit, if it exists.
 */
static int load_options(const char *config, struct options *o, struct err *err)
{
	if (load_with(config, o, err))
		return -1;
	if (o->config || access(HOST_CONFIG, R_OK) != 0)
		return 0;
	options_done(o);
	return load_with(HOST_CONFIG, o, err);
}

/* The command line overrides the daemon's options. */
static void complete_setup(struct doctor_setup *s, const struct options *o)
{
	struct manifests_params *m = &s->manifests;

	s->program = kubectlplugin_runs() ? "kubectl kscaled" : "kscaled";
	s->kubeconfig = s->kubeconfig ? s->kubeconfig : o->kubeconfig;
	s->lease_name = o->lease_name;
	s->keda_namespace = text_given(s->keda_namespace ? s->keda_namespace : o->keda_namespace);
	s->tls_cert_file = o->tls_cert_file;
	s->secure_port = o->secure_port;
	s->take_over = o->take_over;
	s->no_lease = !o->leader_elect;
	m->namespace_ = m->namespace_ ? m->namespace_ : o->namespace_;
	m->service_name = m->service_name ? m->service_name : o->service_name;
	m->watch_namespaces = text_given(m->watch_namespaces ? m->watch_namespaces : o->watch_namespaces);
	m->no_webhook |= !o->webhook;
	m->restrict_secrets |= o->restrict_secret_access;
}

/* Generating the manifests checks their options. */
static int check_setup(const struct doctor_setup *setup, struct err *err)
{
	struct documents *manifests = rights_manifests(setup, err);

	documents_free(manifests);
	return manifests ? 0 : -1;
}

/* ---- All of it ---- */

/* Without the option: the Pod's account, else kscaled's kubeconfig on this host, else kubectl's. */
static void find_kubeconfig(struct doctor_setup *setup, char **owned)
{
	if (setup->kubeconfig || kube_config_in_pod())
		return;
	if (access(HOST_KUBECONFIG, R_OK) == 0) {
		setup->kubeconfig = HOST_KUBECONFIG;
		return;
	}
	*owned = kubectlplugin_kubeconfig();
	if (*owned && access(*owned, R_OK) == 0)
		setup->kubeconfig = *owned;
}

/*
 * The kubeconfig to suggest for joining: the given one, unless it is kscaled's; else that of k3s.
 */
static void find_admin(struct doctor_setup *setup)
{
	if (setup->kubeconfig && strcmp(setup->kubeconfig, HOST_KUBECONFIG) != 0)
		setup->admin = setup->kubeconfig;
	else if (access(K3S_KUBECONFIG, F_OK) == 0)
		setup->admin = K3S_KUBECONFIG;
}

static int print(const struct doctor_arguments *a, const struct diagnosis *found, struct err *err)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	json_t *list;
	int failed;

	if (a->output) {
		list = diagnosis_json(found);
		failed = output_json(list, err);
		json_decref(list);
		return failed;
	}
	diagnosis_text(found, &out);
	failed = output_text(&out, err);
	buf_done(&out);
	return failed;
}

static int run(struct doctor_arguments *a, struct err *err)
{
	MEM_AUTO char *kubeconfig = NULL;
	struct diagnosis found = { 0 };
	enum diagnosis_status worst;
	json_t *facts;
	bool reached;
	int unprinted;

	find_kubeconfig(&a->setup, &kubeconfig);
	find_admin(&a->setup);
	reached = gather_apiserver(&a->setup, &facts);
	if (reached)
		gather_cluster(&a->setup, facts);
	doctor_check(&a->setup, facts, timestamp_now_ms(), &found);
	unprinted = print(a, &found, err);
	worst = diagnosis_worst(&found, NULL);
	diagnosis_done(&found);
	json_decref(facts);
	if (!reached || unprinted)
		return UNREACHABLE;
	return worst == DIAGNOSIS_ERROR || (a->strict && worst == DIAGNOSIS_WARNING) ? WRONG : FINE;
}

static int run_doctor(void *arguments, char **operands, int count, struct err *err)
{
	MEM_AUTO char *kubeconfig = kubectlplugin_runs() ? kubectlplugin_kubeconfig() : NULL;
	struct doctor_arguments *a = arguments;
	struct doctor_setup given;
	struct options o;
	int status;

	(void)operands;
	(void)count;
	if (load_options(a->config, &o, err))
		return UNREACHABLE;
	if (!a->setup.kubeconfig)
		a->setup.kubeconfig = kubeconfig;
	given = a->setup;
	a->setup.given = &given;
	complete_setup(&a->setup, &o);
	status = check_setup(&a->setup, err) < 0 ? UNREACHABLE : run(a, err);
	options_done(&o);
	return status;
}

const struct commandline cli_doctor_line = {
	.name = "doctor",
	.summary = "checks every hop from the kubeconfig to a metric and suggests fixes",
	.usage = "[OPTION]...",
	.text = "Check each hop from the kubeconfig to a metric; where one fails, print the reason and the command "
		"that\n"
		"fixes it.",
	.end = "Exit status: 0 no errors, at most warnings; 1 errors; 2 the cluster cannot be reached, or wrong usage.",
	.tables = { { .options = options },
		{ .options = setup_options,
			.heading = "How kscaled runs, if neither its configuration nor its installation tells:" },
		{ .options = manifests_rights_options,
			.base = offsetof(struct doctor_arguments, setup.manifests),
			.heading = "As for kscaled manifests, if you may not list its roles:" } },
	.size = sizeof(struct doctor_arguments),
	.run = run_doctor,
};
