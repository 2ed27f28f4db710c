/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_RIGHTS_H
#define CLI_DOCTOR_RIGHTS_H

/*
 * The rights that kscaled needs with given options, taken from the output of `kscaled manifests`
 * rather than from a second table, and the check that it has them. Pure.
 *
 * Facts: "rights": account, asked (how many), needed (all of rights_needed), missing and not_asked;
 * "roles", of which rights_check reports the bindings that the options do not call for
 * (cli/host/pruning).
 */

#include "base/err.h"
#include "cli/doctor/facts.h"
#include "cli/documents.h"

/* The manifests with these options. NULL and err: the options are invalid. */
struct documents *rights_manifests(const struct doctor_setup *setup, struct err *err);

/*
 * Every right that the manifests bind to an account, each once: [{"account":
 * "system:serviceaccount:kscaled:kscaled", "role": "kscaled-jobs", "attributes": {...}}].
 * attributes are the resourceAttributes of an access review. The caller owns it. NULL and err: the
 * options are invalid.
 */
json_t *rights_needed(const struct doctor_setup *setup, struct err *err);

void rights_check(const struct facts *c);

#endif
