/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two objects that name one target or one HPA: cache/admit says who was there first. Here only who must be looked at anew when an object comes, goes or changes its mind, without comparing each with
 * each: claims are counted by fingerprint, and what two claim by chance costs a look, no more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "cache/admit.h"
#include "control/object.h"

struct claim {
	uint64_t mark;
	unsigned count;
	UT_hash_handle hh;
};

static struct claim *claim_find(const struct control *c, uint64_t mark)
{
	struct claim *claim;

	HASH_FIND(hh, c->claims, &mark, sizeof(mark), claim);
	return claim;
}

static void claim_add(struct control *c, uint64_t mark)
{
	struct claim *claim = claim_find(c, mark);

	if (!claim) {
		claim = mem_zalloc(sizeof(*claim));
		claim->mark = mark;
		HASH_ADD(hh, c->claims, mark, sizeof(claim->mark), claim);
	}
	if (++claim->count == 2)
		c->shared_claims++;
}

static void claim_drop(struct control *c, uint64_t mark)
{
	struct claim *claim = claim_find(c, mark);

	if (!claim)
		return;
	if (--claim->count == 1)
		c->shared_claims--;
	if (claim->count > 0)
		return;
	HASH_DELETE(hh, c->claims, claim);
	free(claim);
}

/* What it is that is claimed tells a target from an HPA of the same name. */
static uint64_t mark_of(const struct scaledobject *so, const char *what, const char *name)
{
	MEM_AUTO char *text = mem_printf("%s %s/%s", what, so->meta.namespace_, name);

	return fingerprint_fast(text, strlen(text));
}

static struct rivals_part claims_of(const struct scaledobject *so)
{
	char name[254];

	return (struct rivals_part){
		.noted = true,
		.at_work = so->status.hpa_name && *so->status.hpa_name,
		.target = mark_of(so, scaledobject_target_kind(&so->spec), so->spec.target_name ? so->spec.target_name : ""),
		.hpa = mark_of(so, "HPA", scaledobject_hpa_name(so, name, sizeof(name))),
	};
}

static bool shared(const struct control *c, uint64_t mark)
{
	const struct claim *claim = c->shared_claims > 0 ? claim_find(c, mark) : NULL;

	return claim && claim->count > 1;
}

static void look_at_sharers(struct object *o, const struct rivals_part *claims)
{
	struct object *other, *next;

	if (!claims->noted || (!shared(o->control, claims->target) && !shared(o->control, claims->hpa)))
		return;
	HASH_ITER(hh, o->control->objects, other, next)
		if (other != o && other->rivals.noted && (other->rivals.target == claims->target || other->rivals.hpa == claims->hpa))
			queue_mark(other);
}

void rivals_note(struct object *o, const struct scaledobject *so)
{
	struct control *c = o->control;
	struct rivals_part was = o->rivals, is = so ? claims_of(so) : (struct rivals_part){ 0 };

	if (was.noted == is.noted && was.at_work == is.at_work && was.target == is.target && was.hpa == is.hpa)
		return;
	look_at_sharers(o, &was);
	if (was.noted) {
		claim_drop(c, was.target);
		claim_drop(c, was.hpa);
	}
	if (is.noted) {
		claim_add(c, is.target);
		claim_add(c, is.hpa);
	}
	o->rivals = is;
	look_at_sharers(o, &is);
}

bool rivals_refuse(const struct object *o, const struct scaledobject *so, struct err *err)
{
	bool any = shared(o->control, o->rivals.target) || shared(o->control, o->rivals.hpa);

	return any && admit_among_others(o->control->cache->store, so, err);
}
