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
#include "cli/doctor/aggregation.h"
#include "cli/doctor/apiserver.h"
#include "cli/doctor/competitors.h"
#include "cli/doctor/definitions.h"
#include "cli/doctor/gather.h"
#include "cli/doctor/pods.h"
#include "cli/doctor/release.h"
#include "cli/doctor/rights.h"
#include "cli/doctor/status.h"
#include "cli/doctor/webhook.h"
#include "cli/kubectlplugin.h"
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
} hops[] = {
	{ "kubeconfig", apiserver_kubeconfig, { NULL } },
	{ "credentials", apiserver_credentials, { "kubeconfig" } },
	{ "api-server", apiserver_version, { "kubeconfig" } },
	{ "clock", apiserver_clock, { "api-server" } },
	{ "release", release_check, { "api-server" } },
	{ "pods", pods_check, { "release" } },
	{ "rights", rights_check, { "api-server" } },
	{ "crds", definitions_crds, { "api-server" } },
	{ "service", aggregation_service, { "api-server" } },
	{ "endpoints", aggregation_endpoints, { "pods", "service" } },
	{ "apiservice", aggregation_apiservice, { "api-server" } },
	{ "routing", aggregation_routing, { "pods", "service", "endpoints", "apiservice" } },
	{ "ca-bundle", aggregation_ca_bundle, { "pods", "apiservice" } },
	{ "request-header", aggregation_request_header, { "api-server" } },
	{ "available", aggregation_available, { "pods", "service", "endpoints", "apiservice" } },
	{ "metric", aggregation_metric, { "crds", "available" } },
	{ "webhook", webhook_configuration, { "pods" } },
	{ "webhook-reached", webhook_reached, { "crds", "service", "endpoints", "webhook" } },
	{ "lease", competitors_lease, { "pods" } },
	{ "keda", competitors_keda, { "api-server" } },
	{ "hpas", competitors_hpas, { "crds" } },
	{ "objects", status_objects, { "pods", "crds" } },
	{ "certificates", status_certificates, { "pods" } },
	{ "sources", status_sources, { "pods", "crds" } },
};

/* The failed hop behind this one's failure: itself or an earlier one; NULL: it is fine. */
static const char *to_blame(const char *name, const char *const *causes)
{
	for (size_t i = 0; i < MEM_COUNT(hops); i++)
		if (strcmp(hops[i].name, name) == 0)
			return causes[i];
	return NULL;
}

static const char *wrong_need(const struct hop *hop, const char *const *causes)
{
	const char *cause = NULL;

	for (size_t i = 0; !cause && i < NEEDS_MAX && hop->needs[i]; i++)
		cause = to_blame(hop->needs[i], causes);
	return cause;
}

/* If nothing is installed, the report ends here. */
#define LAST_WORD "release"

void doctor_check(const struct doctor_setup *setup, json_t *facts, bool reached, int64_t now_ms, struct diagnosis *out)
{
	const char *causes[MEM_COUNT(hops)] = { NULL };
	struct facts c = { .setup = setup, .facts = facts, .now_ms = now_ms, .out = out };

	for (size_t i = 0; i < MEM_COUNT(hops); i++) {
		const char *need = wrong_need(&hops[i], causes);

		c.hop = hops[i].name;
		if (need)
			diagnosis_follows(out, c.hop, need);
		else
			hops[i].check(&c);
		causes[i] = need;
		if (!need &&
			(diagnosis_worst(out, c.hop) == DIAGNOSIS_ERROR ||
				(!reached && strcmp(c.hop, "api-server") == 0)))
			causes[i] = c.hop;
		if (causes[i] == c.hop && strcmp(c.hop, LAST_WORD) == 0 && !release_is_there(&c)) {
			diagnosis_drop_fine(out);
			return;
		}
	}
}

/* ---- The command line ---- */

static const char help_text[] =
	"usage: kscaled doctor [OPTION]...\n"
	"Check each hop from the kubeconfig to a metric; where one fails, print the reason and the command that fixes\n"
	"it.\n"
	"\n"
	"      --kubeconfig FILE        the cluster and the identity (default: kscaled's own, the Pod's, yours)\n"
	"      --config FILE            kscaled's options (default: " HOST_CONFIG ", if it exists)\n"
	"  -o, --output json            print the findings as JSON\n"
	"      --strict                 treat warnings as errors\n"
	"      --help                   print this text\n"
	"\n"
	"How kscaled runs, if neither its configuration nor its installation tells:\n"
	"      --namespace NS           its namespace (default: where it is found)\n"
	"      --service-name NAME      the Service behind the APIService\n"
	"      --watch-namespace NS[,NS]\n"
	"                               the namespaces that it watches\n"
	"      --keda-namespace NS      KEDA's namespace\n"
	"      --restrict-secret-access\n"
	"                               as the daemon's option of the same name\n"
	"      --no-webhook             it has no webhook\n"
	"\n"
	"How its manifests were made, if you may not list its roles:\n"
	"      --host HOST:PORT         for kscaled outside the cluster\n"
	"      --scale-kinds KIND[,KIND]\n"
	"                               as given to kscaled manifests; so are the next two\n"
	"      --no-scaledjobs          no rights on Jobs\n"
	"      --service-account-tokens rights on tokens of service accounts\n"
	"\n"
	"Exit status: 0 no errors, at most warnings; 1 errors; 2 the cluster cannot be reached, or wrong usage.\n";

