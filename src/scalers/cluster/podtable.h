/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_PODTABLE_H
#define SCALERS_CLUSTER_PODTABLE_H

/*
 * The pods of one watch, of each its name and its node, and how many of both there are. Pure; owned
 * by scalers/cluster/podcounts.
 */

#include <jansson.h>
#include <stddef.h>

struct podtable {                    /* zero-initialised is empty */
	struct podtable_pod *pods;   /* by name */
	struct podtable_node *nodes; /* by name */
	unsigned list;               /* number of the list that is or was read */
};

void podtable_list(struct podtable *t);   /* a list begins */
void podtable_listed(struct podtable *t); /* it is whole: what was not in it is gone */
void podtable_take(struct podtable *t, const json_t *pod);
void podtable_drop(struct podtable *t, const json_t *pod);
size_t podtable_pods(const struct podtable *t);
size_t podtable_nodes(const struct podtable *t);
void podtable_done(struct podtable *t);

#endif
