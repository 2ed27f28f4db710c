/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_JOIN_H
#define CLI_JOIN_JOIN_H

/*
 * `kscaled join`: makes this host the place where kscaled runs for a cluster. As the administrator
 * of a kubeconfig it applies the host manifests, takes a token of kscaled's own ServiceAccount,
 * writes what the daemon enters the cluster with (cli/host/hostfiles), starts the service, and
 * keeps the first way back to this host (join/reach) by which the API server reaches it. Each step
 * can be done again, so that another run completes one that failed.
 */

#include "cli/commandline.h"

extern const struct commandline cli_join_line;

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_join(int argc, char **argv);

#endif
