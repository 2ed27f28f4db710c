/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_INHERIT_H
#define DECIDE_INHERIT_H

/*
 * What an object that we create takes over from the one it is created for: an HPA from its
 * ScaledObject, a Job from its ScaledJob. Pure.
 */

#include <jansson.h>

#include "base/strmap.h"
#include "crd/meta.h"

/*
 * Kubernetes' recommended labels, and over them those of `from`, but for the keys in the
 * comma-separated list that the annotation `exclusion` of `from` holds; its parts are taken as they
 * stand (keda-core.md 1.5). app.kubernetes.io/name is the caller's, before.
 */
void inherit_labels(const struct meta *from, const char *version, const char *exclusion, struct strmap *labels);

/*
 * metadata.ownerReferences: the one controller, of group keda.sh, whose deletion waits for what it
 * controls. The caller owns it.
 */
json_t *inherit_owners(const char *kind, const struct meta *owner);

json_t *inherit_map(const struct strmap *map); /* as a JSON object; the caller owns it */

#endif
