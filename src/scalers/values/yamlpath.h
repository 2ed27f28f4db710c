/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_YAMLPATH_H
#define SCALERS_VALUES_YAMLPATH_H

/*
 * Reads the number at a dot path of a YAML document: names of mappings, indexes of lists. Only the
 * first document counts; it must be a mapping, as in KEDA (doc/keda.md 8.10). A path that continues
 * below a scalar is an error (KEDA ignores the rest), and so are duplicate keys. Pure.
 */

#include "scalers/values/dotpath.h"
#include "scalers/values/metricvalue.h"

/* ERR_INVALID as jsonpath_read */
int yamlpath_read(const struct dotpath *path, const char *text, size_t len, metricvalue_fn read, double *out,
	struct err *err);
/* By metricvalue_of_json. */
int yamlpath_number(const struct dotpath *path, const char *answer, size_t len, double *out, struct err *err);

#endif
