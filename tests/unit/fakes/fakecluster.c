/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakecluster_parts.h"
#include "fakeloop.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"

/* The JSON is never changed but replaced, so that watches can keep counts of it. */
struct thing {
	char *path;
	json_t *json;
	UT_hash_handle hh;
};

static struct {
	struct loop *loop;
	struct thing *things;
	struct thing *documents;
	const char *elsewhere, *field; /* whose replicas stand in spec.<field> */
	json_t *earlier;
	uint64_t version, uids;
	unsigned tokens;
	void (*admission)(const char *path, json_t *object);
	void (*on_status)(json_t *status);
} fake;

struct loop *fakecluster_loop(void)
{
	return fake.loop;
}

struct kube *fakecluster_start(struct loop *loop)
{
	memset(&fake, 0, sizeof(fake));
	fake.loop = loop;
	fake.version = 100;
	fakewatch_start();
	fakeapi_start();
	return (struct kube *)&fake;
}

static void thing_free(struct thing *t)
{
	HASH_DEL(fake.things, t);
	json_decref(t->json);
	free(t->path);
	free(t);
}

static void document_free(struct thing *t)
{
	HASH_DEL(fake.documents, t);
	json_decref(t->json);
	free(t->path);
	free(t);
}

void fakecluster_serve(const char *path, const char *text)
{
	struct thing *t;

	HASH_FIND_STR(fake.documents, path, t);
	if (t)
		document_free(t);
	if (!text)
		return;
	t = mem_zalloc(sizeof(*t));
	t->path = mem_dup(path);
	t->json = fakecluster_parse(text);
	HASH_ADD_KEYPTR(hh, fake.documents, t->path, strlen(t->path), t);
}

void fakecluster_replicas_in(const char *part, const char *field)
{
	fake.elsewhere = part;
	fake.field = field;
}

void fakecluster_end(void)
{
	struct thing *t, *next;

	json_decref(fake.earlier);
	fake.earlier = NULL;
	HASH_ITER (hh, fake.documents, t, next)
		document_free(t);

	fakeapi_end();
	fakewatch_end();
	HASH_ITER (hh, fake.things, t, next)
		thing_free(t);
}

void fakecluster_restored(uint64_t version)
{
	fake.version = version;
}

void fakecluster_on_admission(void (*fn)(const char *path, json_t *object))
{
	fake.admission = fn;
}

void fakecluster_on_status(void (*fn)(json_t *status))
{
	fake.on_status = fn;
}

char *fakecluster_version(void)
{
	return mem_printf("%llu", (unsigned long long)fake.version);
}

/* ---- Looking ---- */

json_t *fakecluster_parse(const char *text)
{
	MEM_AUTO char *json = mem_dup(text);
	struct err err = { 0 };
	json_t *value;

	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = json_parse(json, strlen(json), &err);
	if (!value)
		fail_msg("%s: %s", text, err.msg);
	return value;
}

static struct thing *find(const char *path)
{
	struct thing *t;

	HASH_FIND_STR(fake.things, path, t);
	return t;
}

const json_t *fakecluster_get(const char *path)
{
	struct thing *t = find(path);

	return t ? t->json : NULL;
}

const json_t *fakecluster_at(const char *path, const char *field)
{
	const json_t *at = fakecluster_get(path);
	MEM_AUTO char *copy = mem_dup(field);
	char *rest = copy, *key;

	while (at && (key = strsep(&rest, ".")) != NULL)
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
	return at;
}

const char *fakecluster_text(const char *path, const char *field)
{
	const char *text = json_string_value(fakecluster_at(path, field));

	return text ? text : "";
}

int64_t fakecluster_number(const char *path, const char *field)
{
	const json_t *at = fakecluster_at(path, field);

	return json_is_integer(at) ? json_integer_value(at) : -1;
}

unsigned fakecluster_count(const char *part)
{
	struct thing *t, *next;
	unsigned count = 0;

	HASH_ITER (hh, fake.things, t, next)
		count += strstr(t->path, part) != NULL;
	return count;
}

void fakecluster_each(void (*fn)(void *arg, const char *path, json_t *object), void *arg)
{
	struct thing *t, *next;

	HASH_ITER (hh, fake.things, t, next)
		fn(arg, t->path, t->json);
}

/* ---- Keeping ---- */

static json_t *meta_of(json_t *object)
{
	json_t *meta = json_object_get(object, "metadata");

	if (!meta) {
		meta = json_object();
		json_object_set_new(object, "metadata", meta);
	}
	return meta;
}

