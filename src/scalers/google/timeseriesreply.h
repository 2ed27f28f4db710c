/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GOOGLE_TIMESERIESREPLY_H
#define SCALERS_GOOGLE_TIMESERIESREPLY_H

/*
 * What Cloud Monitoring answers to a query (projects.timeSeries.query), and why it does not. Pure.
 */

#include <stddef.h>

#include "base/err.h"

enum timeseriesreply {
	TIMESERIESREPLY_VALUE,   /* the newest point of the first series */
	TIMESERIESREPLY_NOTHING, /* no series, or one without points */
	TIMESERIESREPLY_MORE,    /* this page has none, and there is another one */
	TIMESERIESREPLY_FAILED,  /* err says why */
};

/* Of a body with status 200. *page, at MORE: its token, which the caller owns. */
enum timeseriesreply timeseriesreply_read(const char *body, size_t len, double *out, char **page, struct err *err);

/*
 * Of any other status: "HTTP status 403, PERMISSION_DENIED: ...", as the body tells it; the words
 * of other bodies are not shown. Returns -1.
 */
int timeseriesreply_refusal(int status, const char *body, size_t len, struct err *err);

#endif
