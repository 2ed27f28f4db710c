/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_DATADOG_DATADOGREPLY_H
#define SCALERS_DATADOG_DATADOGREPLY_H

/*
 * Reads answers of Datadog's query API and of the external metrics API of its Cluster Agent. Pure.
 */

#include <jansson.h>

#include "base/err.h"

enum datadogreply {
	DATADOGREPLY_VALUE,
	DATADOGREPLY_NONE, /* no such point, with err; metricUnavailableValue may replace it */
	DATADOGREPLY_FAILED,
};

enum datadogreply_aggregator { DATADOGREPLY_AVERAGE, DATADOGREPLY_MAX, DATADOGREPLY_ONE };

/*
 * Takes the last point with a value of each series, or the one places_back before it, and combines
 * the series to one value. DATADOGREPLY_ONE: more than one series is an error.
 */
enum datadogreply datadogreply_series(const json_t *answer, enum datadogreply_aggregator how, int64_t places_back,
	double *value, struct err *err);

/* The first value of an ExternalMetricValueList, a number or a quantity. 0, or -1 with err. */
int datadogreply_metric(const json_t *answer, double *value, struct err *err);

/*
 * The error message of an answer with another status, on one line: the first of "errors", "error"
 * or "message"; "" if there is none. answer may be NULL. Returns out.
 */
#define DATADOGREPLY_WORDS 200
char *datadogreply_words(const json_t *answer, char out[DATADOGREPLY_WORDS]);

#endif
