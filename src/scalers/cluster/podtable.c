/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/podtable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

struct podtable_node {
	size_t pods;
	UT_hash_handle hh;
	char name[];
};

struct podtable_pod {
	struct podtable_node *node; /* one reference; NULL: not scheduled yet */
	unsigned list;              /* number of the list it was last in */
	UT_hash_handle hh;
	char name[];
};

static const char *name_of(const json_t *pod)
{
	return json_str_or_empty(json_object_get(pod, "metadata"), "name");
}

static struct podtable_node *node_ref(struct podtable *t, const char *name)
{
	struct podtable_node *n;

	if (!*name)
		return NULL;
	HASH_FIND_STR(t->nodes, name, n);
	if (!n) {
		n = mem_zalloc(sizeof(*n) + strlen(name) + 1);
		memcpy(n->name, name, strlen(name) + 1);
		HASH_ADD_KEYPTR(hh, t->nodes, n->name, strlen(n->name), n);
	}
	n->pods++;
	return n;
}

static void node_unref(struct podtable *t, struct podtable_node *n)
{
	if (!n || --n->pods > 0)
		return;
	HASH_DELETE(hh, t->nodes, n);
	free(n);
}

static void forget(struct podtable *t, struct podtable_pod *p)
{
	HASH_DELETE(hh, t->pods, p);
	node_unref(t, p->node);
	free(p);
}

static struct podtable_pod *find(const struct podtable *t, const char *name)
{
	struct podtable_pod *p;

	HASH_FIND_STR(t->pods, name, p);
	return p;
}

void podtable_drop(struct podtable *t, const json_t *pod)
{
	struct podtable_pod *p = find(t, name_of(pod));

	if (p)
		forget(t, p);
}

void podtable_take(struct podtable *t, const json_t *pod, unsigned list)
{
	const char *name = name_of(pod);
	const char *phase = json_str_or_empty(json_object_get(pod, "status"), "phase");
	struct podtable_pod *p = find(t, name);
	struct podtable_node *before;

	/* The API server's field selector excludes ended pods; a proxy might ignore it. */
	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
		podtable_drop(t, pod);
		return;
	}
	if (!*name)
		return;
	if (!p) {
		p = mem_zalloc(sizeof(*p) + strlen(name) + 1);
		memcpy(p->name, name, strlen(name) + 1);
		HASH_ADD_KEYPTR(hh, t->pods, p->name, strlen(p->name), p);
	}
	p->list = list;
	before = p->node;
	p->node = node_ref(t, json_str_or_empty(json_object_get(pod, "spec"), "nodeName"));
	node_unref(t, before);
}

void podtable_listed(struct podtable *t, unsigned list)
{
	struct podtable_pod *p, *next;

	HASH_ITER (hh, t->pods, p, next)
		if (p->list != list)
			forget(t, p);
}

size_t podtable_pods(const struct podtable *t)
{
	return HASH_COUNT(t->pods);
}

size_t podtable_nodes(const struct podtable *t)
{
	return HASH_COUNT(t->nodes);
}

void podtable_done(struct podtable *t)
{
	struct podtable_pod *p, *next;

	HASH_ITER (hh, t->pods, p, next)
		forget(t, p);
}
