/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PROMETHEUS_PROMREPLY_H
#define SCALERS_PROMETHEUS_PROMREPLY_H

/*
 * Parses the answer to an instant query of Prometheus' API: one number, nothing, or a failure.
 * Answers come from Prometheus, Thanos, Mimir, VictoriaMetrics, Loki, or anything at a wrong
 * address, so nothing in them is trusted.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/http/webrequest.h"

enum promreply {
	PROMREPLY_FAILED = -1, /* *err says why; what err_set returns */
	PROMREPLY_VALUE,       /* *value is finite */
	/* no series, NaN, infinite or null (*err says which): `ignoreNullValues` decides */
	PROMREPLY_EMPTY,
};

/*
 * Accepts one element of an instant vector, or a scalar. Several elements, ranges, histograms and
 * strings are failures. So are incomplete answers: with isPartial (VictoriaMetrics), or with a
 * warning (Thanos: a store is unavailable), except for warnings about the query itself ("PromQL
 * info:", "PromQL warning:"). The number may be a string, as in Prometheus, or a JSON number.
 */
enum promreply promreply_read(int status, const char *content_type, const char *body, size_t len, double *value,
	struct err *err);

/*
 * The same as a verdict for parameter ignoreNullValues. *empty: the answer was EMPTY; then *value
 * is 0.
 */
enum exchange_verdict promreply_judge(const struct webresponse *answer, bool empty_is_zero, bool *empty, double *value,
	struct err *err);

#endif
