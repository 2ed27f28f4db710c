/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_TRAFFIC_H
#define SERVE_TRAFFIC_H

/* How many requests were answered, with which codes, how fast: plain numbers counted on the way (no names are built there), written out when /metrics is read. */

#include <stdint.h>

#include "base/buf.h"
#include "serve/router.h"

struct traffic;

struct traffic *traffic_new(void);
void traffic_free(struct traffic *t);
void traffic_count(struct traffic *t, enum route_port port, enum route_kind kind, const char *method, int status, int64_t took_us);
void traffic_write(const struct traffic *t, struct buf *out);

#endif
