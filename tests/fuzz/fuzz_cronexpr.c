/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cron expressions: what is taken fires after and not at the time asked, and looking back from
 * there finds the same.
 */

#include "base/cronexpr.h"
#include "base/mem.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	const int64_t now_ms = INT64_C(1790000000123);
	struct zone *utc = zone_utc();
	struct cronexpr e;
	struct err err;
	int64_t next_ms, last_ms;

	if (cronexpr_parse(text, &e, &err) < 0) {
		must(err.kind == ERR_INVALID);
	} else if (cronexpr_next(&e, utc, now_ms, &next_ms)) {
		must(cronexpr_can_fire(&e) && cronexpr_same(&e, &e));
		must(next_ms > now_ms && next_ms % 60000 == 0);
		must(cronexpr_last(&e, utc, next_ms, &last_ms) && last_ms == next_ms);
		must(!cronexpr_last(&e, utc, next_ms - 1, &last_ms) || last_ms <= now_ms);
	} else {
		must(!cronexpr_can_fire(&e));
	}
	zone_free(utc);
	return 0;
}
