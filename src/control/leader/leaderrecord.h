/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_LEADER_LEADERRECORD_H
#define CONTROL_LEADER_LEADERRECORD_H

/*
 * What was last seen of a Lease, and since when by our own clock. Whether a Lease has run out is
 * judged by how long its record has stayed the same here, never by comparing its times with ours,
 * so that clocks that differ do no harm (k8s.io/client-go/tools/leaderelection: observedRecord,
 * observedTime). A value; pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "crd/lease.h"

struct leaderrecord { /* zero-initialised: never looked */
	bool looked;  /* it was read, or found to be absent */
	bool present;
	bool changed;     /* it changed between two looks: somebody is, or was, alive */
	int64_t since_ms; /* loop clock: when this content was first seen */
	struct lease lease;
};

/*
 * Takes the content of *lease (NULL: there is no such Lease). True when the record is another than
 * at the last look; a new resourceVersion alone is none.
 */
bool leaderrecord_see(struct leaderrecord *r, struct lease *lease, int64_t now_ms);
void leaderrecord_done(struct leaderrecord *r);

bool leaderrecord_held(const struct leaderrecord *r); /* it exists and names a holder */
bool leaderrecord_held_by(const struct leaderrecord *r, const char *identity);
bool leaderrecord_expired(const struct leaderrecord *r, int64_t now_ms); /* seen unchanged for its whole duration */

/*
 * Held, and renewed lately: by its own times at the first look, by having seen it change
 * afterwards. For Leases that we respect without competing for them.
 */
bool leaderrecord_alive(const struct leaderrecord *r, int64_t now_ms, int64_t now_unix_ms);

#endif
