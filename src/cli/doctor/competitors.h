/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_COMPETITORS_H
#define CLI_DOCTOR_COMPETITORS_H

/*
 * Checks of `kscaled doctor` on who else acts: the holder of the Lease, KEDA, and foreign
 * HorizontalPodAutoscalers on the same targets. Pure.
 *
 * Facts: "lease", "keda-lease", "keda-deployment", "scaledobjects" and "hpas" (lists).
 */

#include "cli/doctor/facts.h"

void competitors_lease(const struct facts *c);
void competitors_keda(const struct facts *c);
void competitors_hpas(const struct facts *c);

#endif
