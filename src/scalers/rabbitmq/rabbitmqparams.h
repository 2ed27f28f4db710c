/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQPARAMS_H
#define SCALERS_RABBITMQ_RABBITMQPARAMS_H

/*
 * The parameters of the rabbitmq trigger (doc/keda.md 8.12), the same for both protocols, and the
 * question that they make. No I/O.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/rabbitmq/rabbitmqhttp.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"
#include "scalers/scaler.h"

/* The data of a question. */
struct rabbitmqparams_question {
	struct httplogin login; /* over HTTP */
	/* ---- fields of rows ---- */
	char *queue;   /* or a regular expression */
	unsigned mode; /* enum rabbitmqvalue_mode */
	double value, queue_length;
	double activation;
	bool regex, ready_only;
	int64_t page_size;
	enum rabbitmqhttp_operation operation;
	/* ---- of build ---- */
	struct amqpendpoint *amqp; /* one reference; NULL: over HTTP */
};

extern const struct param_table rabbitmqparams_table, rabbitmqparams_login_table;
extern const struct rabbitmqparams_question rabbitmqparams_absent;

/* For struct scaler_type. */
int rabbitmqparams_build(struct scaler_build *b, struct err *err);
void rabbitmqparams_done(void *data);

#endif
