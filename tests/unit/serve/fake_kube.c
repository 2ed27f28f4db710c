/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_kube.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/json.h"
#include "base/mem.h"
#include "kube/watch.h"

struct kube_call {
	struct kube_call *prev, *next;
	struct kube *kube;
	bool is_token;
	char *text;
	review_token_fn token_fn;
	review_access_fn access_fn;
	void *arg;
};

struct kube {
	struct loop *loop;
	struct kube_call *tokens, *accesses;
	int tokens_ever, accesses_ever;
	struct watch_events events;
	void *events_arg;
	char *path, *fields;
	const char *trouble;
};

struct kube *fake_kube_new(struct loop *loop)
{
	struct kube *k = mem_zalloc(sizeof(*k));

	k->loop = loop;
	return k;
}

void fake_kube_free(struct kube *k)
{
	assert(!k->tokens && !k->accesses); /* cancelled or answered */
	free(k->path);
	free(k->fields);
	free(k);
}

void fake_kube_lose_contact(struct kube *k, const char *why)
{
	k->trouble = why;
}

const char *kube_trouble(struct kube *k)
{
	return k->trouble;
}

struct loop *kube_loop(struct kube *k)
{
	return k->loop;
}

static void call_free(struct kube_call *call)
{
	if (call->is_token)
		DL_DELETE(call->kube->tokens, call);
	else
		DL_DELETE(call->kube->accesses, call);
	free(call->text);
	free(call);
}

void kube_cancel(struct kube_call *call)
{
	if (call)
		call_free(call);
}

/* ---- Reviews ---- */

void review_user_done(struct review_user *u)
{
	free(u->name);
	free(u->uid);
	for (size_t i = 0; i < u->group_count; i++)
		free(u->groups[i]);
	for (size_t i = 0; i < u->extra_count; i++) {
		free(u->extra_keys[i]);
		free(u->extra_values[i]);
	}
	free(u->groups);
	free(u->extra_keys);
	free(u->extra_values);
	*u = (struct review_user){ .name = NULL };
}

struct kube_call *review_token(struct kube *k, const char *token, review_token_fn fn, void *arg)
{
	struct kube_call *call = mem_zalloc(sizeof(*call));

	call->kube = k;
	call->is_token = true;
	call->text = mem_dup(token);
	call->token_fn = fn;
	call->arg = arg;
	k->tokens_ever++;
	DL_APPEND(k->tokens, call);
	return call;
}

struct kube_call *review_access(struct kube *k, const struct review_user *user, const struct review_access *a,
	review_access_fn fn, void *arg)
{
	struct kube_call *call = mem_zalloc(sizeof(*call));

	call->kube = k;
	call->text = a->path
		? mem_printf("%s %s %s", user->name, a->verb, a->path)
		: mem_printf("%s %s %s/%s %s %s%s%s", user->name, a->verb, a->group, a->version, a->resource,
			  a->namespace_ ? a->namespace_ : "*", a->name ? "/" : "", a->name ? a->name : "");
	call->access_fn = fn;
	call->arg = arg;
	k->accesses_ever++;
	DL_APPEND(k->accesses, call);
	return call;
}

static int count(const struct kube_call *list)
{
	const struct kube_call *call;
	int n;

	DL_COUNT(list, call, n);
	return n;
}

int fake_kube_token_reviews(const struct kube *k)
{
	return count(k->tokens);
}

int fake_kube_token_reviews_ever(const struct kube *k)
{
	return k->tokens_ever;
}

const char *fake_kube_token(const struct kube *k)
{
	return k->tokens ? k->tokens->text : "";
}

static struct kube_call take(struct kube_call *call)
{
	struct kube_call taken = *call;

	call_free(call);
	return taken;
}

void fake_kube_answer_token(struct kube *k, const char *name, const char *group)
{
	struct kube_call call = take(k->tokens);
	struct review_user user = { .name = mem_dup(name) };

	if (group) {
		user.groups = mem_array(1, sizeof(*user.groups));
		user.groups[user.group_count++] = mem_dup(group);
	}
	call.token_fn(call.arg, name ? &user : NULL, NULL);
	review_user_done(&user);
}

void fake_kube_fail_token(struct kube *k, enum err_kind kind, int http_status, const char *message)
{
	struct kube_call call = take(k->tokens);
	struct err err = { 0 };

	err_set(&err, kind, "%s", message);
	err.http_status = http_status;
	call.token_fn(call.arg, NULL, &err);
}

int fake_kube_access_reviews(const struct kube *k)
{
	return count(k->accesses);
}

int fake_kube_access_reviews_ever(const struct kube *k)
{
	return k->accesses_ever;
}

const char *fake_kube_access(const struct kube *k)
{
	return k->accesses ? k->accesses->text : "";
}

void fake_kube_answer_access(struct kube *k, bool allowed, const char *reason)
{
	struct kube_call call = take(k->accesses);

	call.access_fn(call.arg, allowed, reason, NULL);
}

void fake_kube_fail_access(struct kube *k, enum err_kind kind, const char *message)
{
	struct kube_call call = take(k->accesses);
	struct err err = { 0 };

	err_set(&err, kind, "%s", message);
	call.access_fn(call.arg, false, NULL, &err);
}

/* ---- The watch ---- */

struct watch {
	struct kube *kube;
};

struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg)
{
	struct watch *w = mem_zalloc(sizeof(*w));

	w->kube = k;
	k->events = *events;
	k->events_arg = arg;
	free(k->path);
	free(k->fields);
	k->path = mem_dup(config->path);
	k->fields = mem_dup(config->field_selector);
	return w;
}

void watch_stop(struct watch *w)
{
	free(w);
}

const char *watch_version(const struct watch *w)
{
	(void)w;
	return "";
}

const char *fake_kube_watch_path(const struct kube *k)
{
	return k->path;
}

const char *fake_kube_watch_fields(const struct kube *k)
{
	return k->fields;
}

static const char *watched_name(const struct kube *k)
{
	return strchr(k->fields, '=') + 1;
}

/* The test's text is JSON with ' for ". */
static json_t *object_of(const char *text)
{
	char *json = mem_dup(text);
	json_t *object;

	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	object = json_parse(json, strlen(json), NULL);
	assert(object);
	free(json);
	return object;
}

void fake_kube_change(struct kube *k, const char *object_json)
{
	json_t *object = object_of(object_json);

	if (!json_object_get(object, "metadata"))
		json_object_set_new(object, "metadata", json_pack("{s:s}", "name", watched_name(k)));
	k->events.on_object(k->events_arg, object);
	json_decref(object);
}

void fake_kube_list(struct kube *k, const char *object_json)
{
	k->events.on_list(k->events_arg);
	if (object_json)
		fake_kube_change(k, object_json);
	k->events.on_synced(k->events_arg);
}

void fake_kube_delete_other(struct kube *k, const char *name)
{
	json_t *object = json_pack("{s:{s:s}}", "metadata", "name", name);

	k->events.on_deleted(k->events_arg, object);
	json_decref(object);
}

void fake_kube_delete(struct kube *k)
{
	fake_kube_delete_other(k, watched_name(k));
}

void fake_kube_trouble(struct kube *k, const char *message)
{
	struct err err = { 0 };

	err_set(&err, ERR_DENIED, "%s", message);
	k->events.on_trouble(k->events_arg, &err);
}
