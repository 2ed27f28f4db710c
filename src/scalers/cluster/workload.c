/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/workload.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/setselector.h"
#include "scalers/cluster/podcounts.h"
#include "scalers/params.h"
#include "scalers/sources.h"

struct workload_fields {
	char *selector;
	double activation;
	bool nodes;
};

#define AT(field) offsetof(struct workload_fields, field)
static const struct param_row rows[] = {
	{ "podSelector", PARAM_TEXT, "m", AT(selector), .required = true, .help = "label selector of the Pods" },
	{ "value", PARAM_TARGET, "m", .help = "target: as many per replica" },
	{ "activationValue", PARAM_DOUBLE, "m", AT(activation), .help = "active when there are more" },
	{ "groupByNode", PARAM_BOOL, "m", AT(nodes), .help = "nodes with such Pods count, not the Pods" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static void workload_free_data(void *data)
{
	struct podcounts_of *q = data;

	free(q->namespace_);
	free(q->selector);
	free(q);
}

static int workload_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	const char *namespace_ = params->namespace_ ? params->namespace_ : "";
	struct podcounts_of *q;
	struct workload_fields f = { 0 };
	char *selector = NULL;

	if (params_read(&table, params, &f, err) == 0) {
		selector = setselector_normal(f.selector, err);
		if (!selector)
			err_wrap(err, "parameter \"podSelector\": error parsing pod selector");
	}
	params_done(&table, &f);
	if (!selector)
		return -1;
	q = mem_zalloc(sizeof(*q));
	*q = (struct podcounts_of){ mem_dup(namespace_), selector, f.nodes };
	out->activation = f.activation;
	out->question = question_new(&workload_scaler_type,
		mem_printf("kubernetes-workload %s %s %s", namespace_, q->nodes ? "nodes" : "pods", q->selector),
		mem_printf("pods in %s", namespace_), q);
	*metric_name = params_normalise(mem_printf("workload-%s", namespace_));
	return 0;
}

/* ---- Asking ---- */

struct workload_ask {
	struct scaler_ask base;
	struct keptanswer_wait *wait;
};

static void on_count(void *arg, double count, const struct err *failure)
{
	struct workload_ask *ask = arg;
	struct err err;

	if (failure) {
		err = *failure;
		err_wrap(&err, "%s", ask->base.question->source);
	}
	scaler_ask_end(ask, count, failure ? &err : NULL);
}

static void *workload_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
	question_fn fn, void *arg)
{
	struct workload_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	ask->wait = keptanswer_ask(podcounts_get(sources->pods, question->data), deadline_ms, on_count, ask);
	return ask;
}

static void workload_cancel(void *handle)
{
	struct workload_ask *ask = handle;

	keptanswer_cancel(ask->wait);
	scaler_ask_free(ask);
}

/* ---- Watching ---- */

static void *workload_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	return keptanswer_watch(podcounts_get(sources->pods, question->data), look, arg);
}

const struct scaler_type workload_scaler_type = {
	.name = "kubernetes-workload",
	.go_name = "kubernetesWorkloadScaler",
	.tables = { &table },
	.build_whole = workload_build,
	.ask = workload_ask,
	.cancel = workload_cancel,
	.free_data = workload_free_data,
	.watch = workload_watch,
	.unwatch = keptanswer_unwatch,
	.watch_report = keptanswer_watch_report,
};
