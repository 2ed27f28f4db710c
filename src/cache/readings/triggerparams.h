/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_TRIGGERPARAMS_H
#define CACHE_READINGS_TRIGGERPARAMS_H

/* What a trigger of an object says, for scaler_build. */

#include <stddef.h>

#include "crd/scaled.h"
#include "scalers/scaler.h"

/* Borrows from the object. Authentication and environment are for the caller to fill in. */
struct scaler_params triggerparams_of(const struct scaled *of, size_t index);

#endif
