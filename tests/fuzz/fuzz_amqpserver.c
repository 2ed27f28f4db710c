/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A server of AMQP 0-9-1, which is somebody's, from its first byte: greeting, login, vhost,
 * channels, the length of a queue. The first byte chooses who logs in.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define ROLES 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[ROLES];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("rabbitmq", "host=amqp://@/|queueName=jobs", NULL);
		questions[1] = source_question("rabbitmq", "host=amqp://@/|queueName=jobs",
			"username=u|password=" SOURCE_SECRET);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % ROLES], SOURCE_ASK, data + 1, size - 1);
	return 0;
}
