/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GRAPHITE_GRAPHITEREPLY_H
#define SCALERS_GRAPHITE_GRAPHITEREPLY_H

/* Reads an answer of Graphite's /render?format=json: the last value of one series. Pure. */

#include <stddef.h>

#include "base/err.h"

/*
 * 0 with a finite *value, which is 0 for no series or a series without points, as in KEDA. -1 with
 * err for several series, a series with null only, and any other answer.
 */
int graphitereply_read(const char *body, size_t len, double *value, struct err *err);

#endif
