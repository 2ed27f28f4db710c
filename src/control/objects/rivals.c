/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two objects that name one target or one HPA: cache/admit says who was there first. Here only who
 * must be looked at anew when an object comes, goes or changes its mind: those that lay the same
 * claim (cache/objects/store).
 */
#include <string.h>

#include "cache/admit.h"
#include "control/objects/object.h"

static struct rivals_part claims_of(const struct scaledobject *so)
{
	struct store_claims claims = store_claims_of(so);

	return (struct rivals_part){
		.noted = true,
		.at_work = so->status.hpa_name && *so->status.hpa_name,
		.target = claims.target,
		.hpa = claims.hpa,
	};
}

/* The next of the others that lay this claim; NULL: there is none. */
static const char *next_sharer(const struct object *o, uint64_t claim, size_t *at)
{
	const char *key;

	do
		key = store_next_claim(o->control->cache->store, claim, at);
	while (key && strcmp(key, o->key) == 0);
	return key;
}

static void look_at_sharers(const struct object *o, uint64_t claim)
{
	const char *key;

	for (size_t at = 0; (key = next_sharer(o, claim, &at));) {
		struct object *other = object_known(o->control, key);

		if (other)
			queue_mark(other);
	}
}

static void look_at_rivals(const struct object *o, const struct rivals_part *claims)
{
	if (!claims->noted)
		return;
	look_at_sharers(o, claims->target);
	look_at_sharers(o, claims->hpa);
}

void rivals_note(struct object *o, const struct scaledobject *so)
{
	struct rivals_part was = o->rivals, is = so ? claims_of(so) : (struct rivals_part){ 0 };

	if (was.noted == is.noted && was.at_work == is.at_work && was.target == is.target && was.hpa == is.hpa)
		return;
	o->rivals = is;
	look_at_rivals(o, &was);
	look_at_rivals(o, &is);
}

bool rivals_refuse(const struct object *o, const struct scaledobject *so, struct err *err)
{
	size_t at = 0, hpa_at = 0;
	bool any = next_sharer(o, o->rivals.target, &at) || next_sharer(o, o->rivals.hpa, &hpa_at);

	return any && admit_among_others(o->control->cache->store, so, err);
}
