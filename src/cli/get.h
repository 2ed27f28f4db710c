/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_GET_H
#define CLI_GET_H

/*
 * `kscaled get`: the ScaledObjects and ScaledJobs that a running kscaled knows, as a table for each
 * kind, with the reason for each one's replicas or Jobs. Asks its status address, not the cluster.
 */

#include <jansson.h>
#include <stdbool.h>

#include "cli/asking.h"

struct get_view {
	const char *kind; /* "scaledobject" or "scaledjob", as asking_kind has it; NULL: both */
	bool wide;
};

/*
 * The sub-command: argv[0] is its name; status_address is the daemon's own default. Returns the
 * exit status: 0, 2 when kscaled cannot be reached or the usage is wrong.
 */
int cli_get(int argc, char **argv, const char *status_address);

/* The answer of /objects (serve/explain/explain.h) as text. view points to a struct get_view. */
void get_render(const json_t *answer, const struct asking_screen *screen, const void *view, struct buf *out);

#endif
