/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECKOBJECTS_H
#define CLI_CHECKOBJECTS_H

/*
 * `kscaled check`'s judgement of objects, each by itself and beside the others of the input: the
 * CRD's schema (the one that `kscaled manifests` prints), decide/validate's rules in the
 * webhook's words, triggers as their scalers parse them, the formula, the metrics of the HPA. Reads
 * no files and asks no cluster.
 */

#include <stdbool.h>
#include <stdio.h>

#include "cli/documents.h"

struct checkobjects_params {
	const char *namespace_;        /* of objects that name none */
	const char *cluster_namespace; /* where what ClusterTriggerAuthentications name lies */
	bool complete;                 /* what is referred to must be in the input */
	bool verbose;
};

struct checkobjects_result {
	size_t problems, warnings;
};

struct checkobjects_result checkobjects_run(const struct checkobjects_params *params, const struct documents *documents,
	FILE *out);

#endif
