/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_PACE_H
#define CONTROL_PACE_H

/*
 * How soon something may be written again that somebody undid: two who want different things (an admission plugin that strips a field, a tool that puts back what is in Git) must not write at full speed. A value; knows no timers and
 * makes no writes: apiservice and webhookconfig ask it before theirs.
 */

#include <stdint.h>

struct pace {
	int64_t written_at_ms; /* loop clock; 0: never, or that it was undone is counted */
	unsigned setbacks;     /* in a row: undone sooner than in a minute, or failed */
};

void pace_written(struct pace *p, int64_t now_ms);
int64_t pace_failed_ms(struct pace *p); /* a write failed: so many ms are to be waited */

/* 0: write now. Else what was written a moment ago is different again, and not for the first time: so many ms are to be waited before it is written once more. Asked once for each write that is wanted. */
int64_t pace_wait_ms(struct pace *p, int64_t now_ms);

#endif
