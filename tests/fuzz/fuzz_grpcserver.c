/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An external scaler, which is somebody's server, from the first byte of HTTP/2 on: it is asked for
 * its metrics, for the value of one, or listened to. The first byte chooses which.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum source_way ways[] = { SOURCE_DESCRIBE, SOURCE_ASK, SOURCE_WATCH };
	static struct loop *loop;
	static struct question *whole, *whole_push, *questions[3];

	if (!loop) {
		loop = peer_start(PEER_SPEAKS_FIRST);
		whole = source_question("external", "scalerAddress=@", NULL);
		whole_push = source_question("external-push", "scalerAddress=@", NULL);
		questions[0] = whole;
		questions[1] = whole->type->narrow(whole, "m", 0);
		questions[2] = whole_push->type->narrow(whole_push, "m", 0);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % 3], ways[data[0] % 3], data + 1, size - 1);
	return 0;
}
