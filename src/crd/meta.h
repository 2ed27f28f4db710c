/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_META_H
#define CRD_META_H

/*
 * metadata of a Kubernetes object, as far as anybody here looks at it. A plain value that owns its
 * strings. kubectl's last-applied-configuration annotation is left out while decoding, a deliberate
 * difference from KEDA: it holds the whole object once more, and copied to the HPA it would make
 * `kubectl apply` there compare with the wrong object.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strmap.h"

struct owner_ref {
	char *api_version, *kind, *name, *uid; /* "" when absent; one block, which begins with the first */
	bool controller;
};

struct meta {
	char *namespace_; /* "" for cluster-scoped; the other texts are in its block */
	char *name;
	char *uid;
	char *resource_version;
	int64_t generation;
	int64_t created_unix_ms;
	int64_t deleted_unix_ms; /* deletionTimestamp; 0: not being deleted */
	struct strmap labels;
	struct strmap annotations;
	char **finalizers;
	size_t finalizer_count;
	struct owner_ref *owners;
	size_t owner_count;
};

int meta_decode(const json_t *object, struct meta *out, struct err *err); /* of the whole object; name is required */
/*
 * the same without labels, annotations, finalizers and owners: for kinds of which there are very
 * many
 */
int meta_decode_slim(const json_t *object, struct meta *out, struct err *err);
void meta_done(struct meta *m);
/*
 * Another resourceVersion of the same content, in the room of the one that stands there. false: it
 * is longer.
 */
bool meta_renew(struct meta *m, const char *version, size_t len);
bool meta_has_finalizer(const struct meta *m, const char *finalizer);
/*
 * A merge patch of the finalizers: without those of the list `drop`, which ends with NULL, and with
 * `add` (NULL: none). It is the whole list under the object's resourceVersion: when somebody
 * changed it meanwhile, the write fails and is tried anew on what there is then. The caller owns
 * it.
 */
char *meta_finalizers_patch(const struct meta *m, const char *const *drop, const char *add);
const struct owner_ref *meta_controller(const struct meta *m); /* borrowed; NULL when none */

#endif
