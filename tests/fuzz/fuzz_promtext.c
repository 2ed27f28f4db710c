/* SPDX-License-Identifier: Apache-2.0 */

/* A selector (the first line) and a page of metrics (the rest): a number or an error. */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/metricsapi/promtext.h"

/* As it comes: in two pieces. */
static void check(const struct promselector *s, const char *page, size_t len)
{
	struct promtext *t = promtext_new(s);
	struct err err = { 0 };
	double value = 0;

	if (promtext_feed(t, page, len / 2) == 0)
		promtext_feed(t, page + len / 2, len - len / 2);
	if (promtext_end(t, &value, &err))
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else
		must(isfinite(value));
	promtext_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t len = newline ? (size_t)(newline - data) : size;
	MEM_AUTO char *text = mem_dupn((const char *)data, len);
	const char *page = newline ? (const char *)newline + 1 : "";
	struct err err = { 0 };
	struct promselector *s = promselector_compile(text, &err);

	if (!s)
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else
		check(s, page, newline ? size - len - 1 : 0);
	promselector_free(s);
	return 0;
}
