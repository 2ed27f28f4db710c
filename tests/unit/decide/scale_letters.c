/* SPDX-License-Identifier: Apache-2.0 */
#include "scale_letters.h"

#include <string.h>

const struct err lettered_failure = { .kind = ERR_TEMPORARY, .msg = "connecting to 10.0.0.7:6379: timed out" };

struct scaledobject_spec row_spec(const struct scale_row *r)
{
	return (struct scaledobject_spec){
		.polling_interval_s = NONE,
		.cooldown_s = r->cooldown_s,
		.initial_cooldown_s = r->initial_s,
		.idle_replicas = r->idle,
		.min_replicas = r->min,
		.max_replicas = NONE,
	};
}

size_t lettered_triggers(const char *letters, struct verdict_trigger *out)
{
	static const char *const names[TRIGGERS_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c", "s3-redis-d",
		"s4-redis-e", "s5-redis-f", "s6-redis-g", "s7-redis-h" };
	size_t count = strlen(letters);

	for (size_t i = 0; i < count; i++)
		out[i] = (struct verdict_trigger){
			.metric_name = names[i],
			/* a failing one's reading must not count */
			.reading = { .value = letters[i] == 'A' ? 12
					: letters[i] == 'F'     ? 25
								: 0,
				.active = strchr("iZ", letters[i]) == NULL },
			.metric = { .name = names[i], .target = { 5000, QUANTITY_DECIMAL_SI } },
			.err = letters[i] == 'E' ? &lettered_failure : NULL,
			.source_err = strchr("EFZ", letters[i]) != NULL ? &lettered_failure : NULL,
			.failures = strchr("EFZ", letters[i]) != NULL ? 4 : 0,
			.falling_back = strchr("FZ", letters[i]) != NULL,
			.fallback_replicas = letters[i] == 'F' ? 5 : 0,
		};
	return count;
}

struct annotations lettered_annotations(const char *says)
{
	struct annotations d = { .paused_replicas = INT32_UNSET };

	for (; says != NULL && *says != '\0'; says++) {
		d.paused = d.paused || *says == 'P';
		d.scale_in_paused = d.scale_in_paused || *says == 'I';
		d.scale_out_paused = d.scale_out_paused || *says == 'O';
		d.force_active = d.force_active || *says == 'f';
		if (*says >= '0' && *says <= '9')
			d.paused_replicas = *says - '0';
	}
	return d;
}

struct composite lettered_composite(char letter)
{
	struct composite c = { .value = letter == 'A' ? 12
			: letter == 'F'               ? 25
						      : 0,
		.active = strchr("AF", letter) != NULL,
		.falling_back = strchr("FZ", letter) != NULL,
		.failing = letter == 'E' };

	if (c.failing)
		err_set(&c.err, ERR_INVALID, "spec.advanced.scalingModifiers.formula: it does not work");
	return c;
}
