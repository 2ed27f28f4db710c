/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifests.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/manifests_text.h"
#include "cli/outsidehost.h"
#include "config.h"

#define LABEL_SIZE 64 /* one more than a label may have, so that a longer one is still seen to be too long */

/* A word between @ signs in the templates, and what stands there instead. */
struct word {
	const char *name;
	const char *value;
};

/* What the documents are printed from: parameters with defaults in place and checked. */
struct plan {
	const char *namespace_;
	const char *service_name;
	const char *image;
	const char *watch_namespaces;
	const char *namespace_selector; /* of the webhooks */
	bool restrict_secrets, tokens, webhook;
	bool outside;
	struct outsidehost host;
	FILE *out;
};

static int check_label(const char *option, const char *text, struct err *err)
{
	if (outsidehost_is_label(text))
		return 0;
	return err_set(err, ERR_INVALID,
		"--%s: \"%.80s\" is not a name that Kubernetes allows: 1 to 63 lower-case letters, digits and \"-\", "
		"with a letter or digit first and last",
		option, text);
}

static int check_service_name(const char *text, struct err *err)
{
	if (check_label("service-name", text, err) < 0)
		return -1;
	if (text[0] >= '0' && text[0] <= '9')
		return err_set(err, ERR_INVALID, "--service-name: \"%s\" begins with a digit, which no Service may",
			text);
	return 0;
}

static int check_image(const char *text, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";

	if (*text == '\0')
		return err_set(err, ERR_INVALID, "--image: the reference is empty");
	if (text[strspn(text, allowed)] != '\0' || strlen(text) > 1024)
		return err_set(err, ERR_INVALID, "--image: \"%.80s\" is not an image reference", text);
	return 0;
}

/*
 * Copies the next of a comma list of names into label; false at the end. A name that does not fit
 * is cut, and then refused as a label.
 */
static bool next_name(const char **rest, char label[LABEL_SIZE + 1])
{
	size_t len = strcspn(*rest, ",");
	size_t kept = len < LABEL_SIZE ? len : LABEL_SIZE;

	if (**rest == '\0')
		return false;
	memcpy(label, *rest, kept);
	label[kept] = '\0';
	*rest += len + ((*rest)[len] == ',');
	return true;
}

static int check_watch_namespaces(const char *list, struct err *err)
{
	char label[LABEL_SIZE + 1];
	size_t len = strlen(list);

	if (len > 0 && list[len - 1] == ',')
		return err_set(err, ERR_INVALID, "--watch-namespace: the list ends with a comma");
	while (next_name(&list, label))
		if (check_label("watch-namespace", label, err) < 0)
			return -1;
	return 0;
}

static int check(const struct manifests_params *params, struct plan *plan, struct err *err)
{
	plan->namespace_ = params->namespace_ ? params->namespace_ : "kscaled";
	plan->service_name = params->service_name ? params->service_name : "kscaled";
	plan->image = params->image ? params->image : "kscaled:" PACKAGE_VERSION;
	plan->watch_namespaces = params->watch_namespaces ? params->watch_namespaces : "";
	plan->restrict_secrets = params->restrict_secrets;
	plan->tokens = params->service_account_tokens;
	plan->webhook = !params->no_webhook;
	plan->outside = params->host != NULL;
	if (check_label("namespace", plan->namespace_, err) < 0 || check_service_name(plan->service_name, err) < 0 ||
		check_image(plan->image, err) < 0 || check_watch_namespaces(plan->watch_namespaces, err) < 0)
		return -1;
	if (plan->outside && outsidehost_parse(params->host, &plan->host, err) < 0)
		return err_wrap(err, "--host");
	return 0;
}

/*
 * The value of the word that begins at text, just behind an @; NULL when none does. *len is its
 * length, the closing @ included.
 */
