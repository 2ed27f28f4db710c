/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SCALERBUILD_H
#define SCALERS_SCALERBUILD_H

/*
 * Builds a scaler from a trigger's definition. Checks parameters only; no network.
 *
 * The type's tables are read into the future question's data, which the type's build checks and
 * completes. The question's key is made here for all types, of the type's name, the fields that
 * belong to the question (params_put_key), the login of a type over HTTP (scalers/httplogin) and
 * the parts that build added (params_add_key).
 */

#include "base/err.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/*
 * Looks up the type and builds the scaler. 0, or -1 with *faults, which the caller frees with
 * param_faults_done; *out then needs no scaler_done. Unknown types are ERR_INVALID.
 */
int scaler_try(const struct scaler_params *params, struct scaler *out, struct param_faults *faults);

/*
 * The same with one error of the first fault's kind, which starts with `trigger <index> (<type>)`
 * and lists all faults that fit.
 */
int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err);

/*
 * Whether triggers of the type log in by podIdentity of this provider ("aws", "gcp", ...). Others
 * ignore it, as in KEDA, and the scaler reports that (struct scaler, ignored).
 */
bool scaler_reads_identity(const struct scaler_type *type, const char *provider);

/* Prepends `trigger <index> (<type>): ` to a fault. */
void scaler_wrap(const struct scaler_params *params, struct err *err);

#endif
