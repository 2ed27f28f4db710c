/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "fakecluster_parts.h"

#include "base/json.h"
#include "base/mem.h"
#include "kube/watch.h"

#define LIST_MS  1
#define RETRY_MS 1000

struct event {
	struct event *prev, *next;
	bool deleted;
	json_t *object;
	int64_t due_ms;
};

struct watch {
	struct watch *prev, *next;
	char *path, *label, *label_value; /* label NULL: all; its value NULL: any */
	char *name;                       /* of metadata.name=...; NULL: all */
	bool unfinished;                  /* only pods that have not ended */
	bool managed_fields;
	char *where; /* what the test names it by: path and name, or path and * */
	struct watch_events events;
	void *arg;
	struct loop_timer timer;
	bool listing, stopped, troubled;
	json_t *snapshot; /* array; while a list is handed on */
	char *version;    /* of the snapshot, or of the last event */
	size_t handed_on;
	struct event *queue;
};

struct trouble {
	struct trouble *next;
	char *part;
	struct err err;
};

static struct {
	struct watch *watches;
	struct trouble *troubles;
	int64_t lag_ms, page_ms;
	size_t page;
	bool held;
} fake;

void fakewatch_start(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.lag_ms = 2;
	fake.page = 50;
	fake.page_ms = 1;
}

static void troubles_free(const char *part)
{
	struct trouble *t, *next;

	LL_FOREACH_SAFE (fake.troubles, t, next) {
		if (part && strcmp(t->part, part) != 0)
			continue;
		LL_DELETE(fake.troubles, t);
		free(t->part);
		free(t);
	}
}

void fakewatch_end(void)
{
	troubles_free(NULL);
	assert_null(fake.watches);
}

/* ---- What a watch sees ---- */

/*
 * "/apis/apps/v1/namespaces/shop/deployments/web" is in ".../namespaces/shop/deployments" and in
 * "/apis/apps/v1/deployments".
 */
static bool has_path(const struct watch *w, const char *path)
{
	const char *name = strrchr(path, '/'), *spaces = strstr(path, "/namespaces/"), *resource;
	size_t group_len = spaces ? (size_t)(spaces - path) : 0, len = strlen(w->path);

	if (strncmp(w->path, path, len) == 0 && path + len == name)
		return true;
	if (!spaces)
		return false; /* cluster-wide */
	resource = strchr(spaces + strlen("/namespaces/"), '/');
	return len == group_len + (size_t)(name - resource) && strncmp(w->path, path, group_len) == 0 &&
		strncmp(w->path + group_len, resource, (size_t)(name - resource)) == 0;
}

static bool is_in(const struct watch *w, const char *path)
{
	return has_path(w, path) && (!w->name || strcmp(w->name, strrchr(path, '/') + 1) == 0);
}

