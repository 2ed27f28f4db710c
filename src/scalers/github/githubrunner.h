/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBRUNNER_H
#define SCALERS_GITHUB_GITHUBRUNNER_H

/*
 * The trigger type github-runner: jobs of GitHub Actions that wait for a runner such as ours, or
 * run on one (doc/keda.md 8.19). Over scalers/http/httpsource; which request is next is
 * scalers/github/githubscan, what an answer says githubpage, what is kept of it githubmemory.
 */

#include "scalers/scaler.h"

extern const struct scaler_type githubrunner_scaler_type;

#endif