enum {
	KUBECONFIG = 256,
	CONFIG,
	STRICT,
	NAMESPACE,
	SERVICE_NAME,
	WATCH_NAMESPACE,
	KEDA_NAMESPACE,
	RESTRICT_SECRETS,
	NO_WEBHOOK,
	HOST,
	SCALE_KINDS,
	NO_SCALEDJOBS,
	TOKENS
};

static const struct option options[] = {
	{ "kubeconfig", required_argument, NULL, KUBECONFIG },
	{ "config", required_argument, NULL, CONFIG },
	{ "output", required_argument, NULL, 'o' },
	{ "strict", no_argument, NULL, STRICT },
	{ "namespace", required_argument, NULL, NAMESPACE },
	{ "service-name", required_argument, NULL, SERVICE_NAME },
	{ "watch-namespace", required_argument, NULL, WATCH_NAMESPACE },
	{ "keda-namespace", required_argument, NULL, KEDA_NAMESPACE },
	{ "restrict-secret-access", no_argument, NULL, RESTRICT_SECRETS },
	{ "no-webhook", no_argument, NULL, NO_WEBHOOK },
	{ "host", required_argument, NULL, HOST },
	{ "scale-kinds", required_argument, NULL, SCALE_KINDS },
	{ "no-scaledjobs", no_argument, NULL, NO_SCALEDJOBS },
	{ "service-account-tokens", no_argument, NULL, TOKENS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *const formats[] = { "json", NULL };

static const char *const *values(const char *option)
{
	return strcmp(option, "output") == 0 ? formats : NULL;
}

const struct commandline cli_doctor_line = { .help = help_text, .options = options, .values = values };

struct doctor_arguments {
	struct doctor_setup setup;
	bool json, strict, help;
};

/* The value of --config, which is needed before the other options. NULL: not given. */
static const char *config_given(int argc, char **argv)
{
	const char *given = NULL;

	for (int i = 1; i < argc; i++) {
		const char *value = text_behind(argv[i], "--config");

		if (value && *value == '=')
			given = value + 1;
		else if (value && !*value && i + 1 < argc)
			given = argv[i + 1];
	}
	return given;
}

static int load_with(const char *config, struct options *o, struct err *err)
{
	MEM_AUTO char *flag = config ? mem_printf("--config=%s", config) : NULL;

	return options_load(flag ? 1 : 0, &flag, o, err);
}

/*
 * As the daemon does; if neither the command line nor the environment names a configuration file,
 * with that of the systemd unit, if it exists.
 */
static int load_options(int argc, char **argv, struct options *o, struct err *err)
{
	if (load_with(config_given(argc, argv), o, err))
		return -1;
	if (o->config || access(HOST_CONFIG, R_OK) != 0)
		return 0;
	options_done(o);
	return load_with(HOST_CONFIG, o, err);
}

static struct doctor_setup setup_of(const struct options *o)
{
	return (struct doctor_setup){ .program = kubectlplugin_runs() ? "kubectl kscaled" : "kscaled",
		.kubeconfig = o->kubeconfig,
		.namespace_ = o->namespace_,
		.service_name = o->service_name,
		.lease_name = o->lease_name,
		.keda_namespace = o->keda_namespace,
		.watch_namespaces = o->watch_namespaces,
		.tls_cert_file = o->tls_cert_file,
		.secure_port = o->secure_port,
		.webhook = o->webhook,
		.restrict_secrets = o->restrict_secret_access,
		.take_over = o->take_over,
		.no_lease = !o->leader_elect };
}

static bool is_namespace(const char *option, const char *name)
{
	if (dnsname_is_label(name, strlen(name)))
		return true;
	fprintf(stderr, "kscaled doctor: --%s: \"%.80s\" is not a Kubernetes name\n", option, name);
	return false;
}

static bool take_format(struct doctor_arguments *a, const char *text)
{
	a->json = strcmp(text, "json") == 0;
	if (!a->json)
		fprintf(stderr, "kscaled doctor: -o: \"%.80s\" is not json\n", text);
	return a->json;
}

static bool take(struct doctor_arguments *a, int c, const char *value)
{
	struct doctor_setup *s = &a->setup;

	switch (c) {
	case 'h': a->help = true; return true;
	case 'o': return take_format(a, value);
	case KUBECONFIG: s->kubeconfig = value; return true;
	case CONFIG: return true; /* read by config_given */
	case STRICT: a->strict = true; return true;
	case NAMESPACE: s->namespace_ = value; return is_namespace("namespace", value);
	case SERVICE_NAME:
		s->service_name = value;
		s->given |= DOCTOR_GIVEN_SERVICE;
		return is_namespace("service-name", value);
	case WATCH_NAMESPACE:
		s->watch_namespaces = *value ? value : NULL;
		s->given |= DOCTOR_GIVEN_WATCH;
		return true;
	case KEDA_NAMESPACE:
		s->keda_namespace = *value ? value : NULL;
		s->given |= DOCTOR_GIVEN_KEDA;
		return !*value || is_namespace("keda-namespace", value);
	case RESTRICT_SECRETS: s->restrict_secrets = true; return true;
	case NO_WEBHOOK: s->webhook = false; return true;
	case HOST: s->host = value; return true;
	case SCALE_KINDS: s->scale_kinds = value; return true;
	case NO_SCALEDJOBS: s->no_scaledjobs = true; return true;
	case TOKENS: s->service_account_tokens = true; return true;
	default: fputs("Try \"kscaled doctor --help\".\n", stderr); return false;
	}
}

static bool read_arguments(int argc, char **argv, struct doctor_arguments *a)
{
	int c;

	optind = 0; /* glibc: reset, main may have used getopt */
	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1)
		if (!take(a, c, optarg))
			return false;
	if (optind < argc)
		fprintf(stderr, "kscaled doctor: unexpected argument \"%.80s\": only options are allowed\n",
			argv[optind]);
	return optind == argc;
}

/* Generating the manifests checks their options. */
static bool check_setup(const struct doctor_setup *setup)
{
	struct doctor_setup known = *setup;
	struct err err = { 0 };
	json_t *needs;

	known.namespace_ = known.namespace_ ? known.namespace_ : "kscaled";
	needs = rights_needed(&known, &err);
	if (!needs)
		fprintf(stderr, "kscaled doctor: %s\n", err.msg);
	json_decref(needs);
	return needs != NULL;
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

static bool print(const struct doctor_arguments *a, const struct diagnosis *found)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	json_t *list;
	bool good;

	if (a->json) {
		list = diagnosis_json(found);
		good = output_json("kscaled doctor", list);
		json_decref(list);
		return good;
	}
	diagnosis_text(found, &out);
	good = output_text("kscaled doctor", &out);
	buf_done(&out);
	return good;
}

static int run(struct doctor_arguments *a)
{
	MEM_AUTO char *kubeconfig = NULL;
	struct diagnosis found = { 0 };
	enum diagnosis_status worst;
	json_t *facts;
	bool reached, printed;

	find_kubeconfig(&a->setup, &kubeconfig);
	find_admin(&a->setup);
	reached = gather_apiserver(&a->setup, &facts);
	if (reached)
		gather_cluster(&a->setup, facts);
	doctor_check(&a->setup, facts, reached, timestamp_now_ms(), &found);
	printed = print(a, &found);
	worst = diagnosis_worst(&found, NULL);
	diagnosis_done(&found);
	json_decref(facts);
	if (!reached || !printed)
		return UNREACHABLE;
	return worst == DIAGNOSIS_ERROR || (a->strict && worst == DIAGNOSIS_WARNING) ? WRONG : FINE;
}

static int read_and_run(int argc, char **argv, struct doctor_arguments *a)
{
	if (!read_arguments(argc, argv, a))
		return UNREACHABLE;
	if (a->help) {
		fputs(help_text, stdout);
		return FINE;
	}
	return check_setup(&a->setup) ? run(a) : UNREACHABLE;
}

int cli_doctor(int argc, char **argv)
{
	static char name[] = "kscaled doctor"; /* getopt's messages begin with it */
	MEM_AUTO char *kubeconfig = kubectlplugin_runs() ? kubectlplugin_kubeconfig() : NULL;
	struct doctor_arguments a = { .help = false };
	struct options o;
	struct err err = { 0 };
	int status;

	argv[0] = name;
	json_wipe_on_free();
	if (load_options(argc, argv, &o, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.msg);
		return UNREACHABLE;
	}
	a.setup = setup_of(&o);
	if (kubeconfig)
		a.setup.kubeconfig = kubeconfig;
	status = read_and_run(argc, argv, &a);
	options_done(&o);
	return status;
}
