/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/denial.h"

#include <stddef.h>

bool denial_may_pass(struct denial *d, const struct err *err, int64_t now_ms)
{
	bool stood = d->stands;

	/* Without an answer it is not known whether the denial has passed. */
	if (err && err->kind == ERR_TEMPORARY)
		return false;
	d->stands = err && err->kind == ERR_DENIED;
	if (d->stands && !stood)
		d->since_ms = now_ms;
	return d->stands && now_ms - d->since_ms < DENIAL_GRACE_MS;
}
