/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DEFINITIONS_H
#define CLI_DOCTOR_DEFINITIONS_H

/*
 * The check of `kscaled doctor` on the CustomResourceDefinitions. Pure. Facts: "crd scaledobjects"
 * and so on, each the whole definition.
 */

#include "cli/doctor/facts.h"

/* Their plurals, NULL-terminated. */
extern const char *const definitions_plurals[];

void definitions_crds(const struct facts *c);

#endif
