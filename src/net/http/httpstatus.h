/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPSTATUS_H
#define NET_HTTP_HTTPSTATUS_H

/* An HTTP status as an error kind, and as a label of /metrics. Pure. */

#include "base/err.h"

/*
 * 401 and 403 are ERR_DENIED, 404 ERR_MISSING, 408, 429 and 5xx ERR_TEMPORARY, all others
 * ERR_INVALID.
 */
enum err_kind httpstatus_kind(int status);

/*
 * "200", in out, as a label of /metrics; "other" for unassigned numbers, because a server could
 * make a series of each of 900.
 */
#define HTTPSTATUS_TEXT 12
const char *httpstatus_label(int status, char out[HTTPSTATUS_TEXT]);

#endif
