/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANIFESTS_H
#define CLI_MANIFESTS_H

/*
 * `kscaled manifests`: prints all that a cluster needs for kscaled, as YAML documents for `kubectl
 * apply -f -`: Namespace, CRDs, service account and rights, Service, APIService and
 * ValidatingWebhookConfiguration, and the Deployment unless kscaled runs outside the cluster. Talks
 * to no cluster, keeps nothing.
 */

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct manifests_params {         /* every text is borrowed; NULL means the default */
	const char *namespace_;   /* own namespace, a DNS-1123 label; "kscaled" */
	const char *host;         /* "HOST:PORT" where kscaled listens outside the cluster; NULL: it runs in a Pod */
	const char *image;        /* container image; "kscaled:<version>" */
	const char *service_name; /* Service behind the APIService, a DNS-1035 label; "kscaled" */
	const char *watch_namespaces; /* comma list of namespaces to which the rights on workloads are limited; "" and
					 NULL: all */
	/*
	 * comma list of the kinds that may be scaled, "rollouts.argoproj.io"; NULL and "*": every
	 * kind with a scale sub-resource
	 */
	const char *scale_kinds;
	bool no_scaledjobs;          /* no rights on Jobs */
	bool restrict_secrets;       /* Secrets of the own namespace only */
	bool service_account_tokens; /* the right to make tokens of service accounts */
	bool no_webhook;             /* no ValidatingWebhookConfiguration, and no rights for it */
};

/*
 * Checks everything, then prints; nothing is printed when a parameter is wrong (ERR_INVALID, which
 * names the option). ERR_TEMPORARY when `out` cannot be written; it is flushed, not closed.
 */
int manifests_print(const struct manifests_params *params, FILE *out, struct err *err);

/*
 * The sub-command: argv[0] is its name. Returns the exit status: 0, 1 when it failed, 2 for wrong
 * usage.
 */
int cli_manifests(int argc, char **argv);

#endif
