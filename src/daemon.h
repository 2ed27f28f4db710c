/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DAEMON_H
#define DAEMON_H

/* Starts the modules in order, connects them, runs the loop, and stops them in reverse order. */

#include "options.h"

/*
 * Runs until SIGTERM or SIGINT. Returns the process' exit status: 0 after an orderly stop, 1 when
 * it could not start.
 */
int daemon_run(const struct options *options);

#endif
