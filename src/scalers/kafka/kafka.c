/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafka.h"

#include "scalers/kafka/kafkaparams.h"
#include "scalers/kafka/kafkaquestion.h"
#include "scalers/login/awslogin.h"

const struct scaler_type kafka_scaler_type = {
	.name = "kafka",
	.go_name = "kafkaScaler",
	.tables = { &kafkaparams_table, &kafkaparams_sarama_table, &awslogin_table },
	.build_whole = kafkaparams_build,
	.ask = kafkaquestion_ask,
	.cancel = kafkaquestion_cancel,
	.free_data = kafkaquestion_free_data,
};
