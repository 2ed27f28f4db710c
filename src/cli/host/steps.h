/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_STEPS_H
#define CLI_HOST_STEPS_H

/* Shared by `kscaled join` and `kscaled leave`: options, reporting steps, and waiting. */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/host/hostfiles.h"
#include "options/commandline.h"

/* Prints one line and flushes it: the next step may take long. */
void steps_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct steps_arguments {
	const char *kubeconfig; /* NULL: not given */
	struct hostfiles files;
	bool dry_run;
};
extern const struct option steps_options[];

#define STEPS_WAIT_MAX 3600000 /* of --wait, in ms */

int64_t steps_now_ms(void); /* of a monotonic clock */
void steps_nap(void);       /* between two polls */

#endif
