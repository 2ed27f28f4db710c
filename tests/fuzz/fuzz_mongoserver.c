/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A MongoDB server, which is somebody's, from its first byte: greeting, members, which may be
 * itself once more, a login, a count. The first byte chooses who asks.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define ROLES 4
#define COUNT "dbName=d|collection=c|query={\"a\":1}|queryValue=5|"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[ROLES];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("mongodb", COUNT "connectionString=mongodb://@", NULL);
		questions[1] = source_question("mongodb", COUNT "host=127.0.0.1|port=#|username=u",
			"password=" SOURCE_SECRET);
		questions[2] = source_question("mongodb",
			COUNT "connectionString=mongodb://@/?replicaSet=rs0&connect=automatic", NULL);
		questions[3] = source_question("mongodb",
			COUNT "connectionString=mongodb://@/?readPreference=secondaryPreferred", NULL);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % ROLES], SOURCE_ASK, data + 1, size - 1);
	return 0;
}
