/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_RELEASE_H
#define CLI_DOCTOR_RELEASE_H

/*
 * How the kscaled of a cluster was installed: by Helm, by `kscaled manifests` or by `kscaled join`,
 * and with which options, as far as its objects tell: the arguments of the Deployment's Pod, its
 * account, and the roles that are there. What the options leave out is then missed by no hop, and
 * what mends gives no right that the installation was made without. Pure.
 *
 * Facts: "deployment", "apiservice", "webhooks", "networkpolicy", "monitors" (kinds of
 * Prometheus' operator that are there), "roles" (a list of roles and bindings with kscaled's label,
 * each with a kind), "command" (the arguments of the daemon in whose container this runs),
 * "joined" (what `kscaled join` wrote down of how it was called; "": nobody may know).
 */

#include "cli/doctor/facts.h"

/*
 * Fills what the command line has not said. Texts are borrowed from the facts, which get what is
 * put together here as the fact "release".
 */
void release_read(struct doctor_setup *setup, json_t *facts);

/* Before anything was asked: what stands beside the kubeconfig of a host that was joined. */
void release_read_kubeconfig(struct doctor_setup *setup, json_t *facts);

/* By its label: an object of kscaled's, and not of KEDA's. */
bool release_is_ours(const json_t *object);

/* Whether there is anything of an installation; what may not be looked at may be there. */
bool release_is_there(const struct facts *c);

void release_judge(const struct facts *c);

#endif
