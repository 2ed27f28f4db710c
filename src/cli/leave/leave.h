/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LEAVE_LEAVE_H
#define CLI_LEAVE_LEAVE_H

/*
 * `kscaled leave`: removes kscaled from a cluster, with an administrator's kubeconfig, in an order
 * in which nothing hangs: first it stops kscaled, then it removes the APIService and webhooks, then
 * finalizers, then the rest. It reports a step that fails and continues.
 */

#include "options/commandline.h"

extern const struct commandline cli_leave_line;

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_leave(int argc, char **argv);

#endif
