/* SPDX-License-Identifier: Apache-2.0 */

/* Addresses: what is taken apart is a piece of the text, and joined again it means the same. */

#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size), *joined = NULL;
	struct hostport at, again;

	if (hostport_parse(text, &at) != HOSTPORT_GOOD)
		return 0;
	must(strlen(at.host) <= HOSTPORT_HOST_MAX);
	must(strstr(text, at.host) != NULL);
	must(at.has_port || at.port == 0);
	must(!strchr(at.host, ':') || at.bracketed);
	joined = hostport_join(at.host, at.port);
	/* A host that begins with a bracket is none, and every caller refuses it. */
	if (at.host[0] == '[')
		return 0;
	must(hostport_parse(joined, &again) == HOSTPORT_GOOD);
	must(strcmp(again.host, at.host) == 0 && again.port == at.port && again.has_port);
	return 0;
}
