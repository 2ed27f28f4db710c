/* SPDX-License-Identifier: Apache-2.0 */

/* A server of beanstalkd's protocol, from its first byte: answers to stats-tube. */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *question;

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		question = source_question("beanstalkd", "server=@|tube=jobs|value=5|includeDelayed=true", NULL);
	}
	if (size > 0)
		source_try(loop, question, SOURCE_ASK, data, size);
	return 0;
}
