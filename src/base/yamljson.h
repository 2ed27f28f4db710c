/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAMLJSON_H
#define BASE_YAMLJSON_H

/*
 * YAML documents one after the other as JSON, with the places of their values: libyaml's events,
 * with caps on depth and size that also aliases count against. What words without quotes mean is as
 * in kubectl's reader (sigs.k8s.io/yaml: YAML 1.1). Called by cli/documents for manifests, and by
 * scalers/metricsapi/yamlpath for answers; keeps nothing.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/places.h"

#define YAMLJSON_DEPTH_MAX 100

/* Of one document, aliases counted with all that is below them: of a file, and of a stranger. */
#define YAMLJSON_VALUES_MAX         1000000
#define YAMLJSON_FOREIGN_VALUES_MAX 32768 /* some 20 ms */

struct yamljson;

struct yamljson *yamljson_new(const char *text, size_t len, size_t values_max); /* borrows the text */
void yamljson_free(struct yamljson *y);

/*
 * The next document: 1 with *out (owned by the caller; keys of *places, which is empty before, are
 * borrowed from it), 0 at the end of the text. A document without anything in it is null. -1:
 * ERR_INVALID, `line 7: ...`; nothing more can be read then.
 */
int yamljson_next(struct yamljson *y, json_t **out, struct places *places, struct err *err);

#endif
