/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A Redis server, which is somebody's: the length of a list, the three questions about a stream,
 * and a watch, whose first connection is asked for the configuration and whose second has the
 * subscription. The first byte chooses which.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define STREAM "address=@|stream=orders|consumerGroup=packers|"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[6];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("redis", "address=@|listName=jobs", NULL);
		questions[1] = source_question("redis-streams", "address=@|stream=orders", NULL);
		questions[2] = source_question("redis-streams", STREAM "pendingEntriesCount=5", NULL);
		questions[3] = source_question("redis-streams", STREAM "lagCount=5", NULL);
		questions[4] = source_question("redis", "address=@|listName=jobs|notify=auto", NULL);
		/* A greeting before the answer. */
		questions[5] = source_question("redis", "address=@|listName=jobs|databaseIndex=3",
			"username=u|password=pass");
	}
	if (size == 0)
		return 0;
	source_try(loop, questions[data[0] % 6], data[0] % 6 == 4 ? SOURCE_WATCH : SOURCE_ASK, data + 1, size - 1);
	return 0;
}
