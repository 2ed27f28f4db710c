/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_RIGHTS_H
#define CLI_DOCTOR_RIGHTS_H

/*
 * The rights that kscaled needs with some options, read from what `kscaled manifests` prints for
 * them, so that no second table says it, and the judgement on whether it has them. Pure.
 *
 * Fact: "rights": account (who was asked about), asked (how many), needed (all of rights_needed)
 * and missing (those that it lacks). "excess": the titles of bindings of ours that the options do
 * not ask for (cli/host/pruning).
 */

#include "base/err.h"
#include "cli/doctor/facts.h"
#include "cli/documents.h"

/* What the manifests would be with these options. NULL and err: they cannot be. */
struct documents *rights_manifests(const struct doctor_setup *setup, struct err *err);

/*
 * Every right that the manifests bind to an account, each once: [{"account":
 * "system:serviceaccount:kscaled:kscaled", "role": "kscaled-jobs", "attributes": {...}}].
 * attributes are resourceAttributes of an access review. The caller owns it. NULL and err: the
 * options cannot be.
 */
json_t *rights_needed(const struct doctor_setup *setup, struct err *err);

void rights_judge(const struct facts *c);

#endif
