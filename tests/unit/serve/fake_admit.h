/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_FAKE_ADMIT_H
#define TESTS_UNIT_SERVE_FAKE_ADMIT_H

/*
 * Replaces src/cache/admit at link time: questions are kept until the test gives the verdict. The
 * real one has its own tests.
 */

#include "cache/admit.h"

int fake_admit_waiting(void);
int fake_admit_ever(void);
int fake_admit_cancelled(void);

/* The newest question, as it was put. */
struct fake_admit_question {
	char kind[64], name[64], old_name[64];
	bool dry_run;
	int64_t deadline_ms;
};
const struct fake_admit_question *fake_admit_question(void);

void fake_admit_answer(const struct admit_verdict *verdict); /* to the one that waits longest */
void fake_admit_reset(void);

#endif
