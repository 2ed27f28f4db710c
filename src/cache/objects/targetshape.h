/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETSHAPE_H
#define CACHE_OBJECTS_TARGETSHAPE_H

/*
 * A hash of the fields of a target that scaling uses, so that frequent status updates of a
 * Deployment are no change. Pure; for cache/objects/targets.
 */

#include <stdint.h>

#include "crd/workload.h"

uint64_t targetshape_of(const struct workload *w);

#endif
