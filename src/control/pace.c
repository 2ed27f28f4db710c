/* SPDX-License-Identifier: Apache-2.0 */
#include "control/pace.h"

#include "net/loop.h"

#define QUIET_MS 60000 /* what is undone sooner than that is undone by somebody who will do so again */
#define FIRST_MS 1000
#define MAX_MS   60000

void pace_written(struct pace *p, int64_t now_ms)
{
	p->written_at_ms = now_ms;
}

int64_t pace_failed_ms(struct pace *p)
{
	return loop_backoff_ms(p->setbacks++, FIRST_MS, MAX_MS);
}

int64_t pace_wait_ms(struct pace *p, int64_t now_ms)
{
	int64_t lasted_ms = now_ms - p->written_at_ms;

	if (!p->written_at_ms)
		return 0;
	p->written_at_ms = 0;
	if (lasted_ms >= QUIET_MS)
		p->setbacks = 0;
	/* The first time is an accident. */
	if (p->setbacks == 0) {
		p->setbacks = 1;
		return 0;
	}
	return pace_failed_ms(p);
}
