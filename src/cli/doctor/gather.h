/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_GATHER_H
#define CLI_DOCTOR_GATHER_H

/*
 * Collects the facts (facts.h) that `kscaled doctor` judges: reads the kubeconfig, asks the API
 * server. Changes nothing in the cluster: what it creates are reviews, which are stored nowhere,
 * and one object with dryRun. Judges nothing. Blocks, each call with a deadline.
 */

#include "cli/doctor/facts.h"

/*
 * The facts "kubeconfig" and "version". Sets setup->namespace_, where it is NULL, to a text that
 * *facts owns. false: no more can be asked. The caller owns *facts.
 */
bool gather_apiserver(struct doctor_setup *setup, json_t **facts);

/*
 * All others, after gather_apiserver was true. Completes *setup by what the installation tells of
 * itself (release.h): also its namespace, where nobody has said it.
 */
void gather_cluster(struct doctor_setup *setup, json_t *facts);

#endif
