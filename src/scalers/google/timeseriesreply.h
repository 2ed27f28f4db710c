/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GOOGLE_TIMESERIESREPLY_H
#define SCALERS_GOOGLE_TIMESERIESREPLY_H

/* Reads Cloud Monitoring's response to a query (projects.timeSeries.query). Pure. */

#include <stddef.h>

#include "base/err.h"

enum timeseriesreply {
	TIMESERIESREPLY_VALUE,   /* the newest point of the first series */
	TIMESERIESREPLY_NOTHING, /* no series, or one without points */
	TIMESERIESREPLY_MORE,    /* this page has none, but there is another page */
	TIMESERIESREPLY_FAILED,  /* err says why */
};

/* Reads a body with status 200. *page, for MORE: its token, which the caller owns. */
enum timeseriesreply timeseriesreply_read(const char *body, size_t len, double *out, char **page, struct err *err);

/*
 * The error of any other status: "HTTP status 403, PERMISSION_DENIED: ...", from the body; other
 * bodies are not quoted. Returns -1.
 */
int timeseriesreply_refusal(int status, const char *body, size_t len, struct err *err);

#endif
