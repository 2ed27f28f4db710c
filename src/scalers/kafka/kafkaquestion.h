/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAQUESTION_H
#define SCALERS_KAFKA_KAFKAQUESTION_H

/*
 * The question of both types, kafka and apache-kafka, to net/kafka, and its evaluation
 * (scalers/kafka/kafkalag). The lag is bounded by a multiple of the threshold, so the threshold is
 * part of the question's key. As net/kafka batches questions, that costs the brokers nothing.
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
	struct kafkalag_rules rules; /* from_start: set by build */
	/* ---- of build ---- */
	struct kafkaendpoint *endpoint; /* one reference */
	struct kafka_range *ranges;     /* owned; NULL: all partitions */
	int64_t poll_ms;                /* 0: unknown */
	struct kafka_question asked;    /* borrows from the fields above */
	char *memory_key;               /* owned; NULL without excludePersistentLag */
};
enum kafkaquestion_policy { KAFKAQUESTION_LATEST, KAFKAQUESTION_EARLIEST };

/* The last step of build: fills the derived fields, and adds to the key what no row adds. */
void kafkaquestion_complete(struct scaler_build *b);
void kafkaquestion_done(void *data); /* data_done of the types */

extern const struct scaler_asker kafkaquestion_asker;

#endif
