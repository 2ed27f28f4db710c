/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A path (the first line) and an answer (the rest): whatever they are, there is a number or an
 * error that repeats nothing of the answer.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/values/jsonpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t path_len = newline ? (size_t)(newline - data) : size;
	MEM_AUTO char *path = mem_dupn((const char *)data, path_len);
	const char *answer = newline ? (const char *)newline + 1 : "";
	struct err err = { 0 };
	struct jsonpath *p = jsonpath_compile(path, &err);
	double value = 0;

	if (!p)
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else if (jsonpath_number(p, answer, newline ? size - path_len - 1 : 0, &value, &err))
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else
		must(isfinite(value));
	jsonpath_free(p);
	return 0;
}
