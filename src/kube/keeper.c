/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/keeper.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/informer.h"
#include "kube/version.h"
#include "net/loop.h"

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS   60000
#define QUIET_MS         60000 /* a write reverted within this time is likely to be reverted again */

struct keeper {
	struct kube *kube; /* borrowed */
	const struct keeper_policy *policy;
	void *arg;
	char *collection, *name, *title, *failing, *without;
	struct informer informer;
	bool looked;             /* the state is known from a list, an event or an answer */
	bool refused;            /* or access is denied */
	char *version;           /* NULL: it does not exist, or is not known */
	struct kube_call *call;  /* the write under way */
	struct err *trouble;     /* of writing; NULL: none */
	struct loop_timer timer; /* until the next write is allowed */
	int64_t written_at_ms;   /* loop clock; 0: never, or its revert was counted */
	unsigned setbacks;       /* consecutive writes that failed or were reverted within a minute */
	bool braked;             /* the timer delays writes, whatever the watch delivers */
	int64_t brake_max_ms;
	bool create_by_apply;
};

static void notify_policy(struct keeper *k)
{
	if (k->policy->on_change)
		k->policy->on_change(k->arg);
}

/* ---- Writing ---- */

static void end_trouble(struct keeper *k)
{
	if (k->trouble)
		k->setbacks = 0;
	err_keep(&k->trouble, NULL);
}

/* Logged when it changes. */
static void set_trouble(struct keeper *k, const struct err *err)
{
	struct err told = *err;

	err_wrap(&told, "writing %s", k->title);
	if (!k->trouble || k->trouble->kind != err->kind || k->trouble->http_status != err->http_status)
		log_warn(k->title, "%s%s%s", told.msg, k->without ? ": " : "", k->without ? k->without : "");
	err_keep(&k->trouble, &told);
}

static int64_t setback_ms(struct keeper *k)
{
	return loop_backoff_ms(k->setbacks++, BACKOFF_FIRST_MS, BACKOFF_MAX_MS);
}

/* The delay before the next write; 0: none. Called once per write. */
static int64_t brake_ms(struct keeper *k)
{
	int64_t lasted_ms = loop_now_ms(kube_loop(k->kube)) - k->written_at_ms;

	if (!k->written_at_ms)
		return 0;
	k->written_at_ms = 0;
	if (lasted_ms >= QUIET_MS)
		k->setbacks = 0;
	/* The first revert is not counted. */
	if (k->setbacks > 0)
		return loop_backoff_ms(k->setbacks++, BACKOFF_FIRST_MS, k->brake_max_ms);
	k->setbacks = 1;
	return 0;
}

static void on_written(void *arg, const json_t *object, const struct err *err);

static void send_write(struct keeper *k)
{
	bool by_name = k->version || k->create_by_apply;
	MEM_AUTO char *path = mem_printf("%s%s%s?fieldManager=kscaled", k->collection, by_name ? "/" : "",
		by_name ? k->name : "");
	struct kube_request request = {
		.verb = k->version           ? KUBE_MERGE_PATCH
			: k->create_by_apply ? KUBE_APPLY
					     : KUBE_CREATE,
		.path = path,
	};
	struct err err = { 0 };
	char *body = k->policy->make(k->arg, k->version, &err);

	if (!body) {
		set_trouble(k, &err);
		loop_timer_set(&k->timer, setback_ms(k));
		return;
	}
	request.body = body;
	k->call = kube_call(k->kube, &request, on_written, k);
	mem_free_secret(body);
}

void keeper_look(struct keeper *k)
{
	int64_t wait_ms;

	if (!k->looked)
		return;
	if (!k->policy->lacks(k->arg)) {
		end_trouble(k);
		return;
	}
	if (k->call || ((k->braked || k->trouble) && loop_timer_pending(&k->timer)))
		return;
	wait_ms = brake_ms(k);
	k->braked = wait_ms > 0;
	if (k->braked)
		loop_timer_set(&k->timer, wait_ms);
	else
		send_write(k);
}

static void on_timer(void *arg)
{
	keeper_look(arg);
}