static const char *meta_text(const json_t *object, const char *key)
{
	return json_str_or_empty(json_object_get(object, "metadata"), key);
}

static void set_owned(json_t *object, const char *key, char *text)
{
	json_object_set_new(object, key, json_string(text));
	free(text);
}

static void set_now(json_t *object, const char *key)
{
	char text[TIMESTAMP_TEXT_MAX];

	json_object_set_new(object, key, json_string(timestamp_format(fakeloop_wall_ms(), text)));
}

/* ".../namespaces/<namespace>/<resource>/<name>" */
static void set_identity(json_t *object, const char *path)
{
	const char *namespace_ = strstr(path, "/namespaces/"), *end;
	json_t *meta = meta_of(object);

	namespace_ = namespace_ ? namespace_ + strlen("/namespaces/") : NULL;
	end = namespace_ ? strchr(namespace_, '/') : NULL;
	if (end) /* else it belongs to the whole cluster */
		set_owned(meta, "namespace", mem_dupn(namespace_, (size_t)(end - namespace_)));
	set_owned(meta, "name", mem_dup(strrchr(path, '/') + 1));
}

static bool is_deleted(const json_t *object)
{
	return *meta_text(object, "deletionTimestamp") != '\0';
}

static bool has_finalizers(const json_t *object)
{
	return json_array_size(json_object_get(json_object_get(object, "metadata"), "finalizers")) > 0;
}

static void set_version(json_t *object)
{
	set_owned(meta_of(object), "resourceVersion", mem_printf("%llu", (unsigned long long)++fake.version));
}

static void remove_thing(struct thing *t)
{
	json_t *last = json_deep_copy(t->json);

	set_version(last); /* that of the deletion */
	fakewatch_tell(t->path, last, NULL);
	json_decref(last);
	thing_free(t);
}

/* Takes object. What changes nothing makes no new version, as in the real server. */
static void keep(const char *path, json_t *object)
{
	struct thing *t = find(path);
	json_t *before = t ? t->json : NULL, *meta = meta_of(object);
	int64_t generation = json_integer_value(json_object_get(meta, "generation"));

	if (!t) {
		t = mem_zalloc(sizeof(*t));
		t->path = mem_dup(path);
		HASH_ADD_KEYPTR(hh, fake.things, t->path, strlen(t->path), t);
		set_owned(meta, "uid", mem_printf("uid-%llu", (unsigned long long)++fake.uids));
		set_now(meta, "creationTimestamp");
		generation = 1;
	} else if (json_equal(before, object)) {
		json_decref(object);
		return;
	} else if (!json_equal(json_object_get(before, "spec"), json_object_get(object, "spec"))) {
		generation++;
	}
	json_object_set_new(meta, "generation", json_integer(generation));
	set_version(object);
	t->json = object;
	if (is_deleted(object) && !has_finalizers(object))
		remove_thing(t);
	else
		fakewatch_tell(path, before, object);
	json_decref(before);
}

/* RFC 7386 */
static void merge(json_t *target, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)patch, key, value)
	{
		if (json_is_null(value)) {
			json_object_del(target, key);
		} else if (json_is_object(value)) {
			if (!json_is_object(json_object_get(target, key)))
				json_object_set_new(target, key, json_object());
			merge(json_object_get(target, key), value);
		} else {
			json_object_set(target, key, value);
		}
	}
}

/* ---- What others do ---- */

static void carry_over(json_t *to, const json_t *from, const char *key)
{
	if (json_object_get(from, key))
		json_object_set(to, key, json_object_get(from, key));
	else
		json_object_del(to, key);
}

