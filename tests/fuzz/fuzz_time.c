/* SPDX-License-Identifier: Apache-2.0 */

/* Durations and points in time: what is read can be written and is read the same again. */

#include "base/duration.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "fuzz.h"

static void as_duration(const char *text)
{
	char out[DURATION_TEXT_MAX];
	int64_t ms, again;
	struct err err;

	if (duration_parse(text, &ms, &err) < 0)
		return;
	must(ms >= 0);
	must(duration_parse(duration_format(ms, out), &again, &err) == 0 || ms > INT64_MAX / 1000000);
	must(again == ms || ms > INT64_MAX / 1000000);
}

static void as_timestamp(const char *text)
{
	char out[TIMESTAMP_TEXT_MAX];
	int64_t ms, again;
	struct err err;

	if (timestamp_parse(text, &ms, &err) < 0)
		return;
	must(timestamp_parse(timestamp_format_milli(ms, out), &again, &err) == 0);
	/* An offset may carry the time out of the years 0 to 9999, which is held at the end. */
	must(again == ms || ms < INT64_C(-62167219200000) || ms > INT64_C(253402300799999));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);

	as_duration(text);
	as_timestamp(text);
	return 0;
}
