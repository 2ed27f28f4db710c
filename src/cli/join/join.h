/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_JOIN_H
#define CLI_JOIN_JOIN_H

/*
 * `kscaled join`: sets up this host to run kscaled for a cluster. With an administrator's
 * kubeconfig it applies the host manifests, requests a token of kscaled's ServiceAccount, writes
 * the daemon's kubeconfig (cli/host/hostfiles), starts the service, and keeps the first address
 * (join/reach) at which the API server reaches it. Each step is idempotent, so another run
 * completes one that failed.
 */

#include "options/commandline.h"

extern const struct commandline cli_join_line;

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_join(int argc, char **argv);

#endif
