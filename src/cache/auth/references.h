/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_REFERENCES_H
#define CACHE_AUTH_REFERENCES_H

/*
 * The Secrets and ConfigMaps that objects refer to, watched by name (design 7): one watch per name
 * while a namespace has at most 8 referenced names of the kind, above that one watch of the kind in
 * that namespace. Projected while parsing to the referenced names and keys; what nobody refers to
 * is never kept. A thousand objects that refer to one Secret cost one watch and one value.
 *
 * Asking is what makes a thing watched; what an object did not ask for again by the end of its
 * round it holds no more (cache/auth/holders).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/counters.h"
#include "base/err.h"
#include "base/strmap.h"
#include "cache/objects/object.h"
#include "crd/keydata.h"
#include "kube/client.h"

struct references;

#define REFERENCES_BY_NAME_MAX   8
#define REFERENCES_PER_OWNER_MAX 1024 /* keys; more are refused (REFERENCE_MISSING, ERR_INVALID) */

enum reference_state {
	/*
	 * not known yet: the owner is told when it is. *err says what is waited for: ERR_WAITING,
	 * or ERR_TEMPORARY with the reason once it is known why it cannot be read
	 */
	REFERENCE_UNREAD,
	/*
	 * no such object, or no such key in it: ERR_MISSING naming kind, namespace, name and key.
	 * What can never be there or is no text: ERR_INVALID
	 */
	REFERENCE_MISSING,
	REFERENCE_FOUND,
	/*
	 * we may not read it and know nothing of it: ERR_DENIED naming what to grant. What was read
	 * before stays FOUND
	 */
	REFERENCE_DENIED,
};

struct references *references_new(struct kube *kube);
void references_free(struct references *r);                            /* wipes */
void references_listen(struct references *r, object_fn fn, void *arg); /* as holders_listen */

/*
 * One key. *value is borrowed until the loop turns. Only between begin and end of a round of owner
 * (cache/auth/holders). An
 * empty value is REFERENCE_FOUND with "".
 */
enum reference_state references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err);

/* All of it (envFrom) but what is no text. *data is borrowed until the loop turns. */
enum reference_state references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err);

struct references_stats {
	size_t objects, watches;
};
struct references_stats references_stats(const struct references *r);

#endif
