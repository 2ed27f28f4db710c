/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_GATHER_PARTS_H
#define CLI_DOCTOR_GATHER_PARTS_H

/* What the files of gather.h share: asking one thing, and putting down what was answered. */

#include "cli/doctor/facts.h"
#include "cli/host/cluster.h"

struct gatherer {
	struct doctor_setup *setup;
	struct cluster *cluster;
	json_t *facts;
};

/* Takes object. */
void gather_put(json_t *facts, const char *fact, json_t *object);
/* wanted: the right, "get on services kscaled/kscaled". */
void gather_put_error(json_t *facts, const char *fact, const char *wanted, const struct err *err);

void gather_get(const struct gatherer *g, const char *fact, const char *wanted, const char *path);

/*
 * One object as a list by its name: kscaled's own account may list these by name, and not get them.
 * collection: the path of the list.
 */
void gather_list_one(const struct gatherer *g, const char *fact, const char *collection, const char *name);

/*
 * The facts of release.h, and those of definitions.h, by which *g->setup is completed
 * (gather_release.c).
 */
void gather_release(const struct gatherer *g);

#endif