void keeper_hurry(struct keeper *k)
{
	k->written_at_ms = 0;
	k->braked = false;
	keeper_look(k);
}

/* NULL: it does not exist. */
static void take_state(struct keeper *k, const json_t *object)
{
	k->looked = true;
	free(k->version);
	k->version = object ? mem_dup(json_metadata_text(object, "resourceVersion")) : NULL;
	if (!object)
		k->written_at_ms = 0; /* a new object reverts nothing */
	k->policy->on_object(k->arg, object);
	notify_policy(k);
}

static void on_object(void *arg, const json_t *object)
{
	struct keeper *k = arg;

	if (k->version && strcmp(json_metadata_text(object, "resourceVersion"), k->version) == 0)
		return;
	if (informer_is_old(&k->informer, object, k->version))
		return;
	take_state(k, object);
	keeper_look(k);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct keeper *k = arg;

	/* An answer may have delivered the recreated object already. */
	if ((k->looked && !k->version) || (object && informer_is_old(&k->informer, object, k->version)))
		return;
	take_state(k, NULL);
	keeper_look(k);
}

/* A temporary failure keeps the known state. */
static void on_trouble(void *arg, const struct err *err)
{
	struct keeper *k = arg;

	if (err && (err->kind == ERR_DENIED || err->kind == ERR_MISSING))
		k->refused = true;
	notify_policy(k);
}

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct keeper *k = arg;
	const char *known = k->version ? k->version : informer_version(&k->informer);
	bool created = !k->version;

	k->call = NULL;
	if (err) {
		/*
		 * After a conflict the watch delivers the current state, and the write is repeated
		 * at once unless delayed.
		 */
		if (err->kind != ERR_CONFLICT)
			set_trouble(k, err);
		k->braked = k->setbacks > 0;
		loop_timer_set(&k->timer, setback_ms(k));
		notify_policy(k);
		return;
	}
	end_trouble(k);
	k->written_at_ms = loop_now_ms(kube_loop(k->kube));
	/* Not if the watch was faster and delivered a newer state or the deletion. */
	if (object && version_compare(json_metadata_text(object, "resourceVersion"), known) > 0)
		take_state(k, object);
	k->policy->on_written(k->arg, created);
	keeper_look(k);
}

/* ---- The interface ---- */

bool keeper_is_writing(const struct keeper *k)
{
	return k->call;
}

const char *keeper_version(const struct keeper *k)
{
	return k->version;
}

bool keeper_is_known(const struct keeper *k)
{
	return k->looked || k->refused;
}

const char *keeper_trouble(const struct keeper *k)
{
	return k->trouble ? k->trouble->msg : informer_trouble(&k->informer);
}

struct keeper *keeper_new(struct kube *kube, const struct keeper_config *config, const struct keeper_policy *policy,
	void *arg)
{
	static const struct informer_events events = {
		.on_object = on_object,
		.on_deleted = on_deleted,
		.on_trouble = on_trouble,
	};
	struct keeper *k = mem_zalloc(sizeof(*k));
	struct informer_config watched;

	k->kube = kube;
	k->policy = policy;
	k->arg = arg;
	k->collection = mem_dup(config->collection);
	k->name = mem_dup(config->name);
	k->title = mem_dup(config->title);
	k->without = mem_dup(config->without);
	k->brake_max_ms = config->brake_max_ms ? config->brake_max_ms : BACKOFF_MAX_MS;
	k->create_by_apply = config->create_by_apply;
	k->failing = mem_printf("%s cannot be watched", k->title);
	loop_timer_init(&k->timer, kube_loop(kube), on_timer, k);
	watched = (struct informer_config){
		.path = k->collection,
		.name = k->name,
		.subject = k->title,
		.failing = k->failing,
	};
	informer_start(&k->informer, kube, &watched, &events, k);
	return k;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	informer_stop(&k->informer);
	kube_cancel(k->call);
	loop_timer_done(&k->timer);
	err_keep(&k->trouble, NULL);
	free(k->version);
	free(k->collection);
	free(k->name);
	free(k->title);
	free(k->failing);
	free(k->without);
	free(k);
}
