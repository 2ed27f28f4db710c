/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_GATHER_H
#define CLI_DOCTOR_GATHER_H

/*
 * Collects the facts (facts.h) that `kscaled doctor` checks, from the kubeconfig and the API
 * server. Changes nothing in the cluster: it creates only access reviews, which are not stored, and
 * one object with dryRun. Blocks; each call has a deadline.
 */

#include "cli/doctor/facts.h"

/*
 * The facts "kubeconfig" and "version". Sets setup->namespace_, if NULL, to a text that *facts
 * owns. false: the API server does not answer. The caller owns *facts.
 */
bool gather_apiserver(struct doctor_setup *setup, json_t **facts);

/*
 * All other facts, after gather_apiserver returned true. Completes *setup from the installation's
 * objects (release.h), also its namespace if that was not given.
 */
void gather_cluster(struct doctor_setup *setup, json_t *facts);

#endif
