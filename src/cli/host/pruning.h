/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_PRUNING_H
#define CLI_HOST_PRUNING_H

/*
 * What an earlier `kscaled join` or `kscaled manifests` put into the cluster and the options leave
 * out now: roles and their bindings, so that narrower options mean fewer rights, and the webhook
 * configuration, which would ask in vain. Only what is ours (cli/host/ownership). Taken away by
 * `kscaled join`, named by `kscaled doctor`.
 */

#include <stdbool.h>

#include "base/err.h"
#include "cli/documents.h"
#include "cli/host/cluster.h"

/* Calls fn for each object that is too much. */
int pruning_each(struct cluster *c, const struct documents *wanted, cluster_fn fn, void *arg, struct err *err);

/* wanted: all that the options ask for. Says on standard output what it deletes, or would. */
int pruning_run(struct cluster *c, const struct documents *wanted, bool dry_run, struct err *err);

#endif
