/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_RIVALS_H
#define CLI_CHECK_RIVALS_H

/*
 * ScaledObjects of the input that conflict, because they have the same target or the same HPA:
 * applies decide/validate's rule to each pair with an equal name, found by sorting, so that it is
 * fast for thousands of objects. The conflict belongs to the later object. Owns the decoded
 * objects, borrows the documents.
 */

#include "base/hash.h"
#include "cli/documents.h"
#include "crd/scaledobject.h"

struct rival {
	const struct document *doc;
	struct scaledobject *so; /* owned; NULL: not even its metadata can be decoded */
	char *hpa;               /* the name of its HPA; owned */
	const char *name;        /* what it is compared by: the target's or the HPA's; borrowed */
	size_t order;            /* in the input */
	char *conflict;          /* the message of the rule; owned; NULL: none */
	UT_hash_handle hh;       /* by doc */
};

struct rivals;

struct rivals *rivals_new(void);
void rivals_free(struct rivals *r);

/* object: as it would be stored, with a placeholder for a generated name. */
void rivals_add(struct rivals *r, const struct document *doc, const json_t *object);
void rivals_find(struct rivals *r); /* once, after all are added */

const struct rival *rivals_get(const struct rivals *r, const struct document *doc); /* NULL: not added */

#endif
