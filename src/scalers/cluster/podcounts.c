/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/podcounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "kube/informer.h"
#include "scalers/cluster/podtable.h"

#define PAGE         200
#define ESCAPED_SIZE (3 * 253 + 1)

/* One namespace and selector. */
struct counted_place {
	struct podcounts *owner;
	char *key;
	struct informer informer;
	struct podtable table;
	struct liveanswer pods, nodes; /* change only when a list is complete */
	bool known;                    /* a first list was complete */
	struct loop_task settle;       /* at the end of the turn: updates the counts */
	UT_hash_handle hh;
};

struct podcounts {
	struct kube *kube;
	struct counted_place *places;
};

static struct loop *loop_of(const struct counted_place *p)
{
	return kube_loop(p->owner->kube);
}

/* ---- Updates from the watch ---- */

static void on_settle(void *arg)
{
	struct counted_place *p = arg;

	if (!p->known || p->informer.listing)
		return;
	liveanswer_set(&p->pods, (double)podtable_pods(&p->table), NULL);
	liveanswer_set(&p->nodes, (double)podtable_nodes(&p->table), NULL);
}

static void settle(struct counted_place *p)
{
	loop_task_queue(loop_of(p), &p->settle);
}

static void on_object(void *arg, const json_t *object)
{
	struct counted_place *p = arg;

	podtable_take(&p->table, object, p->informer.list);
	settle(p);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct counted_place *p = arg;

	podtable_drop(&p->table, object);
	settle(p);
}

static void on_synced(void *arg)
{
	struct counted_place *p = arg;

	podtable_listed(&p->table, p->informer.list);
	p->known = true;
	settle(p);
}

static void on_trouble(void *arg, const struct err *err)
{
	struct counted_place *p = arg;

	liveanswer_trouble(&p->pods, err);
	liveanswer_trouble(&p->nodes, err);
}

/* ---- Places ---- */

static void place_free(struct counted_place *p)
{
	HASH_DELETE(hh, p->owner->places, p);
	informer_stop(&p->informer);
	loop_task_cancel(loop_of(p), &p->settle);
	liveanswer_done(&p->pods);
	liveanswer_done(&p->nodes);
	podtable_done(&p->table);
	free(p->key);
	free(p);
}

static void on_idle(void *arg)
{
	struct counted_place *p = arg;

	if (!liveanswer_is_used(&p->pods) && !liveanswer_is_used(&p->nodes))
		place_free(p);
}

static void place_start(struct counted_place *p, const struct podcounts_of *of)
{
	static const struct informer_events events = { NULL, on_object, on_deleted, on_synced, on_trouble, NULL };
	char namespace_[ESCAPED_SIZE];
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/pods",
		kube_escape(of->namespace_, namespace_, sizeof(namespace_)) ? namespace_ : "");
	struct informer_config config = {
		.path = path,
		.label_selector = of->selector,
		.field_selector = "status.phase!=Succeeded,status.phase!=Failed",
		.page = PAGE,
		.subject = p->key,
		.failing = "pods cannot be counted",
		.grant = "a role with the verbs list and watch on pods is missing, or not bound in this namespace",
	};

	informer_start(&p->informer, p->owner->kube, &config, &events, p);
}

static void count_init(struct counted_place *p, struct liveanswer *count)
{
	liveanswer_init(count, loop_of(p), &p->informer, "the list of pods did not come in time", on_idle, p);
}

static struct counted_place *place_get(struct podcounts *c, const struct podcounts_of *of)
{
	MEM_AUTO char *key = mem_printf("pods in %s (%s)", of->namespace_, of->selector);
	struct counted_place *p;

	HASH_FIND_STR(c->places, key, p);
	if (p)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->owner = c;
	p->key = mem_dup(key);
	loop_task_init(&p->settle, on_settle, p);
	count_init(p, &p->pods);
	count_init(p, &p->nodes);
	HASH_ADD_KEYPTR(hh, c->places, p->key, strlen(p->key), p);
	place_start(p, of);
	return p;
}

struct liveanswer *podcounts_get(struct podcounts *c, const struct podcounts_of *of)
{
	struct counted_place *p = place_get(c, of);

	return of->nodes ? &p->nodes : &p->pods;
}

static void begin_part(struct scaler_sources *s)
{
	s->pods = mem_zalloc(sizeof(*s->pods));
	s->pods->kube = s->kube;
}

static void end_part(struct scaler_sources *s)
{
	struct counted_place *p, *next;

	HASH_ITER (hh, s->pods->places, p, next)
		place_free(p);
	free(s->pods);
}

const struct sources_part podcounts_part = { begin_part, end_part };
