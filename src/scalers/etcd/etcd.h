/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCD_H
#define SCALERS_ETCD_ETCD_H

/*
 * Trigger type `etcd` (doc/keda.md 8.5): the number that is the value of one key of an etcd, and a
 * watch of that key as push (scalers/etcd/etcdwatch). Of several members the one that answered last
 * is asked; one that does not answer hands over to the next.
 */

#include "scalers/scaler.h"

extern const struct scaler_type etcd_scaler_type;

#endif
