/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQ_H
#define SCALERS_RABBITMQ_RABBITMQ_H

/*
 * Trigger type rabbitmq: the messages in a queue, or their rates (doc/keda.md 8.12). Over AMQP
 * 0-9-1 by net/amqp, or by RabbitMQ's management API.
 */

#include "scalers/scaler.h"

extern const struct scaler_type rabbitmq_scaler_type;

#endif