static bool fits(const struct watch *w, const json_t *object)
{
	const json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");

	const char *phase = json_str_or_empty(json_object_get(object, "status"), "phase");

	if (w->unfinished && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
		return false;
	if (!object || !w->label)
		return object != NULL;
	return w->label_value ? strcmp(json_str_or_empty(labels, w->label), w->label_value) == 0
			      : json_object_get(labels, w->label) != NULL;
}

static void event_free(struct watch *w, struct event *e)
{
	DL_DELETE(w->queue, e);
	json_decref(e->object);
	free(e);
}

static void arm(struct watch *w)
{
	int64_t now_ms = loop_now_ms(fakecluster_loop());

	if (!w->listing && w->queue && !fake.held)
		loop_timer_set(&w->timer, w->queue->due_ms - now_ms);
}

static void queue(struct watch *w, json_t *object, bool deleted)
{
	struct event *e = mem_zalloc(sizeof(*e));

	e->object = json_incref(object);
	e->deleted = deleted;
	e->due_ms = loop_now_ms(fakecluster_loop()) + fake.lag_ms;
	DL_APPEND(w->queue, e);
	arm(w);
}

void fakewatch_tell(const char *path, json_t *before, json_t *now)
{
	struct watch *w;

	DL_FOREACH (fake.watches, w) {
		if (!is_in(w, path) || (w->listing && !w->snapshot))
			continue;
		if (fits(w, now))
			queue(w, now, false);
		else if (fits(w, before))
			queue(w, now ? now : before, true);
	}
}

/* ---- Handing on ---- */

static void add_to_snapshot(void *arg, const char *path, json_t *object)
{
	struct watch *w = arg;

	if (is_in(w, path) && fits(w, object))
		json_array_append(w->snapshot, object);
}

static const struct err *trouble_of(const struct watch *w)
{
	struct trouble *t;

	LL_FOREACH (fake.troubles, t)
		if (strstr(w->where, t->part))
			return &t->err;
	return NULL;
}

static void fail_list(struct watch *w, const struct err *err)
{
	loop_timer_set(&w->timer, RETRY_MS);
	if (!w->troubled)
		w->events.on_trouble(w->arg, err);
	w->troubled = true;
}

static void end_list(struct watch *w)
{
	json_decref(w->snapshot);
	w->snapshot = NULL;
	w->listing = false;
	w->events.on_synced(w->arg);
	if (w->troubled && !w->stopped)
		w->events.on_trouble(w->arg, NULL);
	w->troubled = false;
	if (!w->stopped)
		arm(w);
}

static void list_page(struct watch *w)
{
	const struct err *err = trouble_of(w);

	if (!w->snapshot && err) {
		fail_list(w, err);
		return;
	}
	if (!w->snapshot) {
		w->snapshot = json_array();
		w->handed_on = 0;
		fakecluster_each(add_to_snapshot, w);
		free(w->version);
		w->version = fakecluster_version();
		w->events.on_list(w->arg);
	}
	for (size_t i = 0; i < fake.page && w->handed_on < json_array_size(w->snapshot) && !w->stopped; i++)
		w->events.on_object(w->arg, json_array_get(w->snapshot, w->handed_on++));
	if (w->stopped)
		return;
	if (w->handed_on < json_array_size(w->snapshot))
		loop_timer_set(&w->timer, fake.page_ms);
	else
		end_list(w);
}

/* Whether the receiver knows it by its text, as the real watch asks. */
static bool is_known(const struct watch *w, const json_t *object)
{
	MEM_AUTO char *json = json_dumps(object, JSON_COMPACT);
	MEM_AUTO char *line = mem_printf("{\"type\":\"MODIFIED\",\"object\":%s}", json);
	MEM_AUTO char *room = mem_alloc(strlen(line));
	struct objecttext text;

	objecttext_read(&text, line, strlen(line), room);
	return w->events.on_text && w->events.on_text(w->arg, &text) && text.print;
}

static void on_timer(void *arg)
{
	struct watch *w = arg;
	struct event *e;

	if (w->listing) {
		list_page(w);
		return;
	}
	while (!w->stopped && (e = w->queue) != NULL && e->due_ms <= loop_now_ms(fakecluster_loop())) {
		json_t *object = json_incref(e->object);
		bool deleted = e->deleted;

		event_free(w, e);
		free(w->version);
		w->version = mem_dup(json_str_or_empty(json_object_get(object, "metadata"), "resourceVersion"));
		if (deleted)
			w->events.on_deleted(w->arg, object);
		else if (w->managed_fields || !is_known(w, object))
			w->events.on_object(w->arg, object);
		json_decref(object);
	}
	if (!w->stopped)
		arm(w);
}

static void begin_list(struct watch *w)
{
	while (w->queue)
		event_free(w, w->queue);
	json_decref(w->snapshot);
	w->snapshot = NULL;
	w->listing = true;
	loop_timer_set(&w->timer, LIST_MS);
}

/* ---- kube/watch ---- */

struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg)
{
	static const char by_name[] = "metadata.name=";
	struct watch *w = mem_zalloc(sizeof(*w));
	const char *equals = config->label_selector ? strchr(config->label_selector, '=') : NULL;

	(void)k;
	w->path = mem_dup(config->path);
	w->managed_fields = config->managed_fields;
	w->unfinished = config->field_selector &&
		strcmp(config->field_selector, "status.phase!=Succeeded,status.phase!=Failed") == 0;
	if (config->field_selector && !w->unfinished) {
		assert_true(strncmp(config->field_selector, by_name, sizeof(by_name) - 1) == 0);
		w->name = mem_dup(config->field_selector + sizeof(by_name) - 1);
	}
	w->where = mem_printf("%s/%s", w->path, w->name ? w->name : "*");
	if (config->label_selector && !equals)
		w->label = mem_dup(config->label_selector);
	if (equals) {
		w->label = mem_dupn(config->label_selector, (size_t)(equals - config->label_selector));
		w->label_value = mem_dup(equals + 1);
	}
	w->events = *events;
	w->arg = arg;
	loop_timer_init(&w->timer, fakecluster_loop(), on_timer, w);
	DL_APPEND(fake.watches, w);
	begin_list(w);
	return w;
}

static void watch_free(void *arg)
{
	struct watch *w = arg;

	json_decref(w->snapshot);
	free(w->version);
	free(w->path);
	free(w->label);
	free(w->label_value);
	free(w->name);
	free(w->where);
	free(w);
}

const char *watch_version(const struct watch *w)
{
	return w->version ? w->version : "";
}

/*
 * As the real one, it lives until the end of the turn: the stop may come from inside its own
 * events.
 */
void watch_stop(struct watch *w)
{
	if (!w || w->stopped)
		return;
	w->stopped = true;
	while (w->queue)
		event_free(w, w->queue);
	loop_timer_done(&w->timer);
	DL_DELETE(fake.watches, w);
	loop_free_later(fakecluster_loop(), w, watch_free);
}

/* ---- The test's side ---- */

void fakecluster_watch_lag(int64_t ms)
{
	fake.lag_ms = ms;
}

void fakecluster_page(int objects, int64_t ms)
{
	fake.page = (size_t)objects;
	fake.page_ms = ms;
}

void fakecluster_hold_watches(bool hold)
{
	struct watch *w;

	fake.held = hold;
	DL_FOREACH (fake.watches, w) {
		if (hold && !w->listing)
			loop_timer_cancel(&w->timer);
		arm(w);
	}
}

void fakecluster_relist(const char *part)
{
	struct watch *w;

	DL_FOREACH (fake.watches, w)
		if (strstr(w->where, part))
			begin_list(w);
}

void fakecluster_trouble(const char *part, enum err_kind kind, const char *message)
{
	struct trouble *t;

	troubles_free(part);
	if (message) {
		t = mem_zalloc(sizeof(*t));
		t->part = mem_dup(part);
		err_set(&t->err, kind, "%s", message);
		LL_PREPEND(fake.troubles, t);
	}
	fakecluster_relist(part);
}

unsigned fakecluster_watches(const char *part)
{
	struct watch *w;
	unsigned count = 0;

	DL_FOREACH (fake.watches, w)
		count += strstr(w->where, part) != NULL;
	return count;
}
