/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANIFESTS_H
#define CLI_MANIFESTS_H

/*
 * `kscaled manifests`: prints the objects that a cluster needs for kscaled, as YAML documents for
 * `kubectl apply -f -`: Namespace, CRDs, service account and roles, Service, APIService,
 * ValidatingWebhookConfiguration, and the Deployment unless kscaled runs outside the cluster, with
 * what belongs to it: PodDisruptionBudget, NetworkPolicy, PodMonitor or ServiceMonitor.
 * Connects to no cluster.
 */

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/commandline.h"

struct manifests_params {             /* strings are borrowed; NULL: the default */
	const char *namespace_;       /* own namespace, a DNS-1123 label; "kscaled" */
	const char *host;             /* "HOST:PORT" of a kscaled outside the cluster; NULL: it runs in a Pod */
	const char *image;            /* container image; "kscaled:<version>" */
	const char *service_name;     /* Service behind the APIService, a DNS-1035 label; "kscaled" */
	const char *watch_namespaces; /* comma-separated namespaces of the workloads; "", NULL: all */
	/*
	 * comma-separated kinds that may be scaled, "rollouts.argoproj.io"; NULL, "*": all with a
	 * scale subresource
	 */
	const char *scale_kinds;
	bool no_scaledjobs;          /* no rights on Jobs */
	bool restrict_secrets;       /* Secrets of the own namespace only */
	bool service_account_tokens; /* the right to make tokens of service accounts */
	bool no_webhook;             /* no ValidatingWebhookConfiguration, and no rights for it */
	bool no_crds;                /* no CustomResourceDefinitions: others install them */

	/* Of kscaled in a Pod: each is refused beside host. */
	const char *replicas;       /* 1 to 16; "1". More are spread, and drained one by one */
	const char *priority_class; /* a DNS-1123 subdomain; NULL: what the cluster has as its default */
	const char *monitor;        /* "pod" or "service": how the Prometheus operator finds it; NULL: not */
	bool network_policy;        /* nothing but the two ports is open */

	bool delete_order; /* the documents in the order in which they are to be deleted */
};

/*
 * Prints to out, which is flushed, not closed. ERR_INVALID: a parameter is wrong; the message names
 * the option, and nothing is printed. ERR_TEMPORARY: out cannot be written.
 */
int manifests_print(const struct manifests_params *params, FILE *out, struct err *err);

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_manifests(int argc, char **argv);
extern const struct commandline cli_manifests_line;

#endif
