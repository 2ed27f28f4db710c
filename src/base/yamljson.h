/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAMLJSON_H
#define BASE_YAMLJSON_H

/*
 * Converts a stream of YAML documents to JSON, with the places of their values. Reads libyaml's
 * events; caps depth and size. An alias counts as much as its value, so that a small text cannot
 * stand for a huge document. Plain scalars are resolved as by kubectl (sigs.k8s.io/yaml: YAML 1.1).
 * Called by cli/documents for manifests, by scalers/values/yamlpath for answers and by
 * kube/kubeconfig.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/places.h"

#define YAMLJSON_DEPTH_MAX 100

/* Caps on the values of one document: of a user's file, and of a server's answer. */
#define YAMLJSON_VALUES_MAX         1000000
#define YAMLJSON_FOREIGN_VALUES_MAX 32768 /* some 20 ms */

struct yamljson;

struct yamljson *yamljson_new(const char *text, size_t len, size_t values_max); /* borrows text */
void yamljson_free(struct yamljson *y);

/* From now on all scalars but null remain texts (yamlscalar_text): for fields that are strings. */
void yamljson_keep_texts(struct yamljson *y);

/*
 * Reads the next document: 1 and *out, which the caller owns and whose keys *places borrows
 * (*places must be empty before); 0 at the end of the text. An empty document is null. -1:
 * ERR_INVALID, `line 7: ...`; no more documents can be read.
 */
int yamljson_next(struct yamljson *y, json_t **out, struct places *places, struct err *err);

#endif
