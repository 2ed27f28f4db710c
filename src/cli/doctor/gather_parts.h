/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_GATHER_PARTS_H
#define CLI_DOCTOR_GATHER_PARTS_H

/* Shared by the files of gather.h: one request, and recording its answer. */

#include "cli/doctor/facts.h"
#include "cli/host/cluster.h"

struct gatherer {
	struct doctor_setup *setup;
	struct cluster *cluster;
	json_t *facts;
};

/* Takes object. */
void gather_put(json_t *facts, const char *fact, json_t *object);
/* wanted: the right that the request needs, "get on services kscaled/kscaled". */
void gather_put_error(json_t *facts, const char *fact, const char *wanted, const struct err *err);

void gather_get(const struct gatherer *g, const char *fact, const char *wanted, const char *path);

/*
 * Reads one object by a list with its name: kscaled's account may list these by name, but not get
 * them. collection: the path of the list.
 */
void gather_list_one(const struct gatherer *g, const char *fact, const char *collection, const char *name);

/*
 * The facts of release.h and definitions.h, from which it completes *g->setup (gather_release.c).
 */
void gather_release(const struct gatherer *g);

#endif
