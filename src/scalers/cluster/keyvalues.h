/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KEYVALUES_H
#define SCALERS_CLUSTER_KEYVALUES_H

/*
 * The numbers in keys of ConfigMaps and Secrets. One watch per (kind, namespace, name), by name,
 * for all keys and locations that are asked for in that object; it starts with the first question
 * and stops some minutes after the last user has gone. An object that is not there, a key that is
 * not in it and a text that is no number are errors, never 0; how long a number holds while the
 * watch fails is scalers/cluster/keptanswer's.
 *
 * Only numbers are kept. The texts of the keys that are asked for stay until they are read, within
 * a few turns of the loop, and are wiped; all else of an object is dropped when it is decoded. So a
 * number that is asked for later has the object listed once more, which is one object.
 *
 * Not shared with cache/auth/references: that one serves texts, which it must keep, to objects that
 * hold them in rounds, where this one serves answers to questions that objects share.
 */

#include <stddef.h>

#include "crd/keydata.h"
#include "kube/client.h"
#include "scalers/cluster/keptanswer.h"
#include "scalers/cluster/keynumber.h"
#include "scalers/sources.h"

struct keyvalues;

struct keyvalues *keyvalues_new(struct kube *kube);
void keyvalues_free(struct keyvalues *c); /* after all requests and watches */

struct keyvalues_of {
	enum keydata_kind kind;
	char *namespace_, *name; /* names as the API server takes them */
	char *key;
	struct keynumber how;
};

/* Borrowed: good while it is asked for or watched, at least to the end of the turn. */
struct keptanswer *keyvalues_get(struct keyvalues *c, const struct keyvalues_of *of);

size_t keyvalues_watched(const struct keyvalues *c); /* number of watches at the API server */

extern const struct sources_part keyvalues_part; /* scaler_sources.keys */

#endif
