/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/keyvalues.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/informer.h"

#define READ_MS 2 /* per turn of the loop, unless a single text takes longer */

/* A key of an object that is in use. */
struct numbered_key {
	size_t numbers; /* references */
	UT_hash_handle hh;
	char name[];
};

/* A number in a key. */
struct key_number {
	struct keyed_object *object;
	char *id;                 /* of key and how */
	struct numbered_key *key; /* one reference */
	struct keynumber how;
	struct liveanswer answer;
	struct key_number *prev, *next; /* among the unread */
	bool unread;                    /* the object has arrived, the number is not read yet */
	UT_hash_handle hh;
};

/* An object with at least one number in use. */
struct keyed_object {
	struct keyvalues *owner;
	char *shown; /* "ConfigMap shop/queue" */
	char *path;  /* of the collection */
	char *name;
	char *failing, *grant, *late; /* for messages */
	enum keydata_kind kind;
	struct informer informer;
	bool arrived; /* since the watch was started; also if the object does not exist */
	bool down;    /* counted in keyvalues.down */
	struct key_number *numbers;
	struct numbered_key *wanted;
	struct strmap texts, unreadable; /* until all numbers are read */
	struct key_number *unread;       /* in reading order */
	struct loop_timer read;
	struct loop_task restart; /* at the end of the turn: lists the object again for new numbers */
	UT_hash_handle hh;
};

struct keyvalues {
	struct kube *kube;
	struct keyed_object *objects;
	size_t down; /* failing watches, without denied ones */
};

static struct loop *loop_of(const struct keyed_object *o)
{
	return kube_loop(o->owner->kube);
}

/* ---- Reading the numbers ---- */

static void forget_texts(struct keyed_object *o)
{
	strmap_done_secret(&o->texts);
	strmap_done(&o->unreadable);
}

static int read_number(const struct key_number *n, double *out, struct err *err)
{
	const struct keyed_object *o = n->object;
	const char *text = strmap_get(&o->texts, n->key->name), *why = strmap_get(&o->unreadable, n->key->name);

	if (why)
		return err_set(err, ERR_INVALID, "%s: key \"%s\" %s", o->shown, n->key->name, why);
	if (!text)
		return err_set(err, ERR_INVALID, "%s has no key \"%s\"", o->shown, n->key->name);
	if (keynumber_read(&n->how, text, strlen(text), out, err))
		return err_wrap(err, "%s: key \"%s\"", o->shown, n->key->name);
	return 0;
}

static void set_read(struct key_number *n)
{
	if (n->unread)
		DL_DELETE(n->object->unread, n);
	n->unread = false;
}

/* Many locations in one large text would block the loop: the rest is read in the next turn. */
static void on_read(void *arg)
{
	struct keyed_object *o = arg;
	int64_t until_ms = loop_now_ms(loop_of(o)) + READ_MS;
	struct key_number *n;

	while ((n = o->unread) && loop_now_ms(loop_of(o)) < until_ms) {
		struct err err = { 0 };
		double value = 0;
		int failed = read_number(n, &value, &err);

		set_read(n);
		liveanswer_set(&n->answer, value, failed ? &err : NULL);
	}
	if (o->unread)
		loop_timer_set(&o->read, 0);
	else
		forget_texts(o);
}

/* The object is missing or invalid: the same error for all numbers. */
static void set_wrong(struct keyed_object *o, const struct err *err)
{
	struct key_number *n, *next;

	o->arrived = true;
	loop_timer_cancel(&o->read);
	forget_texts(o);
	HASH_ITER (hh, o->numbers, n, next) {
		set_read(n);
		liveanswer_set(&n->answer, 0, err);
	}
}

/* ---- Keys in use ---- */

static struct numbered_key *find_key(const struct keyed_object *o, const char *name)
{
	struct numbered_key *k;

	HASH_FIND_STR(o->wanted, name, k);
	return k;
}

static struct numbered_key *key_ref(struct keyed_object *o, const char *name)
{
	struct numbered_key *k = find_key(o, name);
	size_t size = strlen(name) + 1;

	if (!k) {
		k = mem_zalloc(sizeof(*k) + size);
		memcpy(k->name, name, size);
		HASH_ADD_KEYPTR(hh, o->wanted, k->name, size - 1, k);
	}
	k->numbers++;
	return k;
}

/* With the last number the key's text is wiped. */
static void key_unref(struct keyed_object *o, struct numbered_key *k)
{
	if (--k->numbers > 0)
		return;
	strmap_remove_secret(&o->texts, k->name);
	HASH_DELETE(hh, o->wanted, k);
	free(k);
}

static bool is_wanted(void *arg, const char *key)
{
	return find_key(arg, key) != NULL;
}

/* ---- Updates from the watch ---- */

static void on_object(void *arg, const json_t *json)
{
	struct keyed_object *o = arg;
	struct key_number *n, *next;
	struct err err = { 0 };

	forget_texts(o);
	if (keydata_decode(o->kind, json, is_wanted, o, &o->texts, &o->unreadable, &err)) {
		err_wrap(&err, "%s", o->shown);
		set_wrong(o, &err);
		return;
	}
	o->arrived = true;
	/* Numbers that are still unread keep their position, so that none starves. */
	HASH_ITER (hh, o->numbers, n, next)
		if (!n->unread) {
			n->unread = true;
			DL_APPEND(o->unread, n);
		}
	loop_timer_set(&o->read, 0);
}

