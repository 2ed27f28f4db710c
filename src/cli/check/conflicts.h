/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CONFLICTS_H
#define CLI_CHECK_CONFLICTS_H

/*
 * ScaledObjects of the input that conflict, because they have the same target or the same HPA:
 * applies decide/validate's rule to each pair with an equal name, found by sorting, so that it is
 * fast for thousands of objects. The conflict belongs to the later object.
 */

#include <stddef.h>

#include "crd/scaledobject.h"

struct conflict_entry {
	struct scaledobject *so; /* NULL: none, or its metadata cannot be decoded */
	char *hpa;               /* the name of its HPA */
	const char *name;        /* compared by: the target's or the HPA's; borrowed */
	char *conflict;          /* the message of the rule; NULL: none */
};

/* object: as it would be stored, with a placeholder for a generated name. */
void conflicts_decode(struct conflict_entry *out, const json_t *object);
/* Compares the entries, which are in the order of the input. Once. */
void conflicts_find(struct conflict_entry *entries, size_t count);
void conflicts_done(struct conflict_entry *entries, size_t count);

#endif
