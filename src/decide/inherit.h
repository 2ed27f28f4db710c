/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_INHERIT_H
#define DECIDE_INHERIT_H

/*
 * Metadata that a created object gets from its owner: an HPA from its ScaledObject, a Job from its
 * ScaledJob. Pure.
 */

#include <jansson.h>

#include "base/strmap.h"
#include "crd/meta.h"

/*
 * Adds Kubernetes' recommended labels, except app.kubernetes.io/name, which the caller sets first,
 * and over them the labels of `from`, without the keys in the comma-separated list of its
 * annotation `exclusion`, whose parts are not trimmed (doc/keda.md 1.5).
 */
void inherit_labels(const struct meta *from, const char *version, const char *exclusion, struct strmap *labels);

/*
 * metadata.ownerReferences with `owner`, of group keda.sh, as the controller (blockOwnerDeletion).
 * The caller owns it.
 */
json_t *inherit_owners(const char *kind, const struct meta *owner);

json_t *inherit_map(const struct strmap *map); /* as a JSON object; the caller owns it */

#endif
