/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_REFERENCES_H
#define CACHE_AUTH_REFERENCES_H

/*
 * The Secrets and ConfigMaps that objects refer to, and the annotations (as keys) of
 * ServiceAccounts, watched by name: one watch per name while a namespace has at most 8 referenced
 * names of the kind, above that one watch of the kind in that namespace. Only referenced names and
 * keys are kept, others are dropped while parsing. A thousand objects that refer to one Secret cost
 * one watch and one value.
 *
 * A request starts the watch; what an object did not request again by the end of its round is
 * released (cache/auth/holders).
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
	 * not known yet; the owner is notified later. *err: ERR_WAITING, or ERR_TEMPORARY with the
	 * reason why it cannot be read
	 */
	REFERENCE_UNREAD,
	/*
	 * no such object or key: ERR_MISSING naming kind, namespace, name and key. Impossible names
	 * and values that are not text: ERR_INVALID
	 */
	REFERENCE_MISSING,
	REFERENCE_FOUND,
	/*
	 * access denied and nothing known: ERR_DENIED naming the permission to grant. Values read
	 * before stay FOUND
	 */
	REFERENCE_DENIED,
};

struct references *references_new(struct kube *kube);
void references_free(struct references *r);                            /* wipes */
void references_listen(struct references *r, object_fn fn, void *arg); /* as holders_listen */

/*
 * Looks up one key. *value is borrowed until the end of the turn. Only within a round of owner
 * (cache/auth/holders). An empty value is REFERENCE_FOUND with "".
 */
enum reference_state references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err);

/*
 * Looks up all keys (envFrom) whose values are text. *data is borrowed until the end of the turn.
 */
enum reference_state references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err);

struct references_stats {
	size_t objects, watches;
};
struct references_stats references_stats(const struct references *r);

#endif
