/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"

struct catalogue {
	const char *default_namespace;
	struct catalogue_entry *entries;
	json_t *lists; /* key "LimitRange/shop", value: array */
};

struct catalogue *catalogue_new(const char *default_namespace)
{
	struct catalogue *c = mem_zalloc(sizeof(*c));

	c->default_namespace = default_namespace;
	c->lists = json_object();
	return c;
}

void catalogue_free(struct catalogue *c)
{
	struct catalogue_entry *e, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->entries, e, next) {
		HASH_DELETE(hh, c->entries, e);
		triggerauth_free(e->auth);
		strmap_done_secret(&e->data);
		strmap_done(&e->unreadable);
		free(e->key);
		free(e);
	}
	json_decref(c->lists);
	free(c);
}

const char *catalogue_namespace(const struct catalogue *c, const json_t *object)
{
	const char *given = fields_namespace(object);

	if (json_str_is(object, "kind", TRIGGERAUTH_CLUSTER_KIND))
		return "";
	return *given ? given : c->default_namespace;
}

/* Decoders require a name, but the other rules should be checked without one, too. */
json_t *catalogue_placed(const struct catalogue *c, const json_t *object)
{
	json_t *copy = json_copy((json_t *)(uintptr_t)object),
	       *metadata = json_copy(json_object_get(object, "metadata"));
	const char *namespace_ = catalogue_namespace(c, object);

	if (!json_is_object(metadata)) {
		json_decref(metadata);
		metadata = json_object();
	}
	if (!*json_str_or_empty(metadata, "name"))
		json_object_set_new(metadata, "name",
			json_sprintf("%sxxxxx", json_str_or_empty(metadata, "generateName")));
	if (*namespace_)
		json_object_set_new(metadata, "namespace", json_string(namespace_));
	else
		json_object_del(metadata, "namespace");
	json_object_set_new(copy, "metadata", metadata);
	return copy;
}

static void add_to_list(struct catalogue *c, const json_t *object, const char *kind, const char *namespace_)
{
	MEM_AUTO char *key = mem_printf("%s/%s", kind, namespace_);
	json_t *list = json_object_get(c->lists, key);

	if (!list) {
		list = json_array();
		json_object_set_new(c->lists, key, list);
	}
	json_array_append(list, (json_t *)(uintptr_t)object);
}

const struct document *catalogue_add(struct catalogue *c, const struct document *doc)
{
	const char *kind = json_str_or_empty(doc->json, "kind"), *name = fields_name(doc->json);
	const char *namespace_ = catalogue_namespace(c, doc->json);
	struct catalogue_entry *e;

	if (strcmp(kind, "HorizontalPodAutoscaler") == 0 || strcmp(kind, "LimitRange") == 0)
		add_to_list(c, doc->json, kind, namespace_);
	if (!*kind || !*name || json_is_object(json_object_get(doc->json, "sops")))
		return NULL;
	e = catalogue_find(c, kind, namespace_, name);
	if (e) {
		const struct document *before = e->doc;

		e->doc = doc;
		return before;
	}
	e = mem_zalloc(sizeof(*e));
	e->key = mem_printf("%s/%s/%s", kind, namespace_, name);
	e->doc = doc;
	HASH_ADD_KEYPTR(hh, c->entries, e->key, strlen(e->key), e);
	return NULL;
}

struct catalogue_entry *catalogue_find(struct catalogue *c, const char *kind, const char *namespace_, const char *name)
{
	MEM_AUTO char *key = mem_printf("%s/%s/%s", kind, namespace_, name);
	struct catalogue_entry *e;

	HASH_FIND_STR(c->entries, key, e);
	return e;
}

const struct triggerauth *catalogue_triggerauth(const struct catalogue *c, struct catalogue_entry *e)
{
	if (!e->decoded) {
		json_t *object = catalogue_placed(c, e->doc->json);

		e->auth = triggerauth_decode(object, NULL);
		json_decref(object);
	}
	e->decoded = true;
	return e->auth;
}

static void decode_data(struct catalogue_entry *e, enum keydata_kind kind)
{
	json_t *plain = json_pack("{s:O?}", "data", json_object_get(e->doc->json, "stringData"));
	struct strmap data = { 0 };

	keydata_decode(kind, e->doc->json, NULL, NULL, &e->data, &e->unreadable, NULL);
	/* stringData takes precedence, as in the API server. */
	if (kind == KEYDATA_SECRET && plain)
		keydata_decode(KEYDATA_CONFIG_MAP, plain, NULL, NULL, &data, &e->unreadable, NULL);
	for (size_t i = 0; i < data.count; i++) {
		strmap_remove_secret(&e->data, data.pairs[i].key);
		strmap_set(&e->data, data.pairs[i].key, data.pairs[i].value);
		strmap_remove(&e->unreadable, data.pairs[i].key);
	}
	strmap_done_secret(&data);
	json_decref(plain);
}

const struct strmap *catalogue_data(struct catalogue_entry *e, enum keydata_kind kind, const struct strmap **unreadable)
{
	if (!e->decoded)
		decode_data(e, kind);
	e->decoded = true;
	*unreadable = &e->unreadable;
	return &e->data;
}

const json_t *catalogue_list(const struct catalogue *c, const char *kind, const char *namespace_)
{
	MEM_AUTO char *key = mem_printf("%s/%s", kind, namespace_);

	return json_object_get(c->lists, key);
}
