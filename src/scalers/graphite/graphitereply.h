/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GRAPHITE_GRAPHITEREPLY_H
#define SCALERS_GRAPHITE_GRAPHITEREPLY_H

/* Reads an answer of Graphite's /render?format=json: the last value of one series. Pure. */

#include <stddef.h>

#include "base/err.h"

/*
 * 0 with a finite *value, which is 0 when there is no series, or none with points, as in KEDA; -1
 * with err: several series, a series of nothing but null, and what is no such answer.
 */
int graphitereply_read(const char *body, size_t len, double *value, struct err *err);

#endif
