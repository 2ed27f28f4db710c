/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leaderrecord.h"

#include <string.h>

/* The API has an int32; a foreign value must not overflow the sums below. */
static int64_t duration_ms(const struct lease *lease)
{
	if (lease->duration_s <= 0)
		return 0;
	return (lease->duration_s > INT32_MAX ? (int64_t)INT32_MAX : lease->duration_s) * 1000;
}

static const char *holder_of(const struct lease *lease)
{
	return lease->holder ? lease->holder : "";
}

static bool same_record(const struct lease *a, const struct lease *b)
{
	return strcmp(holder_of(a), holder_of(b)) == 0 && a->duration_s == b->duration_s &&
		a->acquired_unix_ms == b->acquired_unix_ms && a->renewed_unix_ms == b->renewed_unix_ms &&
		a->transitions == b->transitions;
}

bool leaderrecord_see(struct leaderrecord *r, struct lease *lease, int64_t now_ms)
{
	bool same = r->looked && r->present == (lease != NULL) && (!lease || same_record(&r->lease, lease));

	if (r->looked && !same)
		r->changed = true;
	if (!same)
		r->since_ms = now_ms;
	r->looked = true;
	r->present = lease != NULL;
	lease_done(&r->lease);
	memset(&r->lease, 0, sizeof r->lease);
	if (lease) {
		r->lease = *lease;
		memset(lease, 0, sizeof *lease);
	}
	return !same;
}

void leaderrecord_done(struct leaderrecord *r)
{
	lease_done(&r->lease);
	memset(r, 0, sizeof *r);
}

bool leaderrecord_held(const struct leaderrecord *r)
{
	return r->present && holder_of(&r->lease)[0];
}

bool leaderrecord_held_by(const struct leaderrecord *r, const char *identity)
{
	return leaderrecord_held(r) && strcmp(holder_of(&r->lease), identity) == 0;
}

bool leaderrecord_expired(const struct leaderrecord *r, int64_t now_ms)
{
	return now_ms - r->since_ms >= duration_ms(&r->lease);
}

bool leaderrecord_alive(const struct leaderrecord *r, int64_t now_ms)
{
	return leaderrecord_held(r) && !leaderrecord_expired(r, now_ms);
}
