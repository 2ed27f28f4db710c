/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/rabbitmq/rabbitmqvalue.h"

bool rabbitmqvalue_depends_on_activation(enum rabbitmqvalue_mode mode)
{
	return mode == RABBITMQVALUE_PUBLISHED_TO_DELIVERED || mode == RABBITMQVALUE_CONSUMPTION_TIME;
}

static void set_answer(struct answer *out, double value, bool active)
{
	out->value = value;
	out->activity = active ? ACTIVITY_ACTIVE : ACTIVITY_INACTIVE;
}

void rabbitmqvalue_judge(enum rabbitmqvalue_mode mode, const struct rabbitmqvalue_figures *f, double activation,
	struct answer *out)
{
	double m = f->messages, p = f->published, d = f->delivered, value;

	switch (mode) {
	case RABBITMQVALUE_MESSAGE_RATE: /* active by the rate, or by the messages in the queue */
		out->value = p;
		out->load = p > m ? p : m;
		out->activity = ACTIVITY_BY_LOAD;
		break;
	case RABBITMQVALUE_PUBLISHED_TO_DELIVERED:
		value = p <= 0 ? 0 : d > 0 ? p / d : activation;
		set_answer(out, value, value > activation || (p > 0 && d <= 0));
		break;
	case RABBITMQVALUE_CONSUMPTION_TIME:
		value = d > 0 ? (p - d) / d + m / d : activation;
		set_answer(out, value, value > activation || d <= 0);
		break;
	default: out->value = mode == RABBITMQVALUE_QUEUE_LENGTH ? m : d; out->activity = ACTIVITY_BY_THRESHOLD;
	}
}
