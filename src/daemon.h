/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DAEMON_H
#define DAEMON_H

/* Starts the modules in order, connects them, runs the loop, and stops them in reverse order. */

#include "options/options.h"

/*
 * Runs until SIGTERM or SIGINT. Returns the process' exit status: 0 after an orderly stop, 1 when
 * it could not start. options: those of argc and argv (options_load), which at a SIGHUP are read
 * once more; what can be another while it runs is then changed in them.
 */
int daemon_run(struct options *options, int argc, char **argv);

#endif
