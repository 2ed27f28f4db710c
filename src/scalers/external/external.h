/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNAL_H
#define SCALERS_EXTERNAL_EXTERNAL_H

/*
 * Trigger types external and external-push: a gRPC server of the user's own says which metrics a
 * trigger has, what they are, and whether there is work (keda-scalers.md A.9, A.10). external-push
 * also keeps a stream on which the server says that there is work now.
 */

#include "scalers/scaler.h"

extern const struct scaler_type external_scaler_type;
extern const struct scaler_type external_push_scaler_type;

#endif
