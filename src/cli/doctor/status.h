/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_STATUS_H
#define CLI_DOCTOR_STATUS_H

/*
 * Judgements of `kscaled doctor` on what there is to scale and what kscaled has of its own: objects
 * that are not Ready, and when its certificates end. Pure.
 *
 * Facts: "scaledobjects", "scaledjobs" (lists), "certificates" (ca, serving: PEM texts).
 */

#include "cli/doctor/facts.h"

void status_objects(const struct facts *c);
void status_sources(const struct facts *c); /* what fails there is nothing of the installation */
void status_certificates(const struct facts *c);

#endif
