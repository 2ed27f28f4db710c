/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_GET_H
#define CLI_ASK_GET_H

/*
 * `kscaled get`: lists the ScaledObjects and ScaledJobs of a running kscaled, a table for each
 * kind, with the reason for the replicas or Jobs. Asks the insight API (cli/ask/insightclient).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "cli/ask/asking.h"
#include "options/commandline.h"

/*
 * The sub-command: argv[0] is its name. Returns the exit status:
 * 0, also when only one kind can be read; 2: none can, or the usage is wrong.
 */
int cli_get(int argc, char **argv);
extern const struct commandline cli_get_line;

/*
 * Appends a Table (meta.k8s.io/v1) as text, with each row's namespace as the first column, and with
 * an empty line before it if out is not empty. Appends nothing without rows. Returns their number.
 */
size_t get_render(const json_t *answer, const struct asking_screen *screen, bool wide, struct buf *out);

#endif
