/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_kube.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "kube/watch.h"

#define DEADLINE_MS    10000
#define WATCH_RETRY_MS 1000
#define CALLS_MAX      4096 /* of one test */

struct object {
	struct object *next;
	char *path;
	json_t *json;
};

struct rule {
	struct rule *next;
	enum fake_fault fault;
	int verb, times, http_status;
	char *part;
};

enum step { STEP_ARRIVE, STEP_ANSWER };

struct kube_call {
	struct kube_call *prev, *next;
	enum kube_verb verb;
	enum kube_priority priority;
	char *path;
	json_t *body;
	kube_fn fn; /* NULL: cancelled */
	void *arg;
	int64_t deadline_ms;
	struct fake_job job;
	enum step step;
	bool loses; /* the answer */
	json_t *answer;
	struct err err;
};

struct watch {
	struct watch *prev, *next;
	char *path;
	char *name;
	struct watch_events events;
	void *arg;
	bool listing, troubled;
	char version[24];    /* of the list, or of the last event */
	struct fake_job job; /* the list */
};

struct event {
	struct event *prev, *next;
	struct watch *watch;
	bool deleted;
	json_t *object;
	struct fake_job job;
};

static struct {
	uint64_t version;
	struct kube_config *config; /* borrowed */
	struct object *objects;
	struct rule *rules;
	struct kube_call *calls;
	struct watch *watches;
	struct event *events;
	struct {
		int verb;
		char *path;
	} counted[CALLS_MAX];
	unsigned counted_total;
	int64_t last_deadline_ms;
	enum kube_priority last_priority;
	unsigned aborts;
	int64_t write_limit_ms;
	int before_verb;
	const char *before_part;
	void (*before)(void);
	bool cancelled_land;
	bool ignores_selectors;
} fake;

struct kube *fake_kube(void)
{
	return (struct kube *)&fake.calls;
}

struct loop *kube_loop(struct kube *k)
{
	assert_ptr_equal(k, fake_kube());
	return fake_loop();
}

static void on_call_due(void *arg);
static void on_list_due(void *arg);
static void on_event_due(void *arg);

/* ---- Objects ---- */

static struct object *find(const char *path)
{
	struct object *o;

	LL_FOREACH (fake.objects, o)
		if (strcmp(o->path, path) == 0)
			return o;
	return NULL;
}

const json_t *fake_object(const char *path)
{
	struct object *o = find(path);

	return o ? o->json : NULL;
}

const char *fake_text(const char *path, const char *key1, const char *key2)
{
	return json_str_or_empty(json_object_get(fake_object(path), key1), key2);
}

static bool is_watched(const struct watch *w, const char *path)
{
	size_t len = strlen(w->path);

	if (strncmp(path, w->path, len) != 0 || path[len] != '/')
		return false;
	return fake.ignores_selectors || strcmp(path + len + 1, w->name) == 0;
}

static void tell_watches(const char *path, const json_t *json, bool deleted)
{
	struct watch *w;

	DL_FOREACH (fake.watches, w) {
		struct event *e;

		if (w->listing || !is_watched(w, path))
			continue;
		e = mem_zalloc(sizeof *e);
		e->watch = w;
		e->deleted = deleted;
		e->object = json_deep_copy(json);
		DL_APPEND(fake.events, e);
		fake_job_set(&e->job, fake_now_ms() + FAKE_ANSWER_MS, on_event_due, e);
	}
}

static void set_version(json_t *object)
{
	json_t *metadata = json_object_get(object, "metadata");
	MEM_AUTO char *version = mem_printf("%llu", (unsigned long long)++fake.version);

	if (!metadata) {
		metadata = json_object();
		json_object_set_new(object, "metadata", metadata);
	}
	json_object_set_new(metadata, "resourceVersion", json_string(version));
}

void fake_put_json(const char *path, json_t *object)
{
	struct object *o = find(path);

	if (!o) {
		o = mem_zalloc(sizeof *o);
		o->path = mem_dup(path);
		LL_APPEND(fake.objects, o);
	}
	json_decref(o->json);
	o->json = object;
	if (!json_str_or_empty(json_object_get(object, "metadata"), "name")[0]) {
		if (!json_object_get(object, "metadata"))
			json_object_set_new(object, "metadata", json_object());
		json_object_set_new(json_object_get(object, "metadata"), "name", json_string(strrchr(path, '/') + 1));
	}
	set_version(object);
	tell_watches(path, object, false);
}

void fake_put(const char *path, const char *text)
{
	struct err err;
	json_t *object = json_parse(text, strlen(text), &err);

	if (!object)
		fail_msg("%s: %s", text, err.msg);
	fake_put_json(path, object);
}

