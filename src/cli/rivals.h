/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RIVALS_H
#define CLI_RIVALS_H

/*
 * ScaledObjects of the input that want the same workload or the same HPA:
 * decide/validate's rule for each pair that may break it, found by sorting, so that
 * thousands of objects cost no more than that. Of two the later one in the input is told. Owns the
 * decoded objects, borrows the documents.
 */

#include "cli/documents.h"
#include "crd/scaledobject.h"

struct rivals;

struct rivals *rivals_new(void);
void rivals_free(struct rivals *r);

void rivals_add(struct rivals *r, const struct document *doc, const json_t *object /* as it would be stored */);
void rivals_find(struct rivals *r); /* once, when all are there */

/*
 * NULL when not even its metadata can be read: that says the schema. A name that is generated has a
 * stand-in.
 */
const struct scaledobject *rivals_object(const struct rivals *r, const struct document *doc);

/* The rule's message; NULL: nobody is in its way. */
const char *rivals_say(const struct rivals *r, const struct document *doc);

#endif
