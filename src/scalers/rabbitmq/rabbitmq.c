/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type rabbitmq: the messages in a queue, or their rates (doc/keda.md 8.12). Over AMQP
 * 0-9-1 by net/amqp, or by RabbitMQ's management API.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "net/amqp/amqp.h"
#include "scalers/http/httpsource.h"
#include "scalers/rabbitmq/rabbitmqhttp.h"
#include "scalers/rabbitmq/rabbitmqparams.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"
#include "scalers/sources.h"
#include "scalers/types.h"

/* ---- Over AMQP ---- */

struct amqp_asking {
	struct scaler_ask base;
	struct amqp_call *call;
};

static void on_messages(void *arg, uint32_t messages, const struct err *err)
{
	scaler_ask_end(arg, messages, err);
}

/* ---- Over HTTP ---- */

static int http_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct rabbitmqparams_question *q = ask->base.question->data;

	(void)err;
	out->url = mem_dup(q->login.url);
	out->spare = true; /* few at a time: the management plug-in takes long for each request */
	out->max_body = q->regex ? (size_t)4 << 20 : 0; /* enough for 500 queues from a server that ignores `columns` */
	return 0;
}

static enum exchange_verdict http_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct rabbitmqparams_question *q = ask->base.question->data;
	const struct rabbitmqhttp_question wanted = { .queue = q->queue,
		.regex = q->regex,
		.rates = q->mode != RABBITMQVALUE_QUEUE_LENGTH,
		.operation = q->operation,
		.ready_only = q->ready_only };
	struct rabbitmqvalue_figures figures;

	if (httpsource_expect(answer, 200, 200, err)) {
		err_wrap(err, "queue \"%.80s\"", q->queue);
		return EXCHANGE_FAILED;
	}
	if (rabbitmqhttp_read(&wanted, answer->body, answer->len, &figures, err))
		return EXCHANGE_FAILED;
	rabbitmqvalue_judge(q->mode, &figures, q->activation, out);
	return EXCHANGE_DONE;
}

static const struct httpsource_type http = { .request = http_request, .read = http_read };

/* ---- Either ---- */

static void *start_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	const struct rabbitmqparams_question *q = question->data;
	struct amqp_asking *ask;

	if (!q->amqp)
		return httpsource_ask(sources, question, deadline_ms, fn, arg);
	ask = scaler_ask_new(sizeof(*ask), question, fn, arg);
	ask->call = amqp_ask(sources->amqp, q->amqp, q->queue, deadline_ms, on_messages, ask);
	return ask;
}

static void cancel_ask(void *handle)
{
	const struct rabbitmqparams_question *q = ((const struct scaler_ask *)handle)->question->data;
	struct amqp_asking *ask = handle;

	if (!q->amqp) {
		httpsource_cancel(handle);
		return;
	}
	amqp_cancel(ask->call);
	scaler_ask_free(ask);
}

const struct scaler_type rabbitmq_scaler_type = {
	.name = "rabbitmq",
	.go_name = "rabbitMQScaler",
	.azure_workload = true,
	.tables = { &rabbitmqparams_table, &rabbitmqparams_login_table },
	.data_size = sizeof(struct rabbitmqparams_question),
	.absent = &rabbitmqparams_absent,
	.build = rabbitmqparams_build,
	.data_done = rabbitmqparams_done,
	.ask = start_ask,
	.cancel = cancel_ask,
	.http = &http,
};
