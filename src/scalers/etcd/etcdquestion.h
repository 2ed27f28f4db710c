/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDQUESTION_H
#define SCALERS_ETCD_ETCDQUESTION_H

/* The data of an etcd trigger's question: which key of which etcd. For scalers/etcd. */

#include <stdint.h>

#include "scalers/etcd/etcdplace.h"
#include "scalers/scaler.h"

struct etcdquestion {
	char *key;
	int64_t progress_s;      /* how often a watch hears of etcd when nothing changes */
	struct etcdplace *place; /* one reference */
};

/* "etcd 10.0.0.7:2379: " before the message: of several members the one that it is about. */
void etcdquestion_name_error(const struct question *question, size_t member, struct err *err);

#endif
