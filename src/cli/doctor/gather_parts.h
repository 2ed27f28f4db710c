/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_GATHER_PARTS_H
#define CLI_DOCTOR_GATHER_PARTS_H

/* Shared by the files of gather.h: one request, and recording its answer. */

#include "cli/doctor/facts.h"
#include "cli/host/cluster.h"

#define GATHER_FILE_MAX (1 << 20)

struct gatherer {
	struct doctor_setup *setup;
	struct cluster *cluster;
	json_t *facts;
};

/* Takes object. */
void gather_put(json_t *facts, const char *fact, json_t *object);
/* wanted: the right that the request needs, "get on services kscaled/kscaled". */
void gather_put_error(json_t *facts, const char *fact, const char *wanted, const struct err *err);
/* The former, or without an object, which is taken, the latter. */
void gather_put_answer(const struct gatherer *g, const char *fact, const char *wanted, json_t *object,
	const struct err *err);

void gather_get(const struct gatherer *g, const char *fact, const char *wanted, const char *path);

/* A request for one object, or for a list. */
struct gather_row {
	const char *fact, *api, *resource;
	const char *namespace_; /* NULL: the cluster; "": none is known, no request */
	const char *name;       /* NULL: a list */
	const char *query;      /* of a list, "?labelSelector=..."; NULL */
	/*
	 * Reads the object by a list with its name: kscaled's account may list these by name, but
	 * not get them.
	 */
	bool by_list;
};
void gather_rows(const struct gatherer *g, const struct gather_row *rows, size_t count);

/* The facts of release.h and definitions.c; completes *g->setup by them (gather_release.c). */
void gather_release(const struct gatherer *g);

#endif
