/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKA_H
#define SCALERS_KAFKA_KAFKA_H

/* KEDA's kafka: one topic, or all that the group has; SASL with OAuth tokens. */

#include "scalers/scaler.h"

extern const struct scaler_type kafka_scaler_type;

#endif
