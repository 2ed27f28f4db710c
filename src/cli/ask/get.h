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

/*
 * Appends a Table (meta.k8s.io/v1) as text, with each row's namespace as the first column, and with
 * an empty line before it if out is not empty. Appends nothing without rows. Returns their number.
 */
size_t get_render(const json_t *answer, const struct asking_screen *screen, bool wide, struct buf *out);

#endif
