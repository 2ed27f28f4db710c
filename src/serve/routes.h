/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ROUTES_H
#define SERVE_ROUTES_H

/*
 * All paths and who answers them: one table. A new endpoint is one line there. serve_new hands it
 * to the requests.
 */

#include "serve/router.h"

/* The first that fits counts; the busiest stands first. Ends with a pattern of NULL. */
extern const struct route routes_all[];

#endif