static void on_deleted(void *arg, const json_t *json)
{
	struct keyed_object *o = arg;
	struct err err = { 0 };

	(void)json;
	err_set(&err, ERR_INVALID, "%s does not exist", o->shown);
	set_wrong(o, &err);
}

/* Logs one line for an unreachable server, whatever the number of watches, and one per denial. */
static void log_trouble(struct keyed_object *o, const struct err *err)
{
	struct keyvalues *c = o->owner;
	bool down = err && !informer_is_denied(err);
	size_t before = c->down;

	c->down += (size_t)down - (size_t)o->down;
	o->down = down;
	if (err && (!down || before == 0))
		informer_log(&o->informer, err);
	else if (err)
		log_debug(o->shown, "cannot be watched at the moment: %s", err->msg);
	else if (before > 0 && c->down == 0)
		log_info("kubernetes-resource", "all watches of ConfigMaps and Secrets work");
}

static void on_trouble(void *arg, const struct err *err)
{
	struct keyed_object *o = arg;
	struct key_number *n, *next;

	log_trouble(o, err);
	HASH_ITER (hh, o->numbers, n, next)
		liveanswer_trouble(&n->answer, err);
}

static void start(struct keyed_object *o)
{
	static const struct informer_events events = {
		.on_object = on_object,
		.on_deleted = on_deleted,
		.on_trouble = on_trouble,
	};
	struct informer_config config = {
		.path = o->path,
		.name = o->name,
		.subject = o->shown,
		.failing = o->failing,
		.grant = o->grant,
		.quiet = true,
	};

	o->arrived = false;
	informer_start(&o->informer, o->owner->kube, &config, &events, o);
}

static void on_restart(void *arg)
{
	struct keyed_object *o = arg;

	if (!o->arrived)
		return;
	informer_stop(&o->informer);
	o->owner->down -= o->down;
	o->down = false;
	start(o);
}

/* ---- Objects and numbers ---- */

static void object_free(struct keyed_object *o)
{
	HASH_DELETE(hh, o->owner->objects, o);
	o->owner->down -= o->down;
	informer_stop(&o->informer);
	loop_task_cancel(loop_of(o), &o->restart);
	loop_timer_done(&o->read);
	forget_texts(o);
	free(o->shown);
	free(o->path);
	free(o->name);
	free(o->grant);
	free(o->late);
	free(o->failing);
	free(o);
}

static struct keyed_object *object_get(struct keyvalues *c, const struct keyvalues_of *of)
{
	MEM_AUTO char *shown = mem_printf("%s %s/%s", keydata_kind_name(of->kind), of->namespace_, of->name);
	const char *plural = keydata_plural(of->kind);
	struct keyed_object *o;

	HASH_FIND_STR(c->objects, shown, o);
	if (o)
		return o;
	o = mem_zalloc(sizeof(*o));
	o->owner = c;
	o->kind = of->kind;
	o->shown = mem_dup(shown);
	o->path = mem_printf("/api/v1/namespaces/%s/%s", of->namespace_, plural);
	o->name = mem_dup(of->name);
	o->grant = mem_printf("a role with the verbs list and watch on %s is missing, or not bound in this namespace",
		plural);
	o->failing = mem_printf("%s cannot be read", shown);
	o->late = mem_printf("%s was not read in time", shown);
	loop_task_init(&o->restart, on_restart, o);
	loop_timer_init(&o->read, kube_loop(c->kube), on_read, o);
	HASH_ADD_KEYPTR(hh, c->objects, o->shown, strlen(o->shown), o);
	start(o);
	return o;
}

static void number_free(struct key_number *n)
{
	struct keyed_object *o = n->object;

	set_read(n);
	key_unref(o, n->key);
	HASH_DELETE(hh, o->numbers, n);
	liveanswer_done(&n->answer);
	keynumber_done(&n->how);
	free(n->id);
	free(n);
	if (!o->numbers)
		object_free(o);
}

static void on_idle(void *arg)
{
	number_free(arg);
}

struct liveanswer *keyvalues_get(struct keyvalues *c, const struct keyvalues_of *of)
{
	struct keyed_object *o = object_get(c, of);
	MEM_AUTO char *id = mem_printf("%s %s %s %s", of->key, keynumber_formats[of->how.format],
		keynumber_types[of->how.type], of->how.location ? of->how.location : "");
	struct key_number *n;

	HASH_FIND_STR(o->numbers, id, n);
	if (n)
		return &n->answer;
	n = mem_zalloc(sizeof(*n));
	n->object = o;
	n->id = mem_dup(id);
	n->key = key_ref(o, of->key);
	keynumber_copy(&n->how, &of->how);
	liveanswer_init(&n->answer, loop_of(o), &o->informer, o->late, on_idle, n);
	HASH_ADD_KEYPTR(hh, o->numbers, n->id, strlen(n->id), n);
	loop_task_queue(loop_of(o), &o->restart);
	return &n->answer;
}

static void begin_part(struct scaler_sources *s)
{
	s->keys = mem_zalloc(sizeof(*s->keys));
	s->keys->kube = s->kube;
}

static void end_part(struct scaler_sources *s)
{
	while (s->keys->objects)
		number_free(s->keys->objects->numbers);
	free(s->keys);
}

const struct sources_part keyvalues_part = { begin_part, end_part };
