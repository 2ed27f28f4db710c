/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KEYNUMBER_H
#define SCALERS_CLUSTER_KEYNUMBER_H

/*
 * Reads the number from a key of a ConfigMap or Secret, by format, valueType and valueLocation of a
 * kubernetes-resource trigger (doc/keda.md 8.18). Errors never show the text, which may be a
 * secret. Pure.
 *
 *   number   float64, int64: the number that the text begins with ("12abc" is 12); quantity: the
 *            whole text without surrounding white space
 *   json     float64, quantity: a number, or a string that is a quantity; int64: a number without
 *            its fraction
 *   yaml     a number for every valueType; from a string quantity reads a quantity, the others the
 *            number that it begins with, unlike json ("500m" is 500)
 */

#include <stddef.h>

#include "base/err.h"
#include "scalers/values/dotpath.h"
#include "scalers/values/jsonpath.h"

enum keynumber_format { KEYNUMBER_NUMBER, KEYNUMBER_JSON, KEYNUMBER_YAML };
enum keynumber_type { KEYNUMBER_FLOAT64, KEYNUMBER_INT64, KEYNUMBER_QUANTITY };

struct keynumber {
	enum keynumber_format format;
	enum keynumber_type type;
	char *location;        /* owned; NULL: format number */
	struct jsonpath *json; /* owned; this or yaml, by format */
	struct dotpath yaml;
};

/* ERR_INVALID about valueLocation; location NULL: absent. keynumber_done in any case. */
int keynumber_init(struct keynumber *k, enum keynumber_format format, enum keynumber_type type, const char *location,
	struct err *err);
void keynumber_done(struct keynumber *k);
void keynumber_copy(struct keynumber *to, const struct keynumber *from);

int keynumber_read(const struct keynumber *k, const char *text, size_t len, double *out, struct err *err);

extern const char *const keynumber_formats[], *const keynumber_types[]; /* by number; NULL-terminated */

#endif
