/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"

#define DEADLINE_MS 15000
#define PAGE        "500"
#define PAGES_MAX   2000 /* a million objects: more is an endless list */

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

static json_t *ask(struct cluster *c, enum kube_verb verb, const char *path, const json_t *body, struct err *err)
{
	json_t *object = NULL;

	if (cluster_call(c, verb, path, body, &object, err) < 0)
		return NULL;
	return object ? object : json_object();
}

json_t *cluster_get(struct cluster *c, const char *path, struct err *err)
{
	return ask(c, KUBE_GET, path, NULL, err);
}

json_t *cluster_post(struct cluster *c, enum kube_verb verb, const char *path, json_t *body, struct err *err)
{
	json_t *answer = ask(c, verb, path, body, err);

	json_decref(body);
	return answer;
}

int cluster_delete(struct cluster *c, const char *path, struct err *err)
{
	struct err failed = { 0 };

	if (cluster_call(c, KUBE_DELETE, path, NULL, NULL, &failed) == 0 || failed.kind == ERR_MISSING)
		return 0;
	*err = failed;
	return -1;
}

int cluster_patch(struct cluster *c, const char *path, json_t *patch, struct err *err)
{
	int failed = cluster_call(c, KUBE_MERGE_PATCH, path, patch, NULL, err);

	json_decref(patch);
	return failed;
}

char *cluster_metric_path(const json_t *scaledobject)
{
	const char *metric = fields_text(scaledobject, "status.externalMetricNames.0");
	char escaped[1024], name[800];

	if (!*metric || !kube_escape(metric, escaped, sizeof(escaped)) ||
		!kube_escape(fields_name(scaledobject), name, sizeof(name)))
		return NULL;
	return mem_printf(CLUSTER_METRICS "/namespaces/%s/%s?labelSelector=scaledobject.keda.sh%%2Fname%%3D%s",
		fields_namespace(scaledobject), escaped, name);
}

/* ---- Lists ---- */

static char *collection_of(const struct cluster_list *l)
{
	return mem_printf("%s%s%s/%s", l->api, l->namespace_ ? "/namespaces/" : "", l->namespace_ ? l->namespace_ : "",
		l->plural);
}

static int read_page(struct cluster_list *l)
{
	MEM_AUTO char *collection = collection_of(l);
	MEM_AUTO char *path = mem_printf("%s?limit=" PAGE "%s%s%s%s", collection, l->query ? "&" : "",
		l->query ? l->query : "", l->more ? "&continue=" : "", l->more ? l->more : "");
	const char *more;
	size_t size;

	if (l->pages == PAGES_MAX)
		return err_set(&l->err, ERR_INVALID, "%s: the list does not end after %d pages of " PAGE, collection,
			PAGES_MAX);
	json_decref(l->page);
	l->page = NULL;
	l->next = 0;
	l->pages++;
	mem_free_ptr(&l->more);
	if (cluster_call(l->cluster, KUBE_LIST, path, NULL, &l->page, &l->err) < 0)
		return err_wrap(&l->err, "%s", collection);
	more = fields_text(l->page, "metadata.continue");
	size = 3 * strlen(more) + 1;
	if (*more) {
		l->more = mem_alloc(size);
		kube_escape(more, l->more, size);
	}
	return 0;
}

/* Sets path and title. false: the object has no name that fits in a path. */
static bool name_current(struct cluster_list *l, const json_t *object)
{
	const char *namespace_ = fields_namespace(object), *name = fields_name(object);
	char escaped[800], escaped_namespace[256];

	if (!*name || !kube_escape(name, escaped, sizeof(escaped)) ||
		!kube_escape(namespace_, escaped_namespace, sizeof(escaped_namespace)))
		return false;
	mem_free_ptr(&l->path);
	mem_free_ptr(&l->title);
	l->title = mem_printf("%s %s%s%s", l->plural, namespace_, *namespace_ ? "/" : "", name);
	l->path = mem_printf("%s%s%s/%s/%s", l->api, *namespace_ ? "/namespaces/" : "", escaped_namespace, l->plural,
		escaped);
	return true;
}

const json_t *cluster_next(struct cluster_list *l)
{
	do {
		const json_t *object;

		while ((object = json_array_get(fields_at(l->page, "items"), l->next)) != NULL) {
			l->next++;
			if (name_current(l, object))
				return object;
		}
	} while (l->err.kind == ERR_NONE && (l->pages == 0 || l->more) && read_page(l) == 0);
	return NULL;
}

int cluster_list_done(struct cluster_list *l, struct err *err)
{
	json_decref(l->page);
	l->page = NULL;
	mem_free_ptr(&l->more);
	mem_free_ptr(&l->path);
	mem_free_ptr(&l->title);
	if (l->err.kind == ERR_NONE)
		return 0;
	if (err)
		*err = l->err;
	return -1;
}
