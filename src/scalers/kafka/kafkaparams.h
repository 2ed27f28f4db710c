/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAPARAMS_H
#define SCALERS_KAFKA_KAFKAPARAMS_H

/*
 * The parameters of kafka and apache-kafka: most are the same, the others stand in a table of each
 * (doc/keda.md 8.11). Both become a question of scalers/kafka/kafkaquestion.
 */

#include "scalers/params.h"
#include "scalers/scaler.h"

/*
 * For the tables of the types: what both have, and what each has alone; then the same of the login.
 */
extern const struct param_table kafkaparams_table, kafkaparams_sarama_table, kafkaparams_apache_table;
extern const struct param_table kafkaparams_login_table, kafkaparams_sarama_login_table, kafkaparams_apache_login_table;

/* The build of both (scalers/scaler.h). */
int kafkaparams_build(struct scaler_build *b, struct err *err);

#endif
