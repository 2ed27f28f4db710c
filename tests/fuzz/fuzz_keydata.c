/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The data of a Secret and of a ConfigMap: each key is either taken or told about, and only what is
 * wanted.
 */

#include <string.h>

#include "base/json.h"
#include "crd/keydata.h"
#include "fuzz.h"

static bool is_short(void *arg, const char *key)
{
	(void)arg;
	return strlen(key) < 4;
}

static void check(enum keydata_kind kind, const json_t *value, bool (*wanted)(void *, const char *))
{
	struct strmap out = { NULL, 0 }, unreadable = { NULL, 0 };
	const json_t *data = kind == KEYDATA_SERVICE_ACCOUNT
		? json_object_get(json_object_get(value, "metadata"), "annotations")
		: json_object_get(value, "data");
	struct err err;
	int rc = keydata_decode(kind, value, wanted, NULL, &out, &unreadable, &err);

	must(rc == 0 || err.msg[0] != '\0');
	must(rc < 0 || wanted != NULL || out.count + unreadable.count == json_object_size(data));
	for (size_t i = 0; i < out.count; i++) {
		must(strmap_get(&unreadable, out.pairs[i].key) == NULL);
		must(wanted == NULL || wanted(NULL, out.pairs[i].key));
	}
	strmap_done_secret(&out);
	strmap_done_secret(&unreadable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);

	if (value == NULL)
		return 0;
	for (enum keydata_kind kind = KEYDATA_SECRET; kind <= KEYDATA_SERVICE_ACCOUNT; kind++) {
		check(kind, value, NULL);
		check(kind, value, is_short);
	}
	json_decref(value);
	return 0;
}
