/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_RELEASE_H
#define CLI_DOCTOR_RELEASE_H

/*
 * How kscaled was installed (Helm, `kscaled manifests` or `kscaled join`) and with which options,
 * read from its objects: the Deployment's arguments, its account, the roles. So no hop reports what
 * the options left out, and no fix grants a right that the installation did not have. Pure.
 *
 * Facts: "deployment", "apiservice", "webhooks", "networkpolicy", "monitors" (which kinds of the
 * Prometheus operator exist), "roles" (a list of roles and bindings with kscaled's label, each with
 * a kind), "command" (the arguments of the daemon in whose container this runs), "joined" (the
 * arguments of `kscaled join`; "": unknown).
 */

#include "cli/doctor/facts.h"

/*
 * Fills what the command line did not give. Texts are borrowed from the facts; new ones are stored
 * there as the fact "release".
 */
void release_read(struct doctor_setup *setup, json_t *facts);

/* Before any request: from the note beside the kubeconfig of a host that was joined. */
void release_read_kubeconfig(struct doctor_setup *setup, json_t *facts);

/* By its label: whether the object is kscaled's, not KEDA's. */
bool release_is_ours(const json_t *object);

/* Whether any part of an installation exists; what may not be read counts as existing. */
bool release_is_there(const struct facts *c);

void release_check(const struct facts *c);

#endif