void fake_remove(const char *path)
{
	struct object *o = find(path);

	if (!o) {
		fail_msg("there is no %s", path);
		return;
	}
	set_version(o->json); /* a deletion has one of its own */
	tell_watches(path, o->json, true);
	LL_DELETE(fake.objects, o);
	json_decref(o->json);
	free(o->path);
	free(o);
}

/* RFC 7386 */
static void merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)patch, key, value)
	{
		json_t *old = json_object_get(target, key);

		if (json_is_null(value)) {
			json_object_del(target, key);
		} else if (json_is_object(value)) {
			if (!json_is_object(old)) {
				json_object_set_new(target, key, json_object());
				old = json_object_get(target, key);
			}
			merge(old, value);
		} else {
			json_object_set(target, key, value);
		}
	}
}

/* ---- Carrying out ---- */

static void refuse(struct kube_call *c, int http_status)
{
	static const struct {
		int http_status;
		enum err_kind kind;
	} kinds[] = { { 400, ERR_INVALID }, { 401, ERR_DENIED }, { 403, ERR_DENIED }, { 404, ERR_MISSING },
		{ 409, ERR_CONFLICT }, { 422, ERR_INVALID } };

	err_set(&c->err, ERR_TEMPORARY, "HTTP %d", http_status);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].http_status == http_status)
			c->err.kind = kinds[i].kind;
	c->err.http_status = http_status;
}

static bool version_fits(const json_t *stored, const json_t *body)
{
	const char *wanted = json_str_or_empty(json_object_get(body, "metadata"), "resourceVersion");

	return !wanted[0] ||
		strcmp(wanted, json_str_or_empty(json_object_get(stored, "metadata"), "resourceVersion")) == 0;
}

static void carry_out_create(struct kube_call *c)
{
	MEM_AUTO char *path = mem_printf("%s/%s", c->path,
		json_str_or_empty(json_object_get(c->body, "metadata"), "name"));

	if (find(path)) {
		refuse(c, 409);
		return;
	}
	fake_put_json(path, json_deep_copy(c->body));
	c->answer = json_deep_copy(fake_object(path));
}

static void carry_out_change(struct kube_call *c)
{
	struct object *o = find(c->path);
	json_t *next;

	if (!o) {
		refuse(c, 404);
	} else if (!version_fits(o->json, c->body)) {
		refuse(c, 409);
	} else {
		next = json_deep_copy(c->verb == KUBE_UPDATE ? c->body : o->json);
		if (c->verb == KUBE_MERGE_PATCH)
			merge(next, c->body);
		fake_put_json(c->path, next);
		c->answer = json_deep_copy(fake_object(c->path));
	}
}

/* Without force: of one that is there, all that the body has must be so already. */
static void carry_out_apply(struct kube_call *c)
{
	json_t *merged = find(c->path) ? json_deep_copy(fake_object(c->path)) : json_object();

	merge(merged, c->body);
	if (find(c->path) && !json_equal(merged, fake_object(c->path)))
		refuse(c, 409);
	else if (!find(c->path))
		fake_put_json(c->path, json_incref(merged));
	if (c->err.kind == ERR_NONE)
		c->answer = json_deep_copy(fake_object(c->path));
	json_decref(merged);
}

static void carry_out_delete(struct kube_call *c)
{
	const json_t *wanted = json_object_get(c->body, "preconditions");
	struct object *o = find(c->path);

	if (!o)
		refuse(c, 404);
	else if (strcmp(json_str_or_empty(wanted, "resourceVersion"),
			 json_str_or_empty(json_object_get(o->json, "metadata"), "resourceVersion")) != 0)
		refuse(c, 409);
	else
		fake_remove(c->path);
}

static void carry_out(struct kube_call *c)
{
	if (fake.before && (fake.before_verb == FAKE_ANY || fake.before_verb == (int)c->verb) &&
		strstr(c->path, fake.before_part)) {
		void (*before)(void) = fake.before;

		fake.before = NULL;
		before();
	}
	if (c->verb == KUBE_CREATE) {
		carry_out_create(c);
	} else if (c->verb == KUBE_APPLY) {
		carry_out_apply(c);
	} else if (c->verb == KUBE_DELETE) {
		carry_out_delete(c);
	} else if (c->verb == KUBE_UPDATE || c->verb == KUBE_MERGE_PATCH) {
		carry_out_change(c);
	} else {
		assert_true(c->verb == KUBE_GET || c->verb == KUBE_REVIEW);
		if (find(c->path))
			c->answer = json_deep_copy(fake_object(c->path));
		else
			refuse(c, 404);
	}
}

static struct rule *take_rule(int verb, const char *path)
{
	struct rule *r;

