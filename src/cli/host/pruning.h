/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_PRUNING_H
#define CLI_HOST_PRUNING_H

/*
 * Objects of an earlier `kscaled join` or `kscaled manifests` that the options no longer include:
 * roles and their bindings, so that fewer options mean fewer rights, and the webhook configuration,
 * which would have no server. Only our own (cli/host/ownership). `kscaled join` deletes them,
 * `kscaled doctor` reports them.
 */

#include <stdbool.h>

#include "base/err.h"
#include "cli/documents.h"
#include "cli/host/cluster.h"

/* Calls fn for each superfluous object. */
int pruning_each(struct cluster *c, const struct documents *wanted, cluster_fn fn, void *arg, struct err *err);

/* wanted: all objects of the options. Prints what it deletes, or would. */
int pruning_run(struct cluster *c, const struct documents *wanted, bool dry_run, struct err *err);

#endif
