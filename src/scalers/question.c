/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and frees questions and their data. */
#include <stdlib.h>

#include "base/mem.h"
#include "scalers/httplogin.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

struct question *question_new(const struct scaler_type *type, char *key, char *source, void *data)
{
	struct question *q = mem_zalloc(sizeof(*q));

	q->refs = 1;
	q->type = type;
	q->key = key;
	q->source = source;
	q->data = data;
	return q;
}

void question_data_free(const struct scaler_type *type, void *data)
{
	if (!data)
		return;
	if (type->data_done)
		type->data_done(data);
	if (type->http)
		httplogin_done(data);
	for (size_t i = 0; type->tables[i]; i++)
		if (!type->tables[i]->login)
			params_done(type->tables[i], data);
	free(data);
}

struct question *question_ref(struct question *q)
{
	q->refs++;
	return q;
}

void question_unref(struct question *q)
{
	if (!q || --q->refs > 0)
		return;
	if (q->on_end)
		q->on_end(q);
	question_data_free(q->type, q->data);
	free(q->source);
	free(q->namespace_);
	free(q->key);
	free(q);
}
