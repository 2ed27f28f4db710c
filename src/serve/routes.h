/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

/*
 * The table of all paths and their handlers. A new endpoint is one line there. serve_new passes it
 * to the requests.
 */

#include "serve/router.h"

/* The first match counts, so the busiest is first. Ends with a pattern of NULL. */
extern const struct route routes_all[];

#endif
