/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Quantities: what is read can be written and is read the same again; doubles round as printf
 * rounds.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/quantity.h"
#include "fuzz.h"

/*
 * A whole number that was given with a binary suffix, 62.5Ki, is written without one, 64000, as
 * Kubernetes does; what is read from that is written as 64k, and stays so.
 */
static void there_and_back(struct quantity q)
{
	char text[QUANTITY_TEXT_MAX], again[QUANTITY_TEXT_MAX], once_more[QUANTITY_TEXT_MAX];
	struct quantity back, same;

	must(quantity_parse(quantity_format(q, text), &back, NULL) == 0);
	must(back.milli == q.milli);
	must(quantity_parse(quantity_format(back, again), &same, NULL) == 0);
	must(same.milli == q.milli);
	must(strcmp(quantity_format(same, once_more), again) == 0);
}

static void as_double(const uint8_t *data, size_t size)
{
	double value;
	char text[512];
	struct quantity printed;

	if (size < sizeof(value))
		return;
	memcpy(&value, data, sizeof(value));
	struct quantity q = quantity_from_double(value);
	there_and_back(q);
	must(q.milli >= 0);
	if (!isfinite(value) || value <= 0)
		return;
	snprintf(text, sizeof(text), "%.3f", value);
	must(quantity_parse(text, &printed, NULL) == 0);
	must(printed.milli == q.milli);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	struct quantity q;
	struct err err;

	if (quantity_parse(text, &q, &err) == 0)
		there_and_back(q);
	as_double(data, size);
	return 0;
}
