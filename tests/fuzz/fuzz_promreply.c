/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An answer to an instant query. The first byte chooses the status, the rest is the body: a finite
 * number, nothing, or an error on one line.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/prometheus/promreply.h"

static void check_line(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 204, 302, 400, 401, 404, 422, 503 };
	int status = size > 0 ? statuses[data[0] % (sizeof(statuses) / sizeof(statuses[0]))] : 200;
	size_t len = size > 0 ? size - 1 : 0;
	char *body = mem_dupn((const char *)data + (size > 0), len);
	struct err err = { 0 };
	double value = NAN;
	enum promreply reply = promreply_read(status, body, body, len, &value, &err);

	must(isfinite(value) || reply != PROMREPLY_VALUE);
	must(reply == PROMREPLY_VALUE || reply == PROMREPLY_EMPTY || reply == PROMREPLY_FAILED);
	if (reply != PROMREPLY_VALUE)
		check_line(&err);
	mem_free_secret(body);
	return 0;
}
