/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

/*
 * `kscaled doctor`: walks the chain from the kubeconfig to a metric, and says for each hop whether
 * it is fine, or what is wrong and what mends it (kscaled-doctor.1). gather.c asks, the judgements
 * judge, this says in which order and what depends on what.
 */

#include "cli/commandline.h"
#include "cli/doctor/casefile.h"

extern const struct commandline cli_doctor_line;

/*
 * The configuration file of the daemon that the command line names, else the one of the systemd
 * unit where it is there; NULL: none.
 */
const char *doctor_config(int argc, char **argv);

/*
 * The sub-command: argv[0] is its name; usual: the daemon's options, which the command line
 * changes. Returns the exit status: 0: fine; 1: something is wrong; 2: the cluster cannot be asked,
 * or wrong usage.
 */
int cli_doctor(int argc, char **argv, const struct doctor_setup *usual);

/* Judges facts that are there; reached: gather_cluster was called. Fills *out. */
void doctor_judge(const struct doctor_setup *setup, json_t *facts, bool reached, int64_t now_ms, struct diagnosis *out);

#endif
