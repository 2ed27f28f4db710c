/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKELOOP_H
#define TESTS_UNIT_FAKES_FAKELOOP_H

/*
 * Stands in for net/loop at link time, with a clock that only moves when a test says so. A fake,
 * because polls, cooldowns and back-offs take minutes, and what happens first must not depend on
 * the machine. Turns are as in the real loop: the timers that are due, then the work put off in a
 * few rounds. The wall clock moves along (programs link with --wrap=timestamp_now_ms).
 */

#include <stdint.h>

#include "net/loop.h"

struct loop *fakeloop_start(void);
void fakeloop_end(void); /* fails when a timer was not done or work is left over */

void fakeloop_advance(int64_t ms); /* so much time passes, and all that falls due in it happens in its order */
int64_t fakeloop_wall_ms(void);
unsigned fakeloop_turns(void); /* so far */

#endif
