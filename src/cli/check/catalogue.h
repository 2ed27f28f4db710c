/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CATALOGUE_H
#define CLI_CHECK_CATALOGUE_H

/*
 * Index of the input's objects by kind, namespace and name, for references between them. Owns what
 * it decodes; borrows the documents, which outlive it.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/hash.h"
#include "base/strmap.h"
#include "cli/documents.h"
#include "crd/keydata.h"
#include "crd/triggerauth.h"

struct catalogue;

/* One object; the last of several with the same name, as `kubectl apply` would leave it. */
struct catalogue_entry {
	char *key; /* "Secret/shop/redis"; owned */
	const struct document *doc;
	bool faulty;  /* a faulty authentication; reported once, not by each reference */
	bool decoded; /* the next three are filled; read them by the functions below */
	struct triggerauth *auth;
	struct strmap data, unreadable;
	UT_hash_handle hh;
};

struct catalogue *catalogue_new(const char *default_namespace); /* of objects without one; borrowed */
void catalogue_free(struct catalogue *c);                       /* wipes values of Secrets */

/*
 * Returns the earlier document of the same object; NULL: none. Objects that sops has encrypted are
 * not added, as their content is unknown.
 */
const struct document *catalogue_add(struct catalogue *c, const struct document *doc);

/* The namespace of an object; "": cluster-wide. Borrowed. */
const char *catalogue_namespace(const struct catalogue *c, const json_t *object);

/*
 * A copy of an object as it would be stored: with its namespace, and a placeholder for a name that
 * is generated or missing. The caller owns it.
 */
json_t *catalogue_placed(const struct catalogue *c, const json_t *object);

/* NULL: not in the input. namespace_ "": cluster-wide. */
struct catalogue_entry *catalogue_find(struct catalogue *c, const char *kind, const char *namespace_, const char *name);

/* NULL: its metadata cannot be decoded, which is reported for the object itself. */
const struct triggerauth *catalogue_triggerauth(const struct catalogue *c, struct catalogue_entry *e);

/* The values of a Secret (data and stringData) or ConfigMap; *unreadable: why a key is unusable. */
const struct strmap *catalogue_data(struct catalogue_entry *e, enum keydata_kind kind,
	const struct strmap **unreadable);

/*
 * The objects of a kind in a namespace, as a JSON array; NULL: none. Only of
 * HorizontalPodAutoscaler and LimitRange.
 */
const json_t *catalogue_list(const struct catalogue *c, const char *kind, const char *namespace_);

#endif
