/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_DENIAL_H
#define KUBE_DENIAL_H

/*
 * Whether a denial (401, 403) may be believed. A newly started API server denies what it allows a
 * moment later, because its authorizer does not know the roles yet. So repeated requests report a
 * denial only after it has lasted for some seconds. Used where watches and reads are repeated
 * (kube/watch, kube/refetch), and by callers that repeat calls themselves and would act on a
 * denial.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define DENIAL_GRACE_MS 5000

struct denial { /* a value; zeroed before the first answer */
	bool stands;
	int64_t since_ms;
};

/*
 * Takes each outcome (err NULL: success; now_ms: the loop's clock). True: a denial that may pass:
 * report nothing, and ask again.
 */
bool denial_may_pass(struct denial *d, const struct err *err, int64_t now_ms);

#endif
