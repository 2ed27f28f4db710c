/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_PODS_H
#define CLI_DOCTOR_PODS_H

/*
 * The check of `kscaled doctor` on kscaled's Pods: whether one is ready, and why others are not: no
 * image, no node, exited, out of memory. Pure. Facts: "deployment", "pods" (a list).
 */

#include "cli/doctor/facts.h"

void pods_check(const struct facts *c);

#endif
