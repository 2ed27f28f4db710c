/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_STATUS_H
#define CLI_DOCTOR_STATUS_H

/*
 * Checks of `kscaled doctor` on objects that are not Ready and on kscaled's certificates. Pure.
 *
 * Facts: "scaledobjects", "scaledjobs" (lists), "certificates" (ca, serving: PEM texts).
 */

#include "cli/doctor/facts.h"

void status_objects(const struct facts *c);
void status_sources(const struct facts *c); /* failing sources; not the installation's fault */
void status_certificates(const struct facts *c);

#endif
