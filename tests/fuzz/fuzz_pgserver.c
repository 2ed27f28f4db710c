/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A PostgreSQL server, which is somebody's, from its first byte: whether it has TLS, the login, the
 * answer to a query, and a notification. The first byte chooses whether it is asked or listened to.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define AUTH  "password=" SOURCE_SECRET
#define PLACE "host=127.0.0.1|port=#|userName=u|dbName=d|query=SELECT 1|targetQueryValue=5|sslmode="

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[3];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("postgresql", PLACE "disable", AUTH);
		questions[1] = source_question("postgresql", PLACE "prefer", AUTH);
		questions[2] = source_question("postgresql", PLACE "disable|notifyChannel=jobs", AUTH);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % 3], data[0] % 3 == 2 ? SOURCE_WATCH : SOURCE_ASK, data + 1,
			size - 1);
	return 0;
}
