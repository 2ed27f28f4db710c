/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SCALERBUILD_H
#define SCALERS_SCALERBUILD_H

/* Builds a scaler from a trigger's definition. Checks parameters only; no network. */

#include "scalers/scaler.h"

/*
 * Looks up the type and builds the scaler. 0, or -1 with an error that starts with `trigger <index>
 * (<type>)`; *out then needs no scaler_done. Unknown types are ERR_INVALID.
 */
int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err);

/*
 * Whether triggers of the type log in by podIdentity of this provider ("aws", "gcp", ...). All
 * others leave it alone, as in KEDA, and a built one says so (struct scaler, ignored).
 */
bool scaler_reads_identity(const struct scaler_type *type, const char *provider);

#endif