static const char *value_at(const struct word *words, const char *text, size_t *len)
{
	size_t name_len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	if (text[name_len] != '@')
		return NULL;
	*len = name_len + 1;
	for (; words->name; words++)
		if (strlen(words->name) == name_len && strncmp(words->name, text, name_len) == 0)
			return words->value;
	return NULL;
}

static void print_document(FILE *out, const struct word *words, const char *text)
{
	fputs("---\n", out);
	while (*text) {
		size_t plain = strcspn(text, "@"), len;
		const char *value;

		fwrite(text, 1, plain, out);
		text += plain;
		if (*text == '\0')
			return;
		value = value_at(words, text + 1, &len);
		fputs(value ? value : "@", out);
		text += value ? 1 + len : 1;
	}
}

static void print_rights(const struct plan *plan, struct word *words, struct word *watched)
{
	const char *rest = plan->watch_namespaces;
	char label[LABEL_SIZE + 1];

	print_document(plan->out, words, manifests_serviceaccount);
	print_document(plan->out, words, manifests_rbac);
	if (*rest == '\0')
		print_document(plan->out, words, manifests_rbac_all_namespaces);
	watched->value = label;
	while (next_name(&rest, label))
		print_document(plan->out, words, manifests_rbac_one_namespace);
	watched->value = "";
	print_document(plan->out, words, manifests_rbac_own);
	print_document(plan->out, words, manifests_rbac_scale_targets);
	print_document(plan->out, words, manifests_rbac_aggregated);
}

static const char *service_text(const struct plan *plan)
{
	if (!plan->outside)
		return manifests_service_pod;
	return plan->host.kind == OUTSIDEHOST_NAME ? manifests_service_name : manifests_service_address;
}

static void print_all(const struct plan *plan)
{
	/* In every cluster: `kubectl delete -f` on what we print should not go for them. */
	static const char *const of_kubernetes[] = { "default", "kube-system", "kube-public", "kube-node-lease", NULL };
	char port[16];
	struct word words[] = {
		{ "WATCHED", "" }, /* the first: print_rights sets it */
		{ "NAMESPACE", plan->namespace_ },
		{ "SERVICE_NAME", plan->service_name },
		{ "IMAGE", plan->image },
		{ "WATCH_NAMESPACES", plan->watch_namespaces },
		{ "VERSION", PACKAGE_VERSION },
		{ "HOST", plan->host.host },
		{ "PORT", port },
		/*
		 * The aggregator connects to an ExternalName at the APIService's port, to a
		 * ClusterIP by the Service's port.
		 */
		{ "SERVICE_PORT", plan->outside && plan->host.kind == OUTSIDEHOST_NAME ? port : "443" },
		{ "SECRET_RULES", plan->restrict_secrets ? "" : manifests_rules_secrets },
		{ "TOKEN_RULES", plan->tokens ? manifests_rules_tokens : manifests_rules_no_tokens },
		{ "OWN_TOKEN_RULES",
			plan->tokens            ? manifests_rules_tokens
				: plan->outside ? manifests_rules_own_token
						: "" },
		{ "RESTRICT_SECRETS", plan->restrict_secrets ? "true" : "false" },
		{ "NAMESPACE_SELECTOR", plan->namespace_selector },
		{ "FAMILY", plan->host.kind == OUTSIDEHOST_IPV6 ? "IPv6" : "IPv4" },
		{ NULL, NULL },
	};

	snprintf(port, sizeof(port), "%d", plan->host.port);
	if (!text_is_one_of(plan->namespace_, of_kubernetes))
		print_document(plan->out, words, manifests_namespace);
	print_document(plan->out, words, manifests_crd_scaledobjects);
	print_document(plan->out, words, manifests_crd_scaledjobs);
	print_document(plan->out, words, manifests_crd_triggerauthentications);
	print_document(plan->out, words, manifests_crd_clustertriggerauthentications);
	print_rights(plan, words, &words[0]);
	print_document(plan->out, words, service_text(plan));
	print_document(plan->out, words, manifests_apiservice);
	if (plan->webhook)
		print_document(plan->out, words, manifests_webhook);
	if (!plan->outside)
		print_document(plan->out, words, manifests_deployment);
}

