/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDWATCH_H
#define SCALERS_ETCD_ETCDWATCH_H

/*
 * Watches an etcd trigger's key (doc/keda.md 8.5). Calls look at each change of the key, and each
 * time a watch is created, as changes may have been missed. A watch that ends, is canceled or
 * compacted, or is silent for twice the interval of progress notifications, is restarted after 2 s,
 * doubling to 60 s with jitter while it fails, at another member or with a new token if needed.
 * etcd's gRPC proxy ends a watch once the client has closed its side, as ours does at once. For
 * scalers/etcd: the watch functions of struct scaler_type.
 */

#include "scalers/scaler.h"

void *etcdwatch_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg);
void etcdwatch_unwatch(void *watch);
struct watch_report etcdwatch_report(const void *watch);

#endif
