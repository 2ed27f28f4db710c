/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A server that triggers ask over HTTP, which is somebody's, from its first byte: status line,
 * headers, redirects, chunks; a number in each of the formats that there are; an answer of
 * Prometheus; a server of tokens before it. The first byte chooses which.
 */

#include "fuzz.h"
#include "peer.h"
#include "source.h"

#define ROLES 7
#define PLACE "url=http://@/v|targetValue=5|"
#define TOKEN "oauthTokenURI=http://@/token|clientID=c|clientSecret=secret"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *questions[ROLES];

	if (!loop) {
		loop = peer_start(PEER_LISTENS);
		questions[0] = source_question("metrics-api", PLACE "valueLocation=a.b.0.c", NULL);
		questions[1] = source_question("metrics-api", PLACE "format=prometheus|valueLocation=up{job=\"a\"}",
			NULL);
		questions[2] = source_question("metrics-api", PLACE "format=yaml|valueLocation=a.b[0].c", NULL);
		questions[3] = source_question("metrics-api", PLACE "format=xml|valueLocation=a.b", NULL);
		questions[4] = source_question("prometheus", "serverAddress=http://@|query=up|threshold=5", NULL);
		questions[5] = source_question("metrics-api", PLACE "valueLocation=a|authMode=oauth", TOKEN);
		questions[6] = source_question("prometheus",
			"serverAddress=http://@|query=up|threshold=5|authModes=bearer", "bearerToken=" SOURCE_SECRET);
	}
	if (size > 0)
		source_try(loop, questions[data[0] % ROLES], SOURCE_ASK, data + 1, size - 1);
	return 0;
}
