/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_GET_H
#define CLI_GET_H

/*
 * `kscaled get`: the ScaledObjects and ScaledJobs that a running kscaled knows, as a table for each
 * kind, with the reason for each one's replicas or Jobs. Asks the insight API (cli/insightclient).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/asking.h"

/*
 * The sub-command: argv[0] is its name; usual: as the daemon is told. Returns the exit status: 0,
 * also when only one kind can be read; 2 when none can, or the usage is wrong.
 */
int cli_get(int argc, char **argv, const struct insightclient_ways *usual);

/*
 * Appends a Table (meta.k8s.io/v1) as text, with the namespace of each row first, below one that
 * stands there already; nothing when it has no rows. How many it has.
 */
size_t get_render(const json_t *answer, const struct asking_screen *screen, bool wide, struct buf *out);

#endif
