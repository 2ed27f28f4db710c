/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETSHAPE_H
#define CACHE_OBJECTS_TARGETSHAPE_H

/*
 * What scaling looks at in a target, as one number, so that a Deployment's ever-moving status is no
 * change. Pure; for cache/objects/targets.
 */

#include <stdint.h>

#include "crd/workload.h"

uint64_t targetshape_of(const struct workload *w);

#endif