/* Objects of other namespaces are not ours to judge. In YAML's flow style; the caller owns it. */
static char *namespace_selector(const char *watch_namespaces)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	char label[LABEL_SIZE + 1];

	if (*watch_namespaces == '\0')
		return mem_dup("{}");
	buf_puts(&out, "{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [");
	for (const char *separator = ""; next_name(&watch_namespaces, label); separator = ", ")
		buf_printf(&out, "%s\"%s\"", separator, label);
	buf_puts(&out, "]}]}");
	return buf_take(&out);
}

int manifests_print(const struct manifests_params *params, FILE *out, struct err *err)
{
	struct plan plan = { .out = out };
	MEM_AUTO char *selector = NULL;

	if (check(params, &plan, err) < 0)
		return -1;
	plan.namespace_selector = selector = namespace_selector(plan.watch_namespaces);
	print_all(&plan);
	if (fflush(out) != 0 || ferror(out))
		return err_set(err, ERR_TEMPORARY, "writing the manifests: %s", strerror(errno));
	return 0;
}

static const char help_text[] =
	"Usage: kscaled manifests [OPTION]...\n"
	"Print the YAML documents that a cluster needs for kscaled:\n"
	"    kscaled manifests | kubectl apply -f -\n"
	"\n"
	"  --host HOST:PORT       kscaled runs outside the cluster, and the API server reaches it there:\n"
	"                         a DNS name, an IPv4 address, or an IPv6 address in brackets\n"
	"  --namespace NS         namespace of kscaled (default: kscaled)\n"
	"  --image REF            container image (default: kscaled:" PACKAGE_VERSION ")\n"
	"  --service-name NAME    Service behind the APIService (default: kscaled)\n"
	"  --watch-namespace NS[,NS]\n"
	"                         limit the rights on workloads to these namespaces, which must exist (default: all)\n"
	"  --restrict-secret-access\n"
	"                         Secrets are read in the namespace of kscaled only (default: in those it watches)\n"
	"  --service-account-tokens\n"
	"                         let it make tokens of service accounts, for boundServiceAccountToken and Vault\n"
	"  --no-webhook           objects are not judged before they are stored\n"
	"  --help                 print this text\n";

enum { USAGE_ERROR = 2 };

int cli_manifests(int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", required_argument, NULL, 'H' },
		{ "namespace", required_argument, NULL, 'n' },
		{ "image", required_argument, NULL, 'i' },
		{ "service-name", required_argument, NULL, 's' },
		{ "watch-namespace", required_argument, NULL, 'w' },
		{ "restrict-secret-access", no_argument, NULL, 'r' },
		{ "service-account-tokens", no_argument, NULL, 't' },
		{ "no-webhook", no_argument, NULL, 'W' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static char name[] = "kscaled manifests"; /* what getopt's own messages begin with */
	struct manifests_params params = { 0 };
	struct err err;
	int c;

	argv[0] = name;
	optind = 0; /* glibc: begin anew, main may have used getopt before */
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'H': params.host = optarg; break;
		case 'n': params.namespace_ = optarg; break;
		case 'i': params.image = optarg; break;
		case 's': params.service_name = optarg; break;
		case 'w': params.watch_namespaces = optarg; break;
		case 'r': params.restrict_secrets = true; break;
		case 't': params.service_account_tokens = true; break;
		case 'W': params.no_webhook = true; break;
		case 'h': fputs(help_text, stdout); return 0;
		default: fputs("Try \"kscaled manifests --help\".\n", stderr); return USAGE_ERROR;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: \"%s\" is no option\n", name, argv[optind]);
		return USAGE_ERROR;
	}
	if (manifests_print(&params, stdout, &err) < 0) {
		fprintf(stderr, "%s: %s\n", name, err.msg);
		return err.kind == ERR_INVALID ? USAGE_ERROR : 1;
	}
	return 0;
}
