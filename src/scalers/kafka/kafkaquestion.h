/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAQUESTION_H
#define SCALERS_KAFKA_KAFKAQUESTION_H

/*
 * What both types, kafka and apache-kafka, ask of net/kafka, and what becomes of the answer
 * (scalers/kafka/kafkalag). The bound of the lag is made of the threshold, so that one is part of
 * the question's key; net/kafka puts questions together, so that costs the brokers nothing.
 */

#include "net/kafka/kafka.h"
#include "scalers/kafka/kafkalag.h"
#include "scalers/scaler.h"

struct kafkaquestion_config { /* what is taken is wiped from here */
	const struct scaler_type *type;
	struct kafkaendpoint *endpoint; /* taken */
	char *group;                    /* taken */
	char **topics;                  /* taken */
	size_t topic_count;
	struct kafka_range *ranges; /* taken; NULL: all partitions */
	size_t range_count;
	struct kafkalag_rules rules;
	bool excludes_stuck;
	int64_t poll_ms; /* 0: unknown */
};
struct question *kafkaquestion_new(struct kafkaquestion_config *config);
void kafkaquestion_config_done(struct kafkaquestion_config *config);

void *kafkaquestion_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg);
void kafkaquestion_cancel(void *handle);
void kafkaquestion_free_data(void *data);

#endif
