/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_YAMLPATH_H
#define SCALERS_METRICSAPI_YAMLPATH_H

/*
 * The number at a dot path of a YAML answer: names of mappings, indexes of lists. The first
 * document counts, and it is a mapping, as in KEDA (keda-scalers.md A.8). Not as there: a path that
 * goes on behind a scalar leads nowhere (there it is cut off), and a key that stands twice is an
 * error. Pure.
 */

#include "scalers/metricsapi/dotpath.h"

/* ERR_INVALID as jsonpath_number */
int yamlpath_number(const struct dotpath *path, const char *answer, size_t len, double *out, struct err *err);

#endif
