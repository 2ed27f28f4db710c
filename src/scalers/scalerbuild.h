/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SCALERBUILD_H
#define SCALERS_SCALERBUILD_H

/* From a trigger, as it is written, to its scaler. Checks parameters only; asks nobody. */

#include "scalers/scaler.h"

/*
 * Looks the type up and builds. On failure *out needs no scaler_done; the error starts with
 * `trigger <index> (<type>)`. An unknown type: ERR_INVALID naming it.
 */
int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err);

#endif
