/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKATRIGGER_H
#define SCALERS_KAFKA_KAFKATRIGGER_H

/*
 * Trigger types `kafka` (one topic, or all topics of the group; SASL with OAuth tokens) and
 * `apache-kafka` (a list of topics): parameters and build (doc/keda.md 8.11). Most parameters are
 * the same, the rest stands in a table per type. Both ask scalers/kafka/kafkaquestion, over the
 * same connections.
 */

#include "scalers/scaler.h"

extern const struct scaler_type kafka_scaler_type;
extern const struct scaler_type apachekafka_scaler_type;

#endif
