/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_LEADER_LEADERKEDA_H
#define CONTROL_LEADER_LEADERKEDA_H

/*
 * Whether KEDA's own operator is active: its Lease `operator.keda.sh` is held and fresh. Asked by
 * control/leader, which must not lead then. Remembers the Lease between two calls, to tell a
 * renewed one from one that a stopped operator left behind. Never writes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

#define LEADERKEDA_LEASE "operator.keda.sh"

struct leaderkeda;

enum leaderkeda_verdict {
	LEADERKEDA_UNKNOWN, /* the Lease could not be read */
	/* no Lease, no holder, or expired; also if we may not read it, which is warned of once */
	LEADERKEDA_ABSENT,
	LEADERKEDA_ACTIVE,
};

/* err: why the verdict is unknown, otherwise NULL. */
typedef void (*leaderkeda_fn)(void *arg, enum leaderkeda_verdict verdict, const struct err *err);

struct leaderkeda *leaderkeda_new(struct kube *kube, const char *namespace_);
void leaderkeda_free(struct leaderkeda *k);

/* cancels a call that is still open */
void leaderkeda_ask(struct leaderkeda *k, int64_t deadline_ms, leaderkeda_fn fn, void *arg);
bool leaderkeda_is_asking(const struct leaderkeda *k);
void leaderkeda_cancel(struct leaderkeda *k);              /* no callback then */
const char *leaderkeda_holder(const struct leaderkeda *k); /* as last seen; borrowed */

#endif
