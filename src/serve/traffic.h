/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_TRAFFIC_H
#define SERVE_TRAFFIC_H

/* Counts answered requests by status code, and how long they took. */

#include <stdint.h>

#include "base/counters.h"
#include "serve/router.h"

struct traffic { /* a value; its families are the registry's */
	struct counters_family *requests, *seconds;
};

struct traffic traffic_declare(struct counters *c);
/* took_us: microseconds from the request to its reply */
void traffic_count(const struct traffic *t, enum route_port port, enum route_kind kind, const char *method, int status,
	int64_t took_us);

#endif
