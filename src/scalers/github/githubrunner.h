/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GITHUB_GITHUBRUNNER_H
#define SCALERS_GITHUB_GITHUBRUNNER_H

/*
 * Trigger type `github-runner`: the GitHub Actions jobs that wait for a runner such as ours, or run
 * on one (doc/keda.md 8.19). Uses scalers/http/httpsource; scalers/github/githubscan chooses the
 * next request, githubpage reads its answer, githubcache caches pages.
 */

#include "scalers/scaler.h"

extern const struct scaler_type githubrunner_scaler_type;

#endif
