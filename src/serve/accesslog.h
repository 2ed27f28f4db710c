/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESSLOG_H
#define SERVE_ACCESSLOG_H

/*
 * One line per request at debug: method, URI, source address, user agent, user, code, latency.
 * Costs nothing at other levels.
 */

#include <stdint.h>

struct request;

/*
 * The part that the client's own request tells, kept for later; NULL when it will not be logged.
 * The caller owns it.
 */
char *accesslog_describe(const struct request *r);

/* Code 499: the client left before. */
void accesslog_write(const struct request *r, int status, int64_t took_us);

#endif
