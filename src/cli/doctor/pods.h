/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_PODS_H
#define CLI_DOCTOR_PODS_H

/*
 * The judgement of `kscaled doctor` on the Pods of kscaled: whether one is ready, and why another
 * is not: no image, no node, ended, killed for memory. All that follows from that is told by no
 * other hop. Pure. Facts: "deployment", "pods" (a list).
 */

#include "cli/doctor/facts.h"

void pods_judge(const struct facts *c);

#endif
