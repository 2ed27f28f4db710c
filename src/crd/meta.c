/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/textlist.h"
#include "crd/shape.h"

#define PATCH_BYTES_MAX (16 << 20) /* an object is at most 1.5 MiB, and an escape makes six of one byte */
#define LAST_APPLIED    "kubectl.kubernetes.io/last-applied-configuration"

/* Wiped, because it repeats the token that a TriggerAuthentication may contain. */
static void drop_last_applied(struct strmap *annotations)
{
	const char *text = strmap_get(annotations, LAST_APPLIED);

	if (text == NULL)
		return;
	mem_wipe((void *)(uintptr_t)text, strlen(text));
	strmap_remove(annotations, LAST_APPLIED);
}

static int decode_finalizers(const struct json_at *at, struct meta *out, struct err *err)
{
	struct json_at list = json_field(at, "finalizers");
	size_t count;

	if (shape_array(&list, SIZE_MAX, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(list.value, i));

		if (text != NULL)
			textlist_add(&out->finalizers, &out->finalizer_count, text);
	}
	return 0;
}

static int decode_owner(const struct json_at *at, struct owner_ref *out, struct err *err)
{
	const struct json_text texts[] = { { "apiVersion", &out->api_version }, { "kind", &out->kind },
		{ "name", &out->name }, { "uid", &out->uid } };

	if (shape_object(at, err) < 0 || json_get_texts(at, texts, MEM_COUNT(texts), err) < 0 ||
		json_get_bool(at, "controller", &out->controller, err) < 0)
		return -1;
	return 0;
}

static int decode_owners(const struct json_at *at, struct meta *out, struct err *err)
{
	struct json_at list = json_field(at, "ownerReferences");
	size_t count;

	if (shape_array(&list, SIZE_MAX, &count, err) < 0)
		return -1;
	out->owners = count > 0 ? mem_array(count, sizeof(*out->owners)) : NULL;
	out->owner_count = count;
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(&list, i);

		if (decode_owner(&element, &out->owners[i], err) < 0)
			return -1;
	}
	return 0;
}

static int decode_identity(const struct json_at *at, struct meta *out, struct err *err)
{
	const struct json_text texts[] = { { "namespace", &out->namespace_ }, { "name", &out->name },
		{ "uid", &out->uid }, { "resourceVersion", &out->resource_version } };

	if (shape_object(at, err) < 0 || json_get_texts(at, texts, MEM_COUNT(texts), err) < 0 ||
		json_get_int64(at, "generation", &out->generation, err) < 0 ||
		json_get_time(at, "creationTimestamp", &out->created_unix_ms, err) < 0 ||
		json_get_time(at, "deletionTimestamp", &out->deleted_unix_ms, err) < 0)
		return -1;
	return *out->name ? 0 : shape_missing(at, "name", err);
}

static int decode_rest(const struct json_at *at, struct meta *out, struct err *err)
{
	if (json_get_strmap_tamed(at, "labels", &out->labels, err) < 0 ||
		json_get_strmap_tamed(at, "annotations", &out->annotations, err) < 0 ||
		decode_finalizers(at, out, err) < 0 || decode_owners(at, out, err) < 0)
		return -1;
	drop_last_applied(&out->annotations);
	return 0;
}

static int decode(const json_t *object, bool whole, struct meta *out, struct err *err)
{
	struct json_at root = json_root(object), at;

	memset(out, 0, sizeof(*out));
	if (!json_is_object(object))
		return err_set(err, ERR_INVALID, "not a Kubernetes object");
	at = json_field(&root, "metadata");
	if (decode_identity(&at, out, err) == 0 && (!whole || decode_rest(&at, out, err) == 0))
		return 0;
	meta_done(out);
	return -1;
}

int meta_decode(const json_t *object, struct meta *out, struct err *err)
{
	return decode(object, true, out, err);
}

int meta_decode_slim(const json_t *object, struct meta *out, struct err *err)
{
	return decode(object, false, out, err);
}

bool meta_renew(struct meta *m, const char *version, size_t len)
{
	if (len > strlen(m->resource_version))
		return false;
	memcpy(m->resource_version, version, len);
	m->resource_version[len] = '\0';
	return true;
}

void meta_done(struct meta *m)
{
	free(m->namespace_);
	strmap_done(&m->labels);
	strmap_done(&m->annotations);
	textlist_done(&m->finalizers, &m->finalizer_count);
	for (size_t i = 0; i < m->owner_count; i++)
		free(m->owners[i].api_version);
	free(m->owners);
	memset(m, 0, sizeof(*m));
}

bool meta_has_finalizer(const struct meta *m, const char *finalizer)
{
	return textlist_has(m->finalizers, m->finalizer_count, finalizer);
}

const struct owner_ref *meta_controller(const struct meta *m)
{
	for (size_t i = 0; i < m->owner_count; i++)
		if (m->owners[i].controller)
			return &m->owners[i];
	return NULL;
}

const json_t *meta_controller_in(const json_t *object)
{
	const json_t *reference;
	size_t i;

	json_array_foreach(json_metadata(object, "ownerReferences"), i, reference)
	{
		if (json_is_true(json_object_get(reference, "controller")))
			return reference;
	}
	return NULL;
}

bool meta_refers_to(const json_t *reference, const char *kind)
{
	return json_str_is(reference, "kind", kind) &&
		text_begins(json_str_or_empty(reference, "apiVersion"), "keda.sh/");
}

char *meta_finalizers_patch(const struct meta *m, const char *const *drop, const char *add)
{
	struct buf body = BUF_INIT(PATCH_BYTES_MAX);
	const char *between = "";

	buf_puts(&body, "{\"metadata\":{\"resourceVersion\":");
	buf_put_json(&body, m->resource_version);
	buf_puts(&body, ",\"finalizers\":[");
	for (size_t i = 0; i < m->finalizer_count; i++) {
		if (text_is_one_of(m->finalizers[i], drop))
			continue;
		buf_puts(&body, between);
		buf_put_json(&body, m->finalizers[i]);
		between = ",";
	}
	if (add) {
		buf_puts(&body, between);
		buf_put_json(&body, add);
	}
	buf_puts(&body, "]}}");
	return buf_take(&body);
}
