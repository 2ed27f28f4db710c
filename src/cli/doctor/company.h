/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_COMPANY_H
#define CLI_DOCTOR_COMPANY_H

/*
 * Judgements of `kscaled doctor` on who acts: the holder of the Lease, KEDA beside us,
 * HorizontalPodAutoscalers of others on the same targets. Pure.
 *
 * Facts: "lease", "keda-lease", "keda-deployment", "scaledobjects" and "hpas" (lists).
 */

#include "cli/doctor/casefile.h"

void company_lease(const struct casefile *c);
void company_keda(const struct casefile *c);
void company_hpas(const struct casefile *c);

#endif
