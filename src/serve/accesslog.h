/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESSLOG_H
#define SERVE_ACCESSLOG_H

/* One line per request at debug: method, URI, code, latency, user, source address, user agent. */

#include <stdint.h>

struct request;

void accesslog_write(const struct request *r, int status, int64_t took_us);

#endif
