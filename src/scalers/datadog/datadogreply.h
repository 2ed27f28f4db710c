/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_DATADOG_DATADOGREPLY_H
#define SCALERS_DATADOG_DATADOGREPLY_H

/*
 * What Datadog's query API and the external metrics API of its Cluster Agent answer with status
 * 200. Pure.
 */

#include <jansson.h>

#include "base/err.h"

enum datadogreply {
	DATADOGREPLY_VALUE,
	DATADOGREPLY_NONE, /* there is no such point, and err says so: metricUnavailableValue stands for it */
	DATADOGREPLY_FAILED,
};

enum datadogreply_aggregator { DATADOGREPLY_AVERAGE, DATADOGREPLY_MAX, DATADOGREPLY_ONE };

/*
 * Of each series the last point with a value, or that so many places before it; of several series
 * one value. DATADOGREPLY_ONE: there must be one series.
 */
enum datadogreply datadogreply_series(const json_t *answer, enum datadogreply_aggregator how, int64_t places_back,
	double *value, struct err *err);

/* An ExternalMetricValueList: the value of the first, a number or a quantity. 0, or -1 with err. */
int datadogreply_metric(const json_t *answer, double *value, struct err *err);

/*
 * What an answer of another status says, on one line: the first of "errors", "error" or "message";
 * "" when there is none. answer may be NULL. Returns out.
 */
#define DATADOGREPLY_WORDS 200
char *datadogreply_words(const json_t *answer, char out[DATADOGREPLY_WORDS]);

#endif
