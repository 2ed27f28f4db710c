/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_VERIFY_H
#define CLI_JOIN_VERIFY_H

/* The last step of `kscaled join`: a metric of an object, fetched through the API server. */

#include "cli/host/cluster.h"

/* Says on standard output what came of it; no failure. Blocks. */
void verify_metric(struct cluster *c);

#endif
