/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_TRIGGERPARAMS_H
#define CACHE_READINGS_TRIGGERPARAMS_H

/* The parameters of an object's trigger, for scaler_build. */

#include <stddef.h>

#include "crd/scaled.h"
#include "scalers/scaler.h"

/* Borrows from the object. The caller adds authentication and environment. */
struct scaler_params triggerparams_of(const struct scaled *of, size_t index);

#endif
