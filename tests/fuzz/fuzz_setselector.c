/* SPDX-License-Identifier: Apache-2.0 */

/* Label selectors for pods: what is written evenly is read again, and stays as it is. */

#include <string.h>

#include "base/mem.h"
#include "base/setselector.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size), *normal = NULL, *again = NULL;
	struct err err;

	normal = setselector_normal(text, &err);
	if (!normal) {
		must(err.kind == ERR_INVALID);
		return 0;
	}
	again = setselector_normal(normal, &err);
	must(again && strcmp(again, normal) == 0);
	return 0;
}
