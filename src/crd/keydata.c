/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/keydata.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "crd/shape.h"

#define KEYS_MAX 20000 /* of one object, whose size the API server limits */

const char *keydata_kind_name(enum keydata_kind kind)
{
	static const char *const names[] = { [KEYDATA_SECRET] = "Secret",
		[KEYDATA_CONFIG_MAP] = "ConfigMap",
		[KEYDATA_SERVICE_ACCOUNT] = "ServiceAccount" };

	return names[kind];
}

const char *keydata_plural(enum keydata_kind kind)
{
	static const char *const plurals[] = { [KEYDATA_SECRET] = "secrets",
		[KEYDATA_CONFIG_MAP] = "configmaps",
		[KEYDATA_SERVICE_ACCOUNT] = "serviceaccounts" };

	return plurals[kind];
}

const char *keydata_key_called(enum keydata_kind kind)
{
	return kind == KEYDATA_SERVICE_ACCOUNT ? "annotation" : "key";
}

/* Takes the value and returns NULL, or returns why it was not taken. */
static const char *take_plain(const char *key, const char *value, size_t len, struct strmap *out)
{
	if (memchr(value, '\0', len) != NULL)
		return "contains a NUL character";
	strmap_set(out, key, value);
	return NULL;
}

static const char *take_encoded(const char *key, const char *value, size_t value_len, struct strmap *out)
{
	size_t len = 0;
	char *bytes = memchr(value, '\0', value_len) == NULL ? base64_decode(value, &len) : NULL;
	const char *why;

	if (bytes == NULL)
		return "is not base64";
	why = take_plain(key, bytes, len, out);
	mem_wipe(bytes, len);
	free(bytes);
	return why;
}

static const char *take_value(enum keydata_kind kind, const char *key, const json_t *value, struct strmap *out)
{
	const char *text = json_string_value(value);

	if (json_is_null(value)) { /* Go's decoder reads null as empty */
		strmap_set(out, key, "");
		return NULL;
	}
	if (text == NULL)
		return "is not a string";
	return kind == KEYDATA_SECRET ? take_encoded(key, text, json_string_length(value), out)
				      : take_plain(key, text, json_string_length(value), out);
}

int keydata_decode(enum keydata_kind kind, const json_t *object, bool (*wanted)(void *arg, const char *key), void *arg,
	struct strmap *out, struct strmap *unreadable, struct err *err)
{
	struct json_at root = json_root(object), metadata = json_field(&root, "metadata"), data;
	const char *key, *why;
	json_t *value;

	if (!json_is_object(object))
		return err_set(err, ERR_INVALID, "not a Kubernetes object");
	data = kind == KEYDATA_SERVICE_ACCOUNT ? json_field(&metadata, "annotations") : json_field(&root, "data");
	if (shape_object(&data, err) < 0)
		return -1;
	json_object_foreach((json_t *)(uintptr_t)data.value, key, value)
	{
		if (wanted != NULL && !wanted(arg, key))
			continue;
		if (out->count + unreadable->count >= KEYS_MAX)
			return json_wrong(&data, err, "too many keys");
		why = take_value(kind, key, value, out);
		if (why != NULL)
			strmap_set(unreadable, key, why);
	}
	return 0;
}
