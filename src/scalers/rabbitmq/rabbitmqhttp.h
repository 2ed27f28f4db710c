/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_RABBITMQ_RABBITMQHTTP_H
#define SCALERS_RABBITMQ_RABBITMQHTTP_H

/*
 * RabbitMQ's management API: the URL of a queue's figures, or of all queues whose names match, and
 * its answers. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"

enum rabbitmqhttp_operation { RABBITMQHTTP_SUM, RABBITMQHTTP_AVG, RABBITMQHTTP_MAX };

struct rabbitmqhttp_place {
	/*
	 * without user (httpurl_split_user). The last segment of its path is the vhost, escaped;
	 * what precedes it is the path of the API.
	 */
	const char *url;
	const char *vhost; /* replaces that segment; may be NULL */
	const char *queue; /* or a regular expression */
	bool regex;
	int64_t page_size; /* regex */
};
/* The URL to GET, owned by the caller; NULL with ERR_INVALID. */
char *rabbitmqhttp_url(const struct rabbitmqhttp_place *place, struct err *err);

/*
 * Reads an answer. A queue without statistics is an error, not empty; among the matches of a
 * regular expression it is skipped, unless none has statistics. A rate that the server does not
 * keep is an error, too.
 */
struct rabbitmqhttp_question {
	const char *queue; /* for messages */
	bool regex;        /* the answer is a page of queues */
	bool rates;        /* rates are needed; otherwise they are 0 */
	enum rabbitmqhttp_operation operation;
	bool ready_only; /* without delivered but unacknowledged messages */
};
int rabbitmqhttp_read(const struct rabbitmqhttp_question *q, const char *body, size_t len,
	struct rabbitmqvalue_figures *out, struct err *err);

#endif
