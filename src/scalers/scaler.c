/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/scaler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void *scaler_ask_new(size_t size, const struct scaler_ask *ask)
{
	struct scaler_ask *copy = mem_zalloc(size);

	*copy = *ask;
	question_ref(copy->question);
	return copy;
}

void *question_ask(struct question *q, struct scaler_sources *sources, int64_t deadline_ms, question_fn fn, void *arg)
{
	const struct scaler_asker *asker = q->type->asker;
	void *ask = scaler_ask_new(asker->size ? asker->size : sizeof(struct scaler_ask),
		&(struct scaler_ask){ q, sources, deadline_ms, fn, arg, NULL });

	asker->ask(ask);
	return ask;
}

void question_cancel(void *ask)
{
	((const struct scaler_ask *)ask)->question->type->asker->cancel(ask);
	scaler_ask_free(ask);
}

void scaler_ask_end(void *ask, double value, const struct err *err)
{
	scaler_ask_answer(ask, &(struct answer){ .value = value }, err);
}

/* Infinity (a division by almost 0) is refused: as a metric it would become 0. */
void scaler_ask_answer(void *ask, const struct answer *answer, const struct err *err)
{
	const struct scaler_ask *a = ask;
	struct err infinite;

	if (!err && !(isfinite(answer->value) && isfinite(answer->load))) {
		err_set(&infinite, ERR_INVALID, "%s: the value is not a finite number", a->question->source);
		err = &infinite;
	}
	a->fn(a->arg, err ? NULL : answer, err);
	scaler_ask_free(ask);
}

void scaler_ask_free(void *ask)
{
	question_unref(((struct scaler_ask *)ask)->question);
	free(ask);
}

void scaler_done(struct scaler *s)
{
	question_unref(s->question);
	free(s->trigger_name);
	free(s->metric_name);
	free(s->container);
	free(s->unknown);
	free(s->shortened);
	free(s->ignored);
	memset(s, 0, sizeof(*s));
}

void scaler_narrow(const struct scaler *whole, const struct described *metric, size_t position, struct scaler *out)
{
	*out = (struct scaler){
		.type = whole->type,
		.index = whole->index,
		.trigger_name = mem_dup(whole->trigger_name),
		.kind = whole->kind,
		.metric_name = mem_printf("s%d-%s", whole->index, metric->name),
		.target_type = whole->target_type,
		.target = metric->target,
		.activation = whole->activation,
		.unknown = mem_dup(whole->unknown),
		.shortened = mem_dup(whole->shortened),
		.ignored = mem_dup(whole->ignored),
		.question = whole->type->narrow(whole->question, metric->name, position),
	};
	out->question->namespace_ = mem_dup(whole->question->namespace_);
}

void description_add(struct description *d, const char *name, struct quantity target)
{
	d->metrics = mem_resize(d->metrics, d->count + 1, sizeof(*d->metrics));
	d->metrics[d->count++] = (struct described){ mem_dup(name), target };
}

bool description_equal(const struct description *a, const struct description *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->metrics[i].name, b->metrics[i].name) != 0 ||
			a->metrics[i].target.milli != b->metrics[i].target.milli)
			return false;
	return true;
}

void description_done(struct description *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->metrics[i].name);
	free(d->metrics);
	*d = (struct description){ 0 };
}

struct metric_spec scaler_metric_spec(const struct scaler *s)
{
	return (struct metric_spec){ .kind = s->kind,
		.name = s->metric_name,
		.container = s->container,
		.target_type = s->target_type,
		.target = s->target };
}

/* Activation is strictly greater everywhere (doc/keda.md 6.6). */
struct reading scaler_judge(const struct scaler *s, const struct answer *answer)
{
	bool active = answer->activity == ACTIVITY_BY_THRESHOLD ? answer->value > s->activation
		: answer->activity == ACTIVITY_BY_LOAD          ? answer->load > s->activation
								: answer->activity == ACTIVITY_ACTIVE;

	return (struct reading){ .value = answer->value, .active = active };
}