	LL_FOREACH (fake.rules, r) {
		if (r->times == 0 || (r->verb != FAKE_ANY && r->verb != verb) || !strstr(path, r->part))
			continue;
		if (r->times > 0)
			r->times--;
		return r;
	}
	return NULL;
}

/* ---- kube/client ---- */

static bool is_write(const struct kube_call *c)
{
	return c->verb != KUBE_GET && c->verb != KUBE_LIST && c->verb != KUBE_REVIEW;
}

static void note_call(const struct kube_call *c, const struct kube_request *request)
{
	assert_true(fake.counted_total < CALLS_MAX);
	fake.counted[fake.counted_total].path = mem_dup(c->path);
	fake.counted[fake.counted_total++].verb = (int)c->verb;
	fake.last_deadline_ms = request->deadline_ms;
	fake.last_priority = request->priority;
}

static void meet_rule(struct kube_call *c)
{
	struct rule *r = take_rule((int)c->verb, c->path);

	if (r && r->fault == FAKE_REFUSE) {
		refuse(c, r->http_status);
		c->step = STEP_ANSWER;
	} else if (r && r->fault == FAKE_HANG) {
		err_set(&c->err, ERR_TEMPORARY, "timed out");
		c->step = STEP_ANSWER;
		fake_job_set(&c->job, c->deadline_ms, on_call_due, c);
	} else if (r) {
		c->loses = true;
	}
}

struct kube_call *kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg)
{
	struct kube_call *c = mem_zalloc(sizeof *c);
	size_t path_len = strcspn(request->path, "?");
	struct err err;

	assert_ptr_equal(k, fake_kube());
	c->verb = request->verb;
	c->priority = request->priority;
	c->path = mem_dupn(request->path, path_len);
	if (request->body) {
		c->body = json_parse(request->body, strlen(request->body), &err);
		assert_non_null(c->body);
	}
	c->fn = fn;
	c->arg = arg;
	fake_job_set(&c->job, fake_now_ms() + FAKE_ANSWER_MS, on_call_due, c);
	c->deadline_ms = fake_now_ms() + (request->deadline_ms > 0 ? request->deadline_ms : DEADLINE_MS);
	note_call(c, request);
	meet_rule(c);
	DL_APPEND(fake.calls, c);
	return c;
}

static void call_free(struct kube_call *c)
{
	fake_job_cancel(&c->job);
	DL_DELETE(fake.calls, c);
	json_decref(c->body);
	json_decref(c->answer);
	free(c->path);
	free(c);
}

void kube_cancel(struct kube_call *c)
{
	if (!c)
		return;
	c->fn = NULL;
	if (!(is_write(c) && c->step == STEP_ARRIVE && fake.cancelled_land))
		call_free(c);
}

void kube_abort_writes(struct kube *k)
{
	struct kube_call *c;

	(void)k;
	fake.aborts++;
	DL_FOREACH (fake.calls, c) {
		if (!is_write(c) || c->priority == KUBE_URGENT)
			continue;
		err_set(&c->err, ERR_TEMPORARY, "aborted");
		c->step = STEP_ANSWER;
		fake_job_set(&c->job, fake_now_ms(), on_call_due, c);
	}
}

void kube_set_write_limit(struct kube *k, int64_t until_ms)
{
	(void)k;
	fake.write_limit_ms = until_ms;
}

void fake_keep_current(struct kube_config *config)
{
	fake.config = config;
}

int kube_refresh(struct kube *k, bool *changed, struct err *err)
{
	(void)k;
	return kube_config_refresh(fake.config, changed, err);
}

char *kube_escape(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; *text && n + 4 < size + 3; text++)
		n += (size_t)snprintf(out + n, size - n,
			isalnum((unsigned char)*text) || strchr("-._~", *text) ? "%c" : "%%%02X", (unsigned char)*text);
	out[n] = '\0';
	return out;
}

static void answer(struct kube_call *c)
{
	kube_fn fn = c->fn;
	json_t *object = c->err.kind == ERR_NONE ? json_incref(c->answer) : NULL;
	struct err err = c->err;
	void *arg = c->arg;

	call_free(c);
	if (fn)
		fn(arg, object, err.kind == ERR_NONE ? NULL : &err);
	json_decref(object);
}

static void on_call_due(void *arg)
{
	struct kube_call *c = arg;

	if (c->step == STEP_ARRIVE) {
		carry_out(c);
		c->step = STEP_ANSWER;
		if (c->loses) {
			err_set(&c->err, ERR_TEMPORARY, "timed out");
			fake_job_set(&c->job, c->deadline_ms, on_call_due, c);
			return;
		}
	}
	answer(c);
}

/* ---- kube/watch ---- */

struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg)
{
	struct watch *w = mem_zalloc(sizeof *w);

	(void)k;
	assert_non_null(config->field_selector);
	assert_memory_equal(config->field_selector, "metadata.name=", 14);
	w->path = mem_dup(config->path);
	w->name = mem_dup(config->field_selector + 14);
	w->events = *events;
	w->arg = arg;
	w->listing = true;
	DL_APPEND(fake.watches, w);
	fake_job_set(&w->job, fake_now_ms() + FAKE_ANSWER_MS, on_list_due, w);
	return w;
}

void watch_stop(struct watch *w)
{
	struct event *e, *next;

	if (!w)
		return;
	DL_FOREACH_SAFE (fake.events, e, next) {
		if (e->watch != w)
			continue;
		fake_job_cancel(&e->job);
		DL_DELETE(fake.events, e);
		json_decref(e->object);
		free(e);
	}
	fake_job_cancel(&w->job);
	DL_DELETE(fake.watches, w);
	free(w->path);
	free(w->name);
	free(w);
}

const char *watch_version(const struct watch *w)
{
	return w->version;
}

static void on_list_due(void *arg)
{
	struct watch *w = arg;
	struct rule *r = take_rule(KUBE_LIST, w->path);
	struct kube_call failure = { 0 };
	struct object *o;

	if (r) {
		refuse(&failure, r->http_status);
		fake_job_set(&w->job, fake_now_ms() + WATCH_RETRY_MS, on_list_due, w);
		if (!w->troubled)
			w->events.on_trouble(w->arg, &failure.err);
		w->troubled = true;
		return;
	}
	w->listing = false;
	snprintf(w->version, sizeof w->version, "%llu", (unsigned long long)fake.version);
	w->events.on_list(w->arg);
	LL_FOREACH (fake.objects, o) {
		json_t *copy = is_watched(w, o->path) ? json_deep_copy(o->json) : NULL;

		if (copy)
			w->events.on_object(w->arg, copy);
		json_decref(copy);
	}
	w->events.on_synced(w->arg);
	if (w->troubled)
		w->events.on_trouble(w->arg, NULL);
	w->troubled = false;
}

static void on_event_due(void *arg)
{
	struct event *e = arg;
	struct watch *w = e->watch;

	DL_DELETE(fake.events, e);
	snprintf(w->version, sizeof w->version, "%s",
		json_str_or_empty(json_object_get(e->object, "metadata"), "resourceVersion"));
	if (e->deleted)
		w->events.on_deleted(w->arg, e->object);
	else
		w->events.on_object(w->arg, e->object);
	json_decref(e->object);
	free(e);
}

/* ---- Faults and looks ---- */

void fake_fail(enum fake_fault fault, int verb, const char *part, int times, int http_status)
{
	struct rule *r = mem_zalloc(sizeof *r);

	r->fault = fault;
	r->verb = verb;
	r->part = mem_dup(part);
	r->times = times;
	r->http_status = http_status;
	LL_APPEND(fake.rules, r);
}

void fake_heal(void)
{
	struct rule *r, *next;

	LL_FOREACH_SAFE (fake.rules, r, next) {
		LL_DELETE(fake.rules, r);
		free(r->part);
		free(r);
	}
}

void fake_just_before(int verb, const char *part, void (*fn)(void))
{
	fake.before_verb = verb;
	fake.before_part = part;
	fake.before = fn;
}

void fake_ignore_selectors(void)
{
	fake.ignores_selectors = true;
}

void fake_cancelled_land(bool land)
{
	fake.cancelled_land = land;
}

unsigned fake_count(int verb, const char *part)
{
	unsigned count = 0;

	for (unsigned i = 0; i < fake.counted_total; i++)
		if ((verb == FAKE_ANY || verb == fake.counted[i].verb) && strstr(fake.counted[i].path, part))
			count++;
	return count;
}

int64_t fake_last_deadline_ms(void)
{
	return fake.last_deadline_ms;
}

enum kube_priority fake_last_priority(void)
{
	return fake.last_priority;
}

unsigned fake_aborts(void)
{
	return fake.aborts;
}

int64_t fake_write_limit_ms(void)
{
	return fake.write_limit_ms;
}

/* ---- Start and end ---- */

void fake_start(void)
{
	memset(&fake, 0, sizeof fake);
	fake.version = 100;
	fake_loop_start();
}

void fake_end(void)
{
	struct object *o, *next;

	while (fake.calls) { /* only those that were cancelled and land all the same */
		assert_true(fake.calls->fn == NULL);
		call_free(fake.calls);
	}
	assert_null(fake.watches);
	assert_null(fake.events);
	LL_FOREACH_SAFE (fake.objects, o, next) {
		json_decref(o->json);
		free(o->path);
		free(o);
	}
	for (unsigned i = 0; i < fake.counted_total; i++)
		free(fake.counted[i].path);
	fake_heal();
	fake_loop_end();
}
