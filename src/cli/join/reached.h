/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_REACHED_H
#define CLI_JOIN_REACHED_H

/* Whether kscaled is reached through the API server. Blocks. */

#include "cli/host/cluster.h"

/* -1 and why, which may be NULL: the APIService is not Available, or its metrics are not served. */
int reached_check(struct cluster *c, struct err *why);

/* The last step of `kscaled join`: fetches a metric, prints the result; a failure is no error. */
void reached_fetch(struct cluster *c);

#endif
