/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_FAKE_LOOP_H
#define TESTS_UNIT_CONTROL_FAKE_LOOP_H

/*
 * net/loop, the wall clock and the log at link level, for tests of timing: Leases expire after
 * seconds and certificates after a year. Things happen only inside fake_advance, in order of time;
 * no test waits, and none depends on the machine's speed. (timestamp_now_ms is replaced by the
 * linker's --wrap.)
 */

#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

void fake_loop_start(void); /* the clocks at fixed points; the log is caught */
void fake_loop_end(void);   /* fails when a timer or a job is left over */
struct loop *fake_loop(void);

void fake_advance(int64_t ms);
int64_t fake_now_ms(void);
int64_t fake_wall_ms(void);
void fake_set_wall_ahead(int64_t ms); /* our wall clock against the one at the start */
void fake_jump(int64_t ms);           /* the process was stopped so long: all that was due meanwhile comes late */

/* Something of the outside world that happens later; lives inside its owner. */
struct fake_job {
	struct fake_job *prev, *next;
	int64_t due_ms;
	uint64_t order;
	void (*fn)(void *arg);
	void *arg;
	bool queued;
};
void fake_job_set(struct fake_job *job, int64_t due_ms, void (*fn)(void *arg), void *arg);
void fake_job_cancel(struct fake_job *job);

/* Lines of the log since the start that contain `part`; level: of enum log_level, FAKE_ANY: all. */
#define FAKE_ANY (-1)
unsigned fake_logged(const char *part);
unsigned fake_logged_at(int level, const char *part);

#endif
