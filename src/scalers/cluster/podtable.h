/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_PODTABLE_H
#define SCALERS_CLUSTER_PODTABLE_H

/*
 * The pods of one watch, each with its name and node, and the number of both. Pure; owned by
 * scalers/cluster/podcounts.
 */

#include <jansson.h>
#include <stddef.h>

struct podtable {                    /* empty when zeroed */
	struct podtable_pod *pods;   /* by name */
	struct podtable_node *nodes; /* by name */
};

/* A pod was listed, added or changed; list: number of the current list (struct informer). */
void podtable_take(struct podtable *t, const json_t *pod, unsigned list);
/* That list is complete: pods that were not in it are dropped. */
void podtable_listed(struct podtable *t, unsigned list);
void podtable_drop(struct podtable *t, const json_t *pod);
size_t podtable_pods(const struct podtable *t);
size_t podtable_nodes(const struct podtable *t);
void podtable_done(struct podtable *t);

#endif
