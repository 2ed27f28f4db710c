/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LEAVE_LEAVE_H
#define CLI_LEAVE_LEAVE_H

/*
 * `kscaled leave`: takes kscaled out of a cluster, as the administrator of a kubeconfig, in the
 * order in which nothing hangs: it stops acting, then the API server stops asking it, then
 * finalizers go, then all else. What cannot be undone is said, and the rest is done all the same.
 */

#include "cli/commandline.h"

extern const struct commandline cli_leave_line;

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_leave(int argc, char **argv);

#endif
