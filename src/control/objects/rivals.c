/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that name the same target or HPA: cache/admit decides which was first. This file only
 * marks the others with the same claim (cache/objects/store) when an object is created, deleted or
 * changes its claims.
 */
#include "control/objects/rivals.h"

#include "cache/admit.h"
#include "control/objects/queue.h"
#include "control/objects/work.h"

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

/* The next other object with this claim; NULL: there is none. */
static struct object *next_sharer(const struct work *work, uint64_t claim, const struct index_entry **at)
{
	struct object *other;

	do
		other = store_next_claim(work->control->cache->store, claim, at);
	while (other == work->object);
	return other;
}

static void look_at_sharers(const struct work *work, uint64_t claim)
{
	const struct object *other;

	for (const struct index_entry *at = NULL; (other = next_sharer(work, claim, &at));)
		if (other->work)
			queue_mark(other->work);
}

static void look_at_rivals(const struct work *work, const struct rivals_part *claims)
{
	if (!claims->noted)
		return;
	look_at_sharers(work, claims->target);
	look_at_sharers(work, claims->hpa);
}

void rivals_note(struct work *work)
{
	const struct scaledobject *so = work->object->of.so;
	struct rivals_part was = work->rivals, is = so ? claims_of(so) : (struct rivals_part){ 0 };

	if (was.noted == is.noted && was.at_work == is.at_work && was.target == is.target && was.hpa == is.hpa)
		return;
	work->rivals = is;
	look_at_rivals(work, &was);
	look_at_rivals(work, &is);
}

bool rivals_refuse(const struct work *work, const struct scaledobject *so, struct err *err)
{
	const struct index_entry *at = NULL, *hpa_at = NULL;
	bool any = next_sharer(work, work->rivals.target, &at) || next_sharer(work, work->rivals.hpa, &hpa_at);

	return any && admit_among_others(work->control->cache->store, so, err);
}
