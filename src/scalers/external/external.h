/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNAL_H
#define SCALERS_EXTERNAL_EXTERNAL_H

/*
 * Trigger types external and external-push (doc/keda.md 8.14): the user's own gRPC server reports
 * which metrics a trigger has, their values, and whether the trigger is active. external-push also
 * keeps a stream on which the server reports activity.
 */

#include "scalers/scaler.h"

extern const struct scaler_type external_scaler_type;
extern const struct scaler_type external_push_scaler_type;

#endif
