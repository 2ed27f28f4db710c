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
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "options/commandline.h"

struct manifests_params {             /* strings are borrowed; NULL: the default */
	const char *namespace_;       /* own namespace, a DNS-1123 label; "kscaled" */
	const char *host;             /* "HOST:PORT" of kscaled outside the cluster; NULL: in a Pod */
	const char *image;            /* container image; "kscaled:<version>" */
	const char *service_name;     /* Service behind the APIService, a DNS-1035 label; "kscaled" */
	const char *watch_namespaces; /* comma-separated namespaces of the workloads; "", NULL: all */
	/*
	 * comma-separated kinds that may be scaled, "rollouts.argoproj.io"; NULL, "*": all with a
	 * scale subresource
	 */
	const char *scale_kinds;
	bool no_scaledjobs;          /* no rights on Jobs */
	bool restrict_secrets;       /* only Secrets of kscaled's namespace */
	bool service_account_tokens; /* the right to request tokens of service accounts */
	bool no_webhook;             /* no ValidatingWebhookConfiguration and no rights for it */
	bool no_crds;                /* no CustomResourceDefinitions */

	/* For kscaled in a Pod; an error with host. */
	int64_t replicas;           /* 1 to 16; 0: 1. More are spread over nodes and drained one by one */
	const char *priority_class; /* a DNS-1123 subdomain; NULL: the cluster's default */
	const char *monitor;        /* "pod" or "service": a PodMonitor or ServiceMonitor; NULL: none */
	bool network_policy;        /* open only the two ports */

	bool delete_order; /* print in the order of deletion */
};

/*
 * Prints to out, which is flushed, not closed. ERR_INVALID: an invalid parameter; the message names
 * the option, and nothing is printed. ERR_TEMPORARY: out cannot be written.
 */
int manifests_print(const struct manifests_params *params, FILE *out, struct err *err);

/* Shared with join, leave and doctor; over struct manifests_params. */
extern const struct option manifests_name_options[], manifests_rights_options[];

#endif
