/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_LEADER_LEADERRECORD_H
#define CONTROL_LEADER_LEADERRECORD_H

/*
 * The last known content of a Lease, and since when by our own clock. A Lease has expired when its
 * record has not changed here for its duration; its times are not compared with ours, so that
 * clocks may differ (k8s.io/client-go/tools/leaderelection: observedRecord, observedTime). A value;
 * pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "crd/lease.h"

struct leaderrecord { /* zeroed: never read */
	bool looked;  /* it was read, or does not exist */
	bool present;
	bool changed;     /* it changed between two reads: its holder is, or was, alive */
	int64_t since_ms; /* loop clock: when this content was first read */
	struct lease lease;
};

/*
 * Takes the content of *lease (NULL: it does not exist). True if the record has changed since the
 * last read; a new resourceVersion alone is not a change.
 */
bool leaderrecord_see(struct leaderrecord *r, struct lease *lease, int64_t now_ms);
void leaderrecord_done(struct leaderrecord *r);

bool leaderrecord_held(const struct leaderrecord *r); /* it exists and names a holder */
bool leaderrecord_held_by(const struct leaderrecord *r, const char *identity);
bool leaderrecord_expired(const struct leaderrecord *r, int64_t now_ms); /* unchanged here for its whole duration */

/* Held, and not known to be abandoned: for Leases that we respect without competing for them. */
bool leaderrecord_alive(const struct leaderrecord *r, int64_t now_ms);

#endif
