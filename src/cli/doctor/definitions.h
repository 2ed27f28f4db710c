/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DEFINITIONS_H
#define CLI_DOCTOR_DEFINITIONS_H

/*
 * The judgement of `kscaled doctor` on the CustomResourceDefinitions. Pure. Facts: "crd
 * scaledobjects" and so on, the whole definition of each.
 */

#include "cli/doctor/facts.h"

/* Their plurals, ended by NULL. */
extern const char *const definitions_plurals[];

void definitions_crds(const struct facts *c);

#endif
