/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

/*
 * `kscaled check FILE...`: reads manifests and judges them without a cluster, for CI pipelines
 * (kscaled-check.1). One line per problem on standard output: `file:line: kind ns/name: field:
 * problem`; what cannot be read is told on standard error.
 */

/*
 * The sub-command: argv[0] is its name. Returns the exit status: 0 all is well, 1 something is
 * wrong, 2 something could not be read, or wrong usage.
 */
int cli_check(int argc, char **argv);

#endif
