/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDQUESTION_H
#define SCALERS_ETCD_ETCDQUESTION_H

/* The data of an etcd trigger's question. For scalers/etcd. */

#include <stdint.h>

#include "scalers/etcd/etcdcluster.h"
#include "scalers/scaler.h"

struct etcdquestion {
	char *key;
	int64_t progress_s;          /* etcd's interval of progress notifications */
	struct etcdcluster *cluster; /* one reference */
};

/* Prepends "etcd 10.0.0.7:2379: ", with several members the address of this one. */
void etcdquestion_name_error(const struct question *question, size_t member, struct err *err);

#endif
