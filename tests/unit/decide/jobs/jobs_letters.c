/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_letters.h"

const struct err lettered_failure = { .kind = ERR_TEMPORARY, .msg = "connection refused" };

struct scaledjob_spec lettered_spec(const char *strategy, int32_t min, int32_t max)
{
	return (struct scaledjob_spec){ .strategy = (char *)(uintptr_t)strategy,
		.min_jobs = min,
		.max_jobs = max,
		.queue_length_deduction = UNSET };
}

size_t lettered_triggers(const struct lettered *of, struct jobs_trigger *out)
{
	static const char *const names[LETTERED_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c", "s3-redis-d" };
	size_t count = 0;

	for (; count < LETTERED_MAX && of[count].letter != 0; count++)
		out[count] = (struct jobs_trigger){ .index = of[count].index,
			.metric_name = names[count],
			.queue = of[count].queue,
			.target = of[count].target,
			.active = of[count].letter == 'A',
			.err = of[count].letter == 'E' ? &lettered_failure : NULL };
	return count;
}
