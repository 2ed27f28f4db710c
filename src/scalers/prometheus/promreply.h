/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PROMETHEUS_PROMREPLY_H
#define SCALERS_PROMETHEUS_PROMREPLY_H

/*
 * What a server with Prometheus' query API answered to an instant query: one number, nothing, or a
 * failure. Prometheus, Thanos, Mimir, VictoriaMetrics and whatever stands behind a wrong address:
 * nothing in it is believed.
 */

#include <stddef.h>

#include "base/err.h"

enum promreply {
	PROMREPLY_FAILED = -1, /* *err says why; what err_set returns */
	PROMREPLY_VALUE,       /* *value is finite */
	/* no series, NaN, infinite or null (*err says which): `ignoreNullValues` decides */
	PROMREPLY_EMPTY,
};

/*
 * One element of an instant vector, or a scalar. Several elements, ranges, histograms and texts are
 * failures, and so is an empty result with warnings: a store that is away looks like that. A number
 * may stand as text, as Prometheus writes it, or as a number.
 */
enum promreply promreply_read(int status, const char *content_type, const char *body, size_t len, double *value,
	struct err *err);

#endif
