/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A Redis server, which is somebody's: the length of a list, the three questions about a stream,
 * and a watch, whose first connection is asked for the configuration and whose second has the
 * subscription; a node of a cluster, which tells where the others are, and a sentinel, which tells
 * where the master is. The first byte chooses which.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define ROLES  10
#define STREAM "address=@|stream=orders|consumerGroup=packers|"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const bool is_watch[ROLES] = { [4] = true, [7] = true, [9] = true };
	static struct loop *loop;
	static struct question *questions[ROLES];
	size_t role;

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("redis", "address=@|listName=jobs", NULL);
		questions[1] = source_question("redis-streams", "address=@|stream=orders", NULL);
		questions[2] = source_question("redis-streams", STREAM "pendingEntriesCount=5", NULL);
		questions[3] = source_question("redis-streams", STREAM "lagCount=5", NULL);
		questions[4] = source_question("redis", "address=@|listName=jobs|notify=auto", NULL);
		/* A greeting before the answer. */
		questions[5] = source_question("redis", "address=@|listName=jobs|databaseIndex=3",
			"username=u|password=" SOURCE_SECRET);
		questions[6] = source_question("redis-cluster", "addresses=@|listName=jobs", NULL);
		questions[7] = source_question("redis-cluster", "addresses=@|listName=jobs|notify=auto", NULL);
		questions[8] = source_question("redis-sentinel", "addresses=@|sentinelMaster=main|listName=jobs", NULL);
		questions[9] = source_question("redis-sentinel",
			"addresses=@|sentinelMaster=main|listName=jobs|notify=auto", "password=" SOURCE_SECRET);
	}
	if (size == 0)
		return 0;
	role = data[0] % ROLES;
	source_try(loop, questions[role], is_watch[role] ? SOURCE_WATCH : SOURCE_ASK, data + 1, size - 1);
	return 0;
}
