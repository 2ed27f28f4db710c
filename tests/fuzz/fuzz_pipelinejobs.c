/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the agent pools' API of Azure DevOps answers: a count of at most as many jobs as there are,
 * a pool, or an error on one line. The first byte chooses the filter.
 */

#include <string.h>

#include "base/json.h"
#include "fuzz.h"
#include "scalers/azure/pipelinejobs.h"

static void check_line(const struct err *err)
{
	must(err->kind == ERR_INVALID || err->kind == ERR_MISSING);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const demands[] = { "docker", "Maven", "Agent.Version 2" };
	unsigned how = size > 0 ? data[0] : 0;
	const struct pipelinejobs_filter filter = { .parent = how & 1 ? "template" : NULL,
		.demands = how & 2 ? demands : NULL,
		.count = how & 2 ? 3 : 0,
		.rule = (how >> 2) % 3,
		.any_case = how & 16 };
	json_t *answer = size > 0 ? json_parse_foreign((const char *)data + 1, size - 1, NULL) : NULL;
	struct err err = { 0 };
	size_t count = 0;
	int64_t id = 0;

	if (!answer)
		return 0;
	if (pipelinejobs_count(answer, &filter, &count, &err) == 0)
		must(count <= json_array_size(json_object_get(answer, "value")));
	else
		check_line(&err);
	if (pipelinejobs_pool(answer, "linux", &id, &err))
		check_line(&err);
	json_decref(answer);
	return 0;
}
