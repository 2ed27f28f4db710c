/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAPARAMS_H
#define SCALERS_KAFKA_KAFKAPARAMS_H

/*
 * The parameters of kafka and apache-kafka: most are the same, the others stand in a table of each
 * (doc/keda.md 8.11). Both become a question of scalers/kafka/kafkaquestion.
 */

#include "scalers/params.h"
#include "scalers/scaler.h"

/* For the tables of the types: what both have, and what each has alone. */
extern const struct param_table kafkaparams_table, kafkaparams_sarama_table, kafkaparams_apache_table;

/* The build of both (scalers/scaler.h). */
int kafkaparams_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err);

#endif
