/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KEYVALUES_H
#define SCALERS_CLUSTER_KEYVALUES_H

/*
 * Reads numbers from keys of ConfigMaps and Secrets. There is one watch per (kind, namespace,
 * name), by name, for all keys and locations in use; it starts with the first question and stops
 * some minutes after the last use. A missing object, a missing key and a text without a number are
 * errors, never 0. scalers/cluster/liveanswer decides how long a number is valid while the watch
 * fails.
 *
 * Only numbers are kept. The texts of keys in use are parsed within a few turns of the loop and
 * then wiped; the rest of an object is dropped when it is decoded. So a new number makes us list
 * the object again.
 *
 * Separate from cache/auth/references, which keeps texts for the objects that hold them.
 */

#include <stddef.h>

#include "crd/keydata.h"
#include "kube/client.h"
#include "scalers/cluster/keynumber.h"
#include "scalers/cluster/liveanswer.h"
#include "scalers/sources.h"

struct keyvalues;

struct keyvalues_of {
	enum keydata_kind kind;
	char *namespace_, *name; /* valid names of the API */
	char *key;
	struct keynumber how;
};

/* Borrowed: valid while it has requests or watchers, at least until the end of the turn. */
struct liveanswer *keyvalues_get(struct keyvalues *c, const struct keyvalues_of *of);

/* scaler_sources.keys; ends after all requests and watches */
extern const struct sources_part keyvalues_part;

#endif
