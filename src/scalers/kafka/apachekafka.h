/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_APACHEKAFKA_H
#define SCALERS_KAFKA_APACHEKAFKA_H

/* KEDA's apache-kafka: a list of topics; the same lag, by the same connections, as kafka. */

#include "scalers/scaler.h"

extern const struct scaler_type apachekafka_scaler_type;

#endif
