/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_CLUSTER_CLUSTERWORLD_H
#define TESTS_UNIT_SCALERS_CLUSTER_CLUSTERWORLD_H

/* A trigger type whose source is the cluster itself, on tests/unit/fakes/fakecluster. */

#include "scalers/scaler.h"
#include "scalers/sources.h"

#define CLUSTERWORLD_ASK_MS 3000

struct clusterworld {
	struct scaler_sources sources;
	int answers, looks;
	double value; /* of the last answer; -1: an error */
	struct err err;
};

extern struct clusterworld world;

/* The test's: replaces the registry, whose other types would need the real loop. */
extern const struct scaler_type *const clusterworld_type;

int clusterworld_setup(const struct sources_part *part);
int clusterworld_teardown(const struct sources_part *part);

/* Counts in world, as do the looks. */
void clusterworld_on_answer(void *arg, const struct answer *answer, const struct err *err);
void clusterworld_on_look(void *arg);

void *clusterworld_ask(struct question *q);
double clusterworld_answer_of(struct question *q); /* waits for world.value */

#endif
