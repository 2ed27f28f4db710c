/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

/*
 * `kscaled explain [KIND] NAMESPACE/NAME`: why the replicas of one ScaledObject, or the Jobs of one
 * ScaledJob, are what they are, in one screen. Asks the status address of a running kscaled, not
 * the cluster.
 */

/*
 * The sub-command: argv[0] is its name; status_address is the daemon's own default. Returns the
 * exit status: 0, 1 when the object is not known, 2 when kscaled cannot be reached or the usage is
 * wrong.
 */
int cli_explain(int argc, char **argv, const char *status_address);

#endif
