/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Frames of AMQP 0-9-1, and what RabbitMQ's management API answers. The first byte chooses: frames,
 * a queue, a page of queues; and of the latter two how they are read.
 */

#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "net/amqp/amqpframe.h"
#include "scalers/rabbitmq/rabbitmqhttp.h"
#include "scalers/rabbitmq/rabbitmqvalue.h"

static void read_frames(const uint8_t *data, size_t size)
{
	struct amqpframe frame;
	struct amqpmethod m;
	struct err err = { 0 };
	size_t at = 0;
	int rc;

	while ((rc = amqpframe_next(data + at, size - at, at == 0, &frame, &err)) > 0) {
		must(frame.whole <= AMQPFRAME_MAX && frame.whole <= size - at);
		must(frame.payload >= data + at && frame.payload + frame.len < data + at + frame.whole);
		if (amqpframe_read(&frame, &m, &err) == 0)
			must(m.text_len <= AMQPFRAME_TEXT_MAX && m.text[m.text_len] == '\0');
		at += frame.whole;
	}
	must(rc == 0 || err.kind == ERR_TEMPORARY);
}

static void read_answer(unsigned how, const char *body, size_t size)
{
	const struct rabbitmqhttp_question q = { .queue = "jobs",
		.regex = how & 1,
		.rates = how & 2,
		.ready_only = how & 4,
		.operation = (how >> 3) % 3 };
	struct rabbitmqvalue_figures f;
	struct err err = { 0 };

	if (rabbitmqhttp_read(&q, body, size, &f, &err)) {
		must(err.kind != ERR_NONE && !strpbrk(err.msg, "\r\n"));
		return;
	}
	must(f.messages >= 0 && f.published >= 0 && f.delivered >= 0);
	for (unsigned mode = RABBITMQVALUE_QUEUE_LENGTH; mode <= RABBITMQVALUE_CONSUMPTION_TIME; mode++) {
		struct answer answer = { 0 };

		rabbitmqvalue_judge(mode, &f, 3, &answer);
		must(!isnan(answer.value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] < 128)
		read_frames(data + 1, size - 1);
	else
		read_answer(data[0] & 127u, (const char *)data + 1, size - 1);
	return 0;
}
