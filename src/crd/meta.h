/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_META_H
#define CRD_META_H

/*
 * The metadata of a Kubernetes object that kscaled uses. A plain value that owns its strings.
 * Unlike KEDA, decoding drops kubectl's last-applied-configuration annotation: it repeats the whole
 * object, and a copy of it on the HPA would make `kubectl apply` compare with the wrong object.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strmap.h"

struct owner_ref {
	char *api_version, *kind, *name, *uid; /* "" when absent; one allocation, owned by the first */
	bool controller;
};

struct meta {
	char *namespace_; /* "" for cluster-scoped; owns the allocation that also holds the next three */
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

/*
 * From a whole object, which must have a name. What the API server stores is never refused, or its
 * owner would get no message: lists have any length, and in labels and annotations U+FFFD replaces
 * a NUL. *out is the caller's (meta_done), empty on an error: ERR_INVALID with the path.
 */
int meta_decode(const json_t *object, struct meta *out, struct err *err);
/* The same without labels, annotations, finalizers and owners, for kinds with very many objects. */
int meta_decode_slim(const json_t *object, struct meta *out, struct err *err);
void meta_done(struct meta *m);
/*
 * Overwrites resourceVersion in place, for a new version with the same content. False if it is
 * longer than the old one.
 */
bool meta_renew(struct meta *m, const char *version, size_t len);
bool meta_has_finalizer(const struct meta *m, const char *finalizer);
/*
 * A merge patch of the finalizers, without those in the NULL-terminated list `drop` and with `add`
 * (NULL: none). It contains the whole list and the resourceVersion, so it fails if the object has
 * changed meanwhile; the caller then retries with the new object. The caller owns the text.
 */
char *meta_finalizers_patch(const struct meta *m, const char *const *drop, const char *add);
const struct owner_ref *meta_controller(const struct meta *m); /* borrowed; NULL if none */
/* The same in an object's JSON: an entry of metadata.ownerReferences. */
const json_t *meta_controller_in(const json_t *object);
/* Whether the entry refers to a `kind` of keda.sh. */
bool meta_refers_to(const json_t *reference, const char *kind);

#endif
