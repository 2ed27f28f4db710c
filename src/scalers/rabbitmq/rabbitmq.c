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

static void on_messages(void *arg, uint32_t messages, const struct err *err)
{
	scaler_ask_end(arg, messages, err);
}

/* ---- Over HTTP ---- */

static int http_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct rabbitmqparams_question *q = ask->data;

	(void)err;
	out->url = mem_dup(q->login.url);
	out->spare = true; /* few at a time: the management plug-in takes long for each request */
	out->max_body = q->regex ? (size_t)4 << 20 : 0; /* enough for 500 queues from a server that ignores `columns` */
	return 0;
}

static enum exchange_verdict http_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct rabbitmqparams_question *q = ask->data;
	const struct rabbitmqhttp_question wanted = { .queue = q->queue,
		.regex = q->regex,
		.rates = q->mode != RABBITMQVALUE_QUEUE_LENGTH,
		.operation = q->operation,
		.ready_only = q->ready_only };
	struct rabbitmqvalue_figures figures;

	if (httpsource_expect(answer, 200, 200, err))
		return err_wrap(err, "queue \"%.80s\"", q->queue);
	if (rabbitmqhttp_read(&wanted, answer->body, answer->len, &figures, err))
		return EXCHANGE_FAILED;
	rabbitmqvalue_judge(q->mode, &figures, q->activation, out);
	return EXCHANGE_DONE;
}

static const struct httpsource_type http = { .request = http_request, .read = http_read };

/* ---- Either ---- */

static void start_ask(void *handle)
{
	struct scaler_ask *ask = handle;
	const struct rabbitmqparams_question *q = ask->question->data;

	if (q->amqp)
		ask->call = amqp_ask(ask->sources->amqp, q->amqp, q->queue, ask->deadline_ms, on_messages, ask);
	else
		httpsource_asker.ask(handle);
}

static void cancel_ask(void *handle)
{
	const struct scaler_ask *ask = handle;

	if (ask->call)
		pool_cancel(ask->call);
	else
		httpsource_asker.cancel(handle);
}

static const struct scaler_asker asker = { sizeof(struct httpsource), .ask = start_ask, .cancel = cancel_ask };

const struct scaler_type rabbitmq_scaler_type = {
	.name = "rabbitmq",
	.go_name = "rabbitMQScaler",
	.azure_workload = true,
	.tables = { &rabbitmqparams_table, &rabbitmqparams_login_table },
	.data_size = sizeof(struct rabbitmqparams_question),
	.absent = &rabbitmqparams_absent,
	.build = rabbitmqparams_build,
	.data_done = rabbitmqparams_done,
	.asker = &asker,
	.http = &http,
};
