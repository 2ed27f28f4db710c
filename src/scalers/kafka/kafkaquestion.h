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
#include "scalers/params.h"
#include "scalers/scaler.h"

struct kafkaquestion { /* the data of a question */
	/* ---- fields of rows ---- */
	char *group;
	char *topic, *version, *limitation; /* topic, version: of kafka */
	struct param_list topics;           /* of apache-kafka */
	unsigned policy;                    /* enum kafkaquestion_policy */
	bool excludes_stuck;
	struct kafkalag_rules rules; /* but for from_start */
	/* ---- of build ---- */
	struct kafkaendpoint *endpoint; /* one reference */
	struct kafka_range *ranges;     /* owned; NULL: all partitions */
	int64_t poll_ms;                /* 0: unknown */
	struct kafka_question asked;    /* borrows from all that */
	char *memory_key;               /* owned; NULL: it remembers nothing */
};
enum kafkaquestion_policy { KAFKAQUESTION_LATEST, KAFKAQUESTION_EARLIEST };

/* For build, once all else is there: completes it, and the key with what is in no row. */
void kafkaquestion_complete(struct scaler_build *b);
void kafkaquestion_done(void *data); /* data_done of the types */

void *kafkaquestion_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg);
void kafkaquestion_cancel(void *handle);

#endif
