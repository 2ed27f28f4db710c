/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CONFLICTS_H
#define CLI_CHECK_CONFLICTS_H

/*
 * ScaledObjects of the input that conflict, because they have the same target or the same HPA:
 * applies decide/validate's rule to each pair with an equal name, found by sorting, so that it is
 * fast for thousands of objects. The conflict belongs to the later object. Owns the decoded
 * objects, borrows the documents.
 */

#include "base/hash.h"
#include "cli/documents.h"
#include "crd/scaledobject.h"

struct conflict_entry {
	const struct document *doc;
	struct scaledobject *so; /* owned; NULL: its metadata cannot be decoded */
	char *hpa;               /* the name of its HPA; owned */
	const char *name;        /* compared by: the target's or the HPA's; borrowed */
	size_t order;            /* in the input */
	char *conflict;          /* the message of the rule; owned; NULL: none */
	UT_hash_handle hh;       /* by doc */
};

struct conflicts;

struct conflicts *conflicts_new(void);
void conflicts_free(struct conflicts *r);

/* object: as it would be stored, with a placeholder for a generated name. */
void conflicts_add(struct conflicts *r, const struct document *doc, const json_t *object);
void conflicts_find(struct conflicts *r); /* once, after all are added */

const struct conflict_entry *conflicts_get(const struct conflicts *r, const struct document *doc); /* NULL: not added */

#endif
