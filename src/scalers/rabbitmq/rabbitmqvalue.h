/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQVALUE_H
#define SCALERS_RABBITMQ_RABBITMQVALUE_H

/*
 * The value of each mode of a rabbitmq trigger from a queue's figures, as in KEDA (doc/keda.md
 * 8.12). Pure.
 */

#include <stdbool.h>

#include "base/metric.h"

enum rabbitmqvalue_mode {
	RABBITMQVALUE_QUEUE_LENGTH,
	RABBITMQVALUE_MESSAGE_RATE,
	RABBITMQVALUE_DELIVER_GET_RATE,
	RABBITMQVALUE_PUBLISHED_TO_DELIVERED,
	RABBITMQVALUE_CONSUMPTION_TIME,
};

struct rabbitmqvalue_figures {
	double messages;
	double published, delivered; /* per second */
};

/*
 * Whether the answer depends on activationValue, so that triggers with different ones cannot share
 * it.
 */
bool rabbitmqvalue_depends_on_activation(enum rabbitmqvalue_mode mode);

/* Sets value, activity and load. */
void rabbitmqvalue_judge(enum rabbitmqvalue_mode mode, const struct rabbitmqvalue_figures *f, double activation,
	struct answer *out);

#endif
