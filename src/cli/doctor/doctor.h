/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H

/*
 * `kscaled doctor`: checks each hop of the chain from the kubeconfig to a metric and suggests fixes
 * (kscaled-doctor.1). gather.c collects the facts, the other files check them; this one holds the
 * hops' order and dependencies.
 */

#include "cli/doctor/facts.h"

/* Checks the gathered facts into *out. */
void doctor_check(const struct doctor_setup *setup, json_t *facts, int64_t now_ms, struct diagnosis *out);

#endif
