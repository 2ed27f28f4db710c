/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

/*
 * `kscaled explain [KIND] NAMESPACE/NAME`: why the replicas of one ScaledObject, or the Jobs of one
 * ScaledJob, are what they are, in one screen. Asks the insight API (cli/insightclient).
 */

#include "cli/insightclient.h"

/*
 * The sub-command: argv[0] is its name; usual: as the daemon is told. Returns the exit status: 0, 1
 * when the object is not known, 2 when kscaled cannot be reached, the user may not read it, or the
 * usage is wrong. With -o json the explanation is printed (serve/explain/explain.h), and `also`:
 * "ScaledJob" when no kind was named and there is one of this name beside the ScaledObject.
 */
int cli_explain(int argc, char **argv, const struct insightclient_ways *usual);

#endif
