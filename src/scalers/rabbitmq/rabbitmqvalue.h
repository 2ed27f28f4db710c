/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQVALUE_H
#define SCALERS_RABBITMQ_RABBITMQVALUE_H

/*
 * What the modes of a rabbitmq trigger make of a queue's figures, as KEDA does (doc/keda.md 8.12).
 * Pure.
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
 * Whether activationValue is part of the value, so that triggers with other ones do not share the
 * answer.
 */
bool rabbitmqvalue_depends_on_activation(enum rabbitmqvalue_mode mode);

/* Sets value, activity and load. */
void rabbitmqvalue_judge(enum rabbitmqvalue_mode mode, const struct rabbitmqvalue_figures *f, double activation,
	struct answer *out);

#endif
