/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CHECKOBJECTS_H
#define CLI_CHECK_CHECKOBJECTS_H

/*
 * `kscaled check`: validates objects, each by itself and against the others of the input. Checks
 * the schema of the CRD (the one that `kscaled manifests` prints), decide/validate's rules with the
 * webhook's messages, triggers as their scalers parse them, the formula, and the HPA's metrics.
 * Reads no files and needs no cluster.
 */

#include <stdbool.h>
#include <stdio.h>

#include "cli/check/offline.h"
#include "cli/documents.h"

struct checkobjects_params {
	const char *namespace_; /* of objects without one */
	struct offline_rules rules;
	bool complete; /* references must be in the input */
	bool verbose;
};

struct checkobjects_result {
	size_t problems, warnings;
};

/* Prints the findings to out. */
struct checkobjects_result checkobjects_run(const struct checkobjects_params *params, const struct documents *documents,
	FILE *out);

#endif
