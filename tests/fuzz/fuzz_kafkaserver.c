/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A Kafka broker, which is somebody's, from its first byte: versions, a login by SASL, metadata,
 * which may lead to itself once more, coordinator, offsets. The first byte chooses who asks what.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define ROLES 6
#define GROUP "bootstrapServers=@|consumerGroup=packers|"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[ROLES];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("kafka", GROUP "topic=t", NULL);
		questions[1] = source_question("kafka", GROUP "offsetResetPolicy=earliest|excludePersistentLag=true",
			NULL);
		questions[2] = source_question("apache-kafka", GROUP "topic=t,u|partitionLimitation=0-3", NULL);
		questions[3] = source_question("kafka", GROUP "topic=t|sasl=plaintext",
			"username=u|password=" SOURCE_SECRET);
		questions[4] = source_question("kafka", GROUP "topic=t|sasl=scram_sha256",
			"username=u|password=" SOURCE_SECRET);
		questions[5] = source_question("kafka", GROUP "sasl=plaintext", "username=u|password=" SOURCE_SECRET);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % ROLES], SOURCE_ASK, data + 1, size - 1);
	return 0;
}
