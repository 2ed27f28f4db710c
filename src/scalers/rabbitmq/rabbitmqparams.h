/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQPARAMS_H
#define SCALERS_RABBITMQ_RABBITMQPARAMS_H

/*
 * The parameters of the rabbitmq trigger (doc/keda.md 8.12), the same for both protocols, and what
 * they make a question of. No I/O.
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
	struct httpsource_login login; /* over HTTP */
	struct amqpendpoint *amqp;     /* one count; NULL: over HTTP */
	char *queue;                   /* or a regular expression */
	char *url;                     /* over HTTP */
	enum rabbitmqvalue_mode mode;
	double activation; /* where the answer depends on it; else 0 */
	bool regex, ready_only;
	enum rabbitmqhttp_operation operation;
};
void rabbitmqparams_question_free(struct rabbitmqparams_question *q);

extern const struct param_table rabbitmqparams_table;

/*
 * As scaler_type's build: sets target and activation of *out, and *metric_name. At 0 also *data,
 * the key and the name of the question; the caller owns all of them.
 */
int rabbitmqparams_read(const struct scaler_params *params, struct scaler *out, char **metric_name,
	struct rabbitmqparams_question **data, char **key, char **source, struct err *err);

#endif
