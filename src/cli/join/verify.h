/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_VERIFY_H
#define CLI_JOIN_VERIFY_H

/* The last step of `kscaled join`: fetches a metric through the API server. */

#include "cli/host/cluster.h"

/* Prints the result; a failure is not an error. Blocks. */
void verify_metric(struct cluster *c);

#endif
