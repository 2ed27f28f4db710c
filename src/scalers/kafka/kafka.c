/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafka.h"

#include "scalers/kafka/kafkaparams.h"
#include "scalers/kafka/kafkaquestion.h"
#include "scalers/login/awslogin.h"

const struct scaler_type kafka_scaler_type = {
	.name = "kafka",
	.go_name = "kafkaScaler",
	.tables = { &kafkaparams_table, &kafkaparams_sarama_table, &kafkaparams_login_table,
		&kafkaparams_sarama_login_table, &awslogin_table },
	.data_size = sizeof(struct kafkaquestion),
	.build = kafkaparams_build,
	.data_done = kafkaquestion_done,
	.ask = kafkaquestion_ask,
	.cancel = kafkaquestion_cancel,
};
