/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcdquestion.h"

void etcdquestion_name_error(const struct question *question, size_t member, struct err *err)
{
	const struct etcdquestion *q = question->data;

	if (q->cluster->count > 1)
		err_wrap(err, "etcd %s", q->cluster->members[member]->base.name);
	else
		err_wrap(err, "%s", question->source);
}