/* What a PUT cannot change. */
static void carry_over_kept(json_t *to, const json_t *from)
{
	static const char *const kept[] = { "uid", "creationTimestamp", "generation", "deletionTimestamp",
		"resourceVersion" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		carry_over(meta_of(to), json_object_get(from, "metadata"), kept[i]);
	carry_over(to, from, "status");
}

void fakecluster_apply(const char *path, const char *text)
{
	struct thing *t = find(path);
	json_t *object = fakecluster_parse(text);

	set_identity(object, path);
	if (t)
		carry_over_kept(object, t->json);
	keep(path, object);
}

void fakecluster_change(const char *path, const char *text)
{
	struct thing *t = find(path);
	json_t *patch = fakecluster_parse(text), *object;

	assert_non_null(t);
	object = json_deep_copy(t->json);
	merge(object, patch);
	json_decref(patch);
	keep(path, object);
}

static void delete_thing(struct thing *t)
{
	json_t *object;

	if (!has_finalizers(t->json)) {
		remove_thing(t);
		return;
	}
	if (is_deleted(t->json))
		return;
	object = json_deep_copy(t->json);
	set_now(meta_of(object), "deletionTimestamp");
	keep(t->path, object);
}

void fakecluster_delete(const char *path)
{
	struct thing *t = find(path);

	assert_non_null(t);
	delete_thing(t);
}

static bool has_uid(const char *uid)
{
	struct thing *t, *next;

	HASH_ITER (hh, fake.things, t, next)
		if (strcmp(meta_text(t->json, "uid"), uid) == 0)
			return true;
	return false;
}

void fakecluster_collect_garbage(void)
{
	struct thing *t, *next;

	HASH_ITER (hh, fake.things, t, next) {
		const json_t *owner =
			json_array_get(json_object_get(json_object_get(t->json, "metadata"), "ownerReferences"), 0);

		if (owner && !has_uid(json_str_or_empty(owner, "uid")))
			delete_thing(t);
	}
}

/* ---- The server's side of a call ---- */

static bool version_fits(const json_t *stored, const json_t *body)
{
	const char *wanted = meta_text(body, "resourceVersion");

	return !*wanted || strcmp(wanted, meta_text(stored, "resourceVersion")) == 0;
}

static int do_create(const char *path, const json_t *body, json_t **answer, struct err *err)
{
	MEM_AUTO char *own_path = mem_printf("%s/%s", path, meta_text(body, "name"));
	json_t *object;

	if (find(own_path))
		return fakeapi_error(err, 409, "already exists");
	object = json_deep_copy(body);
	json_object_del(object, "status");
	set_identity(object, own_path);
	if (fake.admission)
		fake.admission(own_path, object);
	keep(own_path, object);
	*answer = json_incref(find(own_path)->json);
	return 0;
}

static int do_scale(struct thing *t, const json_t *body, json_t **answer, struct err *err)
{
	const char *field = fake.elsewhere && strstr(t->path, fake.elsewhere) ? fake.field : "replicas";
	const json_t *replicas = json_object_get(json_object_get(body, "spec"), "replicas");
	json_t *object, *scale = json_object(), *spec = json_object();

	if (!version_fits(t->json, body)) {
		json_decref(scale);
		json_decref(spec);
		return fakeapi_error(err, 409, "the object has been modified");
	}
	if (replicas) {
		object = json_deep_copy(t->json);
		json_object_set_new(json_object_get(object, "spec"), field, json_deep_copy(replicas));
		keep(t->path, object);
	}
	json_object_set(spec, "replicas", json_object_get(json_object_get(t->json, "spec"), field));
	if (json_integer_value(json_object_get(spec, "replicas")) == 0)
		json_object_del(spec, "replicas"); /* omitempty */
	json_object_set_new(scale, "kind", json_string("Scale"));
	json_object_set_new(scale, "spec", spec);
	json_object_set_new(scale, "metadata", json_object());
	carry_over(meta_of(scale), json_object_get(t->json, "metadata"), "name");
	carry_over(meta_of(scale), json_object_get(t->json, "metadata"), "namespace");
	carry_over(meta_of(scale), json_object_get(t->json, "metadata"), "uid");
	carry_over(meta_of(scale), json_object_get(t->json, "metadata"), "resourceVersion");
	*answer = scale;
	return 0;
}

/*
 * A merge patch of /status changes nothing else, and one of the object does not change its status.
 */
static json_t *patched(const json_t *stored, const json_t *body, bool status)
{
	json_t *object = json_deep_copy(stored), *patch = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)body, key, value) if ((strcmp(key, "status") == 0) == status)
		json_object_set_new(patch, key, json_deep_copy(value));
	json_object_del(json_object_get(patch, "metadata"), "resourceVersion");
	merge(object, patch);
	json_decref(patch);
	if (status && fake.on_status)
		fake.on_status(json_object_get(object, "status"));
	return object;
}

static json_t *replaced(const json_t *stored, const json_t *body)
{
	json_t *object = json_deep_copy(body);

	carry_over_kept(object, stored);
	return object;
}

static int do_change(struct thing *t, enum kube_verb verb, const json_t *body, bool status, json_t **answer,
	struct err *err)
{
	json_t *object;
	MEM_AUTO char *path = mem_dup(t->path);

