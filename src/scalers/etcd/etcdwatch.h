/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDWATCH_H
#define SCALERS_ETCD_ETCDWATCH_H

/*
 * The watch of an etcd trigger's key (doc/keda.md 8.5): whatever happens to the key calls look, and
 * so does each beginning of a watch, as something may have happened before it. One that ends, is
 * canceled or compacted begins anew, at the next member and with a new token if need be, 2 s later,
 * doubling to 60 s with jitter while it fails; so does one of which nothing was heard in twice the
 * interval of progress notifications. etcd's gRPC proxy ends a watch at once, as it wants more said
 * than there is to say. For scalers/etcd: the watch functions of struct scaler_type.
 */

#include "scalers/scaler.h"

void *etcdwatch_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg);
void etcdwatch_unwatch(void *watch);
struct watch_report etcdwatch_report(const void *watch);

#endif
