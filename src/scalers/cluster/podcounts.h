/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_PODCOUNTS_H
#define SCALERS_CLUSTER_PODCOUNTS_H

/*
 * Counts the pods of one namespace that match a label selector and are neither Succeeded nor
 * Failed, and the nodes they run on. One watch per (namespace, selector), filtered by the API
 * server; of each pod only name and node are kept. A watch starts with the first question and stops
 * some minutes after the last use.
 *
 * A count is known when the list is complete (scalers/cluster/liveanswer). While pods are listed
 * again the previous count is used, so that old and new pods are never mixed. A failure is never
 * counted as 0.
 */

#include <stdbool.h>

#include "scalers/cluster/liveanswer.h"
#include "scalers/sources.h"

struct podcounts;

struct podcounts_of {
	char *namespace_;
	char *selector; /* as setselector_normal writes it */
	bool nodes;     /* count nodes instead of pods */
};

/* Borrowed: valid while it has requests or watchers, at least until the end of the turn. */
struct liveanswer *podcounts_get(struct podcounts *p, const struct podcounts_of *of);

/* scaler_sources.pods; ends after all requests and watches */
extern const struct sources_part podcounts_part;

#endif
