/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_EXPLAIN_H
#define CLI_ASK_EXPLAIN_H

/*
 * `kscaled explain [KIND] NAMESPACE/NAME`: prints on one screen why a ScaledObject has its
 * replicas, or a ScaledJob its Jobs. Asks the insight API (cli/ask/insightclient).
 */

#include "cli/ask/insightclient.h"
#include "options/commandline.h"

/*
 * The sub-command: argv[0] is its name. Returns the exit status:
 * 0; 1: the object is unknown; 2: kscaled cannot be reached, the user may not read the object, or
 * the usage is wrong. -o json prints the explanation (serve/explain/explain.h); its `also` is
 * "ScaledJob" when no kind was given and a ScaledJob has the name of the ScaledObject, too.
 */
int cli_explain(int argc, char **argv);
extern const struct commandline cli_explain_line;

#endif
