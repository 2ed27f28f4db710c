/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leaderlease.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void leaderlease_init(struct leaderlease *l, const char *namespace_, const char *name, const char *identity)
{
	memset(l, 0, sizeof *l);
	l->hold = LEADERLEASE_MAYBE_HELD;
	l->namespace_ = mem_dup(namespace_);
	l->name = mem_dup(name);
	l->identity = mem_dup(identity);
}

void leaderlease_done(struct leaderlease *l)
{
	leaderrecord_done(&l->record);
	json_decref(l->object);
	free(l->namespace_);
	free(l->name);
	free(l->identity);
	memset(l, 0, sizeof *l);
}

/* ---- Reading ---- */

int leaderlease_see(struct leaderlease *l, const json_t *object, int64_t now_ms, struct err *err)
{
	struct lease lease;
	bool first = !l->record.looked, changed;

	if (lease_decode(object, &lease, err) != 0)
		return -1;
	json_decref(l->object);
	l->object = json_deep_copy(object);
	changed = leaderrecord_see(&l->record, &lease, now_ms);
	if (first)
		l->resume = leaderlease_names_us(l);
	else if (changed)
		l->resume = false;
	if (!leaderlease_names_us(l))
		l->hold = LEADERLEASE_NOT_HELD;
	return 0;
}

void leaderlease_see_nothing(struct leaderlease *l, int64_t now_ms)
{
	json_decref(l->object);
	l->object = NULL;
	l->resume = false;
	l->hold = LEADERLEASE_NOT_HELD;
	leaderrecord_see(&l->record, NULL, now_ms);
}

bool leaderlease_names_us(const struct leaderlease *l)
{
	return leaderrecord_held_by(&l->record, l->identity);
}

bool leaderlease_is_ours(const struct leaderlease *l)
{
	unsigned count = l->stamp_count < LEADERLEASE_STAMPS ? l->stamp_count : LEADERLEASE_STAMPS;
	bool ours = l->resume;

	for (unsigned i = 0; i < count; i++)
		ours = ours || l->stamps[i] == l->record.lease.renewed_unix_ms;
	return ours && leaderlease_names_us(l);
}

const char *leaderlease_holder(const struct leaderlease *l)
{
	return leaderrecord_held(&l->record) ? l->record.lease.holder : "";
}

/* ---- Writing ---- */

/* Each of our writes has a unique renewTime. */
static int64_t new_stamp(struct leaderlease *l, int64_t now_unix_ms)
{
	int64_t last = l->stamps[(l->stamp_count + LEADERLEASE_STAMPS - 1) % LEADERLEASE_STAMPS];
	int64_t stamp = now_unix_ms == last ? now_unix_ms + 1 : now_unix_ms;

	l->stamps[l->stamp_count % LEADERLEASE_STAMPS] = stamp;
	if (++l->stamp_count == 2 * LEADERLEASE_STAMPS)
		l->stamp_count = LEADERLEASE_STAMPS;
	return stamp;
}

/* acquired_unix_ms 0: now */
static char *write_text(struct leaderlease *l, char *holder, int64_t duration_s, int64_t acquired_unix_ms,
	int64_t transitions, int64_t now_unix_ms)
{
	int64_t stamp = new_stamp(l, now_unix_ms);
	struct lease lease = {
		.resource_version = l->record.lease.resource_version,
		.holder = holder,
		.duration_s = duration_s,
		.acquired_unix_ms = acquired_unix_ms ? acquired_unix_ms : stamp,
		.renewed_unix_ms = stamp,
		.transitions = transitions,
	};
	char *text = lease_encode(l->namespace_, l->name, &lease);
	json_t *encoded;

	l->hold = LEADERLEASE_MAYBE_HELD;
	if (!l->object)
		return text;
	encoded = json_parse(text, strlen(text), NULL);
	json_object_set(l->object, "spec", json_object_get(encoded, "spec"));
	json_decref(encoded);
	free(text);
	return json_text(l->object);
}

char *leaderlease_claim(struct leaderlease *l, int64_t duration_s, int64_t now_unix_ms)
{
	const struct lease *seen = &l->record.lease;
	bool held = leaderlease_names_us(l);

	return write_text(l, l->identity, duration_s, held ? seen->acquired_unix_ms : 0,
		seen->transitions + (l->record.present && !held ? 1 : 0), now_unix_ms);
}

/* The least duration that the API allows, for candidates that look only at the times. */
char *leaderlease_disclaim(struct leaderlease *l, int64_t now_unix_ms)
{
	return write_text(l, (char[]){ "" }, 1, 0, l->record.lease.transitions, now_unix_ms);
}
