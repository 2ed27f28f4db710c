/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

/*
 * `kscaled doctor`: walks the chain from the kubeconfig to a metric, and says for each hop whether
 * it is fine, or what is wrong and what mends it (kscaled-doctor.1). gather.c asks, the judgements
 * judge, this says in which order and what depends on what.
 */

#include "cli/commandline.h"
#include "cli/doctor/facts.h"

extern const struct commandline cli_doctor_line;

/*
 * The sub-command: argv[0] is its name. The daemon's options, which it reads itself, are
 * changed by the command line. Returns the exit status: 0: fine; 1: something is wrong; 2: the
 * cluster cannot be asked, or wrong usage.
 */
int cli_doctor(int argc, char **argv);

/* Judges facts that are there; reached: gather_cluster was called. Fills *out. */
void doctor_judge(const struct doctor_setup *setup, json_t *facts, bool reached, int64_t now_ms, struct diagnosis *out);

#endif
