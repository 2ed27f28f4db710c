/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_DENIAL_H
#define KUBE_DENIAL_H

/*
 * Whether a denial (401, 403) is believed. An API server that has just started denies what it
 * allows a moment later: its authorizer does not know the roles yet. So what is asked for again
 * anyway is told of a denial only when that has stood for some seconds. Used where watches and
 * reads are repeated (kube/watch, kube/refetch), and by those who repeat calls of their own and
 * would act on a denial.
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
 * Takes each outcome (err NULL: a success; now_ms: the loop's clock). True: it is a denial that may
 * pass, so nothing is to be told or done but asking again.
 */
bool denial_may_pass(struct denial *d, const struct err *err, int64_t now_ms);

#endif
