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

/* Whether an object with kscaled's label is superfluous. kind: its kind, which lists omit. */
bool pruning_is_superfluous(const struct documents *wanted, const char *kind, const json_t *object);

/*
 * The superfluous objects, [{"path", "title", "object"}] with the texts of struct cluster_list; the
 * caller owns them. wanted: all objects of the options.
 */
json_t *pruning_find(struct cluster *c, const struct documents *wanted, struct err *err);

/* Prints what it deletes, or would. */
int pruning_run(struct cluster *c, const struct documents *wanted, bool dry_run, struct err *err);

#endif