	if (!version_fits(t->json, body))
		return fakeapi_error(err, 409, "the object has been modified");
	object = verb == KUBE_UPDATE ? replaced(t->json, body) : patched(t->json, body, status);
	if (!status && fake.admission)
		fake.admission(t->path, object);
	*answer = json_incref(object);
	keep(path, object);
	/*
	 * Where nothing changed, and where the last finalizer is gone, the answer is the object as
	 * it stood.
	 */
	if (find(path)) {
		json_decref(*answer);
		*answer = json_incref(find(path)->json);
	}
	return 0;
}

/* By force, and without ownership of fields: what body has. */
static int do_apply(const char *path, const json_t *body, json_t **answer)
{
	const struct thing *t = find(path);
	json_t *object = t ? json_deep_copy(t->json) : json_object();

	merge(object, body);
	set_identity(object, path);
	keep(path, object);
	*answer = json_incref(find(path)->json);
	return 0;
}

static int do_delete(struct thing *t, const json_t *body, json_t **answer, struct err *err)
{
	const char *uid = json_str_or_empty(json_object_get(body, "preconditions"), "uid");

	if (*uid && strcmp(uid, meta_text(t->json, "uid")) != 0)
		return fakeapi_error(err, 409, "the UID in the precondition is another");
	delete_thing(t);
	*answer = fakecluster_parse("{'kind':'Status','status':'Success'}");
	return 0;
}

/* A token of its own for each request: "token-1 of worker", ... */
static int do_token(const struct thing *t, const json_t *body, json_t **answer)
{
	int64_t seconds = json_integer_value(json_object_get(json_object_get(body, "spec"), "expirationSeconds"));
	json_t *status = json_object();
	char until[TIMESTAMP_TEXT_MAX];

	assert_true(seconds >= 600); /* less is refused by the real one */
	set_owned(status, "token", mem_printf("token-%u of %s", ++fake.tokens, strrchr(t->path, '/') + 1));
	json_object_set_new(status, "expirationTimestamp",
		json_string(timestamp_format(fakeloop_wall_ms() + seconds * 1000, until)));
	*answer = json_object();
	json_object_set_new(*answer, "status", status);
	return 0;
}

void fakecluster_earlier(const char *path, const char *change)
{
	json_t *patch = fakecluster_parse(change);

	json_decref(fake.earlier);
	fake.earlier = json_deep_copy(fakecluster_get(path));
	merge(fake.earlier, patch);
	json_decref(patch);
}

/* Of lists of an earlier version: this object alone, if it is one of the collection's. */
static json_t *list_earlier(void)
{
	json_t *items = json_array();

	if (fake.earlier)
		json_array_append(items, fake.earlier);
	return json_pack("{s:{}, s:o}", "metadata", "items", items);
}

/* Cuts a subresource off the path; true when there was this one. */
static bool cut(char *path, const char *subresource)
{
	size_t len = strlen(path), tail = strlen(subresource);

	if (len < tail || strcmp(path + len - tail, subresource) != 0)
		return false;
	path[len - tail] = '\0';
	return true;
}

int fakecluster_do(enum kube_verb verb, const char *full_path, const json_t *body, json_t **answer, struct err *err)
{
	MEM_AUTO char *path = mem_dup(full_path);
	bool scale = cut(path, "/scale"), status = cut(path, "/status"),
	     token = verb == KUBE_REVIEW && cut(path, "/token");
	struct thing *t = find(path);

	*answer = NULL;
	if (verb == KUBE_CREATE)
		return do_create(path, body, answer, err);
	if (verb == KUBE_APPLY)
		return do_apply(path, body, answer);
	if (verb == KUBE_LIST && strstr(path, "resourceVersionMatch=Exact")) {
		*answer = list_earlier();
		return 0;
	}
	if (verb == KUBE_LIST)
		return fakelist_do(path, answer);
	if (!t && verb == KUBE_GET)
		HASH_FIND_STR(fake.documents, path, t);
	if (!t)
		return fakeapi_error(err, 404, "not found");
	if (token)
		return do_token(t, body, answer);
	if (scale && (verb == KUBE_GET || verb == KUBE_MERGE_PATCH))
		return do_scale(t, body, answer, err);
	if (verb == KUBE_UPDATE || verb == KUBE_MERGE_PATCH)
		return do_change(t, verb, body, status, answer, err);
	if (verb == KUBE_DELETE)
		return do_delete(t, body, answer, err);
	assert_int_equal(verb, KUBE_GET);
	*answer = json_incref(t->json);
	return 0;
}
