/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQHTTP_H
#define SCALERS_RABBITMQ_RABBITMQHTTP_H

/*
 * RabbitMQ's management API: where the figures of a queue are, or of all queues whose names match,
 * and what its answers say. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"

enum rabbitmqhttp_operation { RABBITMQHTTP_SUM, RABBITMQHTTP_AVG, RABBITMQHTTP_MAX };

struct rabbitmqhttp_place {
	/*
	 * without user (httpurl_split_user): the last segment of its path is the vhost, as it is
	 * escaped there; what stands before is where the API is
	 */
	const char *url;
	const char *vhost; /* NULL; else in the place of that segment */
	const char *queue; /* or a regular expression */
	bool regex;
	int64_t page_size; /* regex */
};
/* The URL to GET, which the caller owns; NULL with ERR_INVALID. */
char *rabbitmqhttp_url(const struct rabbitmqhttp_place *place, struct err *err);

/*
 * What is read of an answer. A queue without statistics is an error, not an empty one; of those
 * that a regular expression matches it is left out, unless none has them. A mode that needs a rate
 * where the server keeps none is an error, too.
 */
struct rabbitmqhttp_question {
	const char *queue; /* for messages */
	bool regex;        /* the answer is a page of queues */
	bool rates;        /* they are wanted; else 0 */
	enum rabbitmqhttp_operation operation;
	bool ready_only; /* without what was delivered and not acknowledged */
};
int rabbitmqhttp_read(const struct rabbitmqhttp_question *q, const char *body, size_t len,
	struct rabbitmqvalue_figures *out, struct err *err);

#endif
