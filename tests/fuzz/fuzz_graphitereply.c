/* SPDX-License-Identifier: Apache-2.0 */

/* An answer of Graphite's render API. */

#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "scalers/graphite/graphitereply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *body = malloc(size + 1); /* the sanitizer sees what reads on */
	double value = NAN;
	struct err err = { 0 };

	memcpy(body, data, size);
	body[size] = '\0';
	if (graphitereply_read(body, size, &value, &err) == 0)
		must(isfinite(value));
	else
		must(err.kind == ERR_INVALID && err.msg[0] != '\0' && strpbrk(err.msg, "\r\n\t") == NULL);
	free(body);
	return 0;
}
