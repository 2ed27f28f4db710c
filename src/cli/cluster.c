/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"

#define DEADLINE_MS 15000

struct cluster {
	struct loop *loop;
	struct kube_config config;
	struct kube *kube;
};

struct cluster *cluster_new(const char *kubeconfig, struct err *err)
{
	struct cluster *c = mem_zalloc(sizeof(*c));

	if (kube_config_load(kubeconfig, KUBE_CONFIG_MOUNT, &c->config, err) == 0 &&
		(c->loop = loop_new(err)) != NULL && (c->kube = kube_new(c->loop, &c->config, NULL, err)) != NULL)
		return c;
	cluster_free(c);
	return NULL;
}

void cluster_free(struct cluster *c)
{
	if (!c)
		return;
	kube_free(c->kube);
	loop_free(c->loop);
	kube_config_done(&c->config);
	free(c);
}

const struct kube_config *cluster_config(const struct cluster *c)
{
	return &c->config;
}

struct outcome {
	bool done;
	json_t *object;
	int rc;
	struct err err;
};

static void on_answer(void *arg, const json_t *object, const struct err *err)
{
	struct outcome *o = arg;

	o->done = true;
	o->rc = err ? -1 : 0;
	if (err)
		o->err = *err;
	else
		o->object = json_deep_copy(object);
}

int cluster_call(struct cluster *c, enum kube_verb verb, const char *path, const json_t *body, json_t **answer,
	struct err *err)
{
	char *text = body ? json_text(body) : NULL;
	struct kube_request request = { .verb = verb,
		.path = path,
		.body = text,
		.deadline_ms = DEADLINE_MS,
		.priority = KUBE_NORMAL,
		.answer = answer ? KUBE_ANSWER_WHOLE : KUBE_ANSWER_IGNORED };
	struct outcome o = { .done = false };

	kube_call(c->kube, &request, on_answer, &o);
	while (!o.done)
		loop_turn(c->loop);
	mem_free_secret(text);
	if (answer)
		*answer = o.object;
	if (o.rc < 0 && err)
		*err = o.err;
	return o.rc;
}
