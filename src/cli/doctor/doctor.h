/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

/*
 * `kscaled doctor`: checks each hop of the chain from the kubeconfig to a metric and suggests fixes
 * (kscaled-doctor.1). gather.c collects the facts, the other files check them; this one holds the
 * hops' order and dependencies.
 */

#include "cli/doctor/facts.h"
#include "options/commandline.h"

extern const struct commandline cli_doctor_line;

/*
 * The sub-command: argv[0] is its name. Reads the daemon's options; the command line overrides
 * them. Returns the exit status: 0: no errors; 1: errors; 2: the cluster cannot be reached, or
 * wrong usage.
 */
int cli_doctor(int argc, char **argv);

/* Checks the gathered facts into *out. */
void doctor_check(const struct doctor_setup *setup, json_t *facts, int64_t now_ms, struct diagnosis *out);

#endif
