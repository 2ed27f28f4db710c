/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_HOLDINGS_H
#define CLI_DOCTOR_HOLDINGS_H

/*
 * Judgements of `kscaled doctor` on what there is to scale and what kscaled has of its own: objects
 * that are not Ready, and when its certificates end. Pure.
 *
 * Facts: "scaledobjects", "scaledjobs" (lists), "certificates" (ca, serving: PEM texts).
 */

#include "cli/doctor/casefile.h"

void holdings_objects(const struct casefile *c);
void holdings_sources(const struct casefile *c); /* what fails there is nothing of the installation */
void holdings_certificates(const struct casefile *c);

#endif
