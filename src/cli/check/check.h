/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CHECK_H
#define CLI_CHECK_CHECK_H

/*
 * `kscaled check FILE...`: validates manifests without a cluster, for CI pipelines
 * (kscaled-check.1). Prints one line per problem: `file:line: kind ns/name: field: problem`; what
 * cannot be read is an error on standard error.
 */

#include "options/commandline.h"

/*
 * The sub-command: argv[0] is its name. Returns the exit status: 0: no problems; 1: problems; 2:
 * something could not be read, or wrong usage.
 */
int cli_check(int argc, char **argv);
extern const struct commandline cli_check_line;

#endif
