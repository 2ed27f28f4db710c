/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `kubernetes-workload` (doc/keda.md 8.17): the number of running or pending pods in
 * the object's namespace that match a label selector, or the number of nodes they run on. The pods
 * are watched (scalers/cluster/podcounts.h), so a change of the count triggers a poll.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/setselector.h"
#include "scalers/cluster/podcounts.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define AT(field) offsetof(struct podcounts_of, field)
static const struct param_row rows[] = {
	{ "podSelector", PARAM_TEXT, "m", AT(selector), .required = true,
		.help = "label selector of the Pods to count" },
	{ "value", PARAM_TARGET, "m", .help = "target: Pods per replica" },
	{ "activationValue", PARAM_ACTIVATION, "m", .help = "active above this number" },
	{ "groupByNode", PARAM_BOOL, "m", AT(nodes), .help = "true: count the nodes that run such Pods instead" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static void data_done(void *data)
{
	free(((struct podcounts_of *)data)->namespace_);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct podcounts_of *q = b->data;
	char *selector = setselector_normal(q->selector, err);

	if (!selector)
		return err_wrap(err, "parameter \"podSelector\": error parsing pod selector");
	free(q->selector);
	q->selector = selector;
	q->namespace_ = mem_dup(b->params->namespace_ ? b->params->namespace_ : "");
	params_add_key(b, q->namespace_);
	b->source = mem_printf("pods in %s", q->namespace_);
	b->metric_name = mem_printf("workload-%s", q->namespace_);
	return 0;
}

/* ---- Asking ---- */

static void on_count(void *arg, double count, const struct err *failure)
{
	struct scaler_ask *ask = arg;
	struct err err;

	if (failure) {
		err = *failure;
		err_wrap(&err, "%s", ask->question->source);
	}
	scaler_ask_end(ask, count, failure ? &err : NULL);
}

static void ask(void *handle)
{
	struct scaler_ask *a = handle;

	a->call = liveanswer_ask(podcounts_get(a->sources->pods, a->question->data), a->deadline_ms, on_count, a);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = liveanswer_cancel };

/* ---- Watching ---- */

static void *workload_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	return liveanswer_watch(podcounts_get(sources->pods, question->data), look, arg);
}

const struct scaler_type workload_scaler_type = {
	.name = "kubernetes-workload",
	.go_name = "kubernetesWorkloadScaler",
	.tables = { &table },
	.data_size = sizeof(struct podcounts_of),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
	.watch = workload_watch,
	.unwatch = liveanswer_unwatch,
	.watch_report = liveanswer_watch_report,
};
