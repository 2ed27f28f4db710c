/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_LEADER_LEADERLEASE_H
#define CONTROL_LEADER_LEADERLEASE_H

/*
 * The Lease that control/leader competes for: its last known content, what we wrote into it, and
 * the texts to write next. Decides whether a record with our identity is ours (a write whose answer
 * was lost, a restart) or another process's with the same identity. No I/O, no clock.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "control/leader/leaderrecord.h"

#define LEADERLEASE_STAMPS 64 /* more than the writes in doubt between two answers */

/* Whether the server's Lease names us as holder. */
enum leaderlease_hold {
	LEADERLEASE_NOT_HELD,
	/* not read yet; held by a former process; a write is under way, or its answer was lost */
	LEADERLEASE_MAYBE_HELD,
	LEADERLEASE_HELD
};

struct leaderlease {
	char *namespace_, *name, *identity; /* owned */
	struct leaderrecord record;
	json_t *object; /* owned; as last read or written; NULL if it does not exist */
	/* at the first read it had our identity, and is unchanged since: a restart */
	bool resume;
	enum leaderlease_hold hold;
	int64_t stamps[LEADERLEASE_STAMPS]; /* renewTimes that we wrote or tried to write */
	unsigned stamp_count;
};

void leaderlease_init(struct leaderlease *l, const char *namespace_, const char *name, const char *identity);
void leaderlease_done(struct leaderlease *l);

int leaderlease_see(struct leaderlease *l, const json_t *object, int64_t now_ms, struct err *err);
void leaderlease_see_nothing(struct leaderlease *l, int64_t now_ms); /* there is no such Lease */

bool leaderlease_names_us(const struct leaderlease *l);
/* it has our identity, and was written by this process or before its start */
bool leaderlease_is_ours(const struct leaderlease *l);
const char *leaderlease_holder(const struct leaderlease *l); /* borrowed; "" if none */

/*
 * The body to create or update it with, under the last resourceVersion; other parts of the object
 * (labels) are kept. From now on it may be held. The caller owns the text. disclaim: without a
 * holder, like client-go's ReleaseOnCancel.
 */
char *leaderlease_claim(struct leaderlease *l, int64_t duration_s, int64_t now_unix_ms);
char *leaderlease_disclaim(struct leaderlease *l, int64_t now_unix_ms);

#endif
