/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

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

static void hand_on(const char *api, const char *plural, const json_t *object, cluster_fn fn, void *arg)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *namespace_ = json_str_or_empty(metadata, "namespace"), *name = json_str_or_empty(metadata, "name");
	char escaped[800], escaped_namespace[256];
	MEM_AUTO char *title = mem_printf("%s %s%s%s", plural, namespace_, *namespace_ ? "/" : "", name);
	MEM_AUTO char *path = NULL;

	if (!*name || !kube_escape(name, escaped, sizeof(escaped)) ||
		!kube_escape(namespace_, escaped_namespace, sizeof(escaped_namespace)))
		return;
	path = mem_printf("%s%s%s/%s/%s", api, *namespace_ ? "/namespaces/" : "", escaped_namespace, plural, escaped);
	fn(arg, path, title, object);
}

/* One page. *more: its continue token, replaced by the next one; NULL: it was the last page. */
static int read_page(struct cluster *c, const char *collection, const char *query, char **more, json_t **list,
	struct err *err)
{
	MEM_AUTO char *path = mem_printf("%s?limit=" PAGE "%s%s%s%s", collection, *query ? "&" : "", query,
		*more ? "&continue=" : "", *more ? *more : "");
	const char *next;
	size_t size;

	mem_free_ptr(more);
	if (cluster_call(c, KUBE_LIST, path, NULL, list, err) < 0)
		return -1;
	next = json_str_or_empty(json_object_get(*list, "metadata"), "continue");
	size = 3 * strlen(next) + 1;
	if (*next) {
		*more = mem_alloc(size);
		kube_escape(next, *more, size);
	}
	return 0;
}

int cluster_each(struct cluster *c, const char *api, const char *namespace_, const char *plural, const char *query,
	cluster_fn fn, void *arg, struct err *err)
{
	MEM_AUTO char *collection = namespace_ ? mem_printf("%s/namespaces/%s/%s", api, namespace_, plural)
					       : mem_printf("%s/%s", api, plural);
	MEM_AUTO char *more = NULL;
	int pages = 0;

	do {
		json_t *list = NULL;
		const json_t *object;
		size_t i;

		if (read_page(c, collection, query, &more, &list, err) < 0)
			return err_wrap(err, "%s", collection);
		json_array_foreach(json_object_get(list, "items"), i, object)
		{
			hand_on(api, plural, object, fn, arg);
		}
		json_decref(list);
	} while (more && ++pages < PAGES_MAX);
	return more
		? err_set(err, ERR_INVALID, "%s: the list does not end after %d pages of " PAGE, collection, PAGES_MAX)
		: 0;
}
