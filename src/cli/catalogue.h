/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CATALOGUE_H
#define CLI_CATALOGUE_H

/*
 * The objects of the input by kind, namespace and name, for those who refer to them. Owns what it
 * decodes; borrows the documents, which outlive it.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"
#include "cli/documents.h"
#include "crd/keydata.h"
#include "crd/triggerauth.h"

struct catalogue;

/* One object; of two with one name the last one, as `kubectl apply` has it in the end. */
struct catalogue_entry;

struct catalogue *catalogue_new(const char *default_namespace); /* of objects that name none; borrowed */
void catalogue_free(struct catalogue *c);                       /* wipes what came from Secrets */

/*
 * NULL, or the document with the same name that was there before. Secrets that sops has encrypted
 * are left out: nobody can say what is in them.
 */
const struct document *catalogue_add(struct catalogue *c, const struct document *doc);

/* The namespace that a document's object is in: "" for what is cluster-wide. Borrowed. */
const char *catalogue_namespace(const struct catalogue *c, const json_t *object);

/*
 * A copy, as it would be stored: with the namespace that it is in, and a stand-in for a name that
 * is generated or missing. The caller owns it.
 */
json_t *catalogue_placed(const struct catalogue *c, const json_t *object);

/* NULL: not in the input. namespace_ "" for what is cluster-wide. */
struct catalogue_entry *catalogue_find(struct catalogue *c, const char *kind, const char *namespace_, const char *name);
const struct document *catalogue_document(const struct catalogue_entry *e);

/* NULL when not even its metadata can be read (which its own judgement says). */
const struct triggerauth *catalogue_triggerauth(const struct catalogue *c, struct catalogue_entry *e);
/* its own judgement found something that everybody who refers to it would say again */
void catalogue_set_faulty(struct catalogue_entry *e);
bool catalogue_is_faulty(const struct catalogue_entry *e);

/* Values of a Secret (data and stringData) or ConfigMap, and why some cannot be used. */
const struct strmap *catalogue_data(struct catalogue_entry *e, enum keydata_kind kind,
	const struct strmap **unreadable);

/*
 * The objects of a kind in a namespace, a JSON array; NULL: there are none. For
 * HorizontalPodAutoscaler and LimitRange.
 */
const json_t *catalogue_list(const struct catalogue *c, const char *kind, const char *namespace_);

#endif
