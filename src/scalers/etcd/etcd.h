/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCD_H
#define SCALERS_ETCD_ETCD_H

/*
 * Trigger type `etcd` (doc/keda.md 8.5): reads a number from an etcd key, and watches the key as
 * push (scalers/etcd/etcdwatch). Queries go to the member that answered last; if it does not
 * answer, the next one is tried.
 */

#include "scalers/scaler.h"

extern const struct scaler_type etcd_scaler_type;

#endif
