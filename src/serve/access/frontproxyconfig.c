/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/frontproxyconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/textlist.h"

#define NAMES_MAX 64

static void names_done(struct frontproxy_names *n)
{
	textlist_done(&n->list, &n->count);
}

/*
 * Each list is a JSON array of strings in the text of its key; absent, "" and null are the empty
 * list.
 */
static int names_decode(const char *key, const char *text, struct frontproxy_names *out, struct err *err)
{
	json_t *array;
	json_t *name;
	size_t i;

	if (!*text || !strcmp(text, "null"))
		return 0;
	array = json_parse(text, strlen(text), err);
	if (!array)
		return err_wrap(err, "%s", key);
	if (!json_is_array(array) || json_array_size(array) > NAMES_MAX) {
		json_decref(array);
		return err_set(err, ERR_INVALID, "%s: must be a JSON array of at most %d names", key, NAMES_MAX);
	}
	json_array_foreach(array, i, name)
	{
		if (!json_is_string(name)) {
			json_decref(array);
			names_done(out);
			return err_set(err, ERR_INVALID, "%s: must be a JSON array of strings", key);
		}
		textlist_add(&out->list, &out->count, json_string_value(name));
	}
	json_decref(array);
	return 0;
}

static int lists_decode(const json_t *data, struct frontproxy_config *c, struct err *err)
{
	const struct {
		const char *key;
		struct frontproxy_names *names;
	} lists[] = {
		{ "requestheader-allowed-names", &c->allowed },
		{ "requestheader-username-headers", &c->user_headers },
		{ "requestheader-uid-headers", &c->uid_headers },
		{ "requestheader-group-headers", &c->group_headers },
		{ "requestheader-extra-headers-prefix", &c->extra_prefixes },
	};

	for (size_t i = 0; i < MEM_COUNT(lists); i++)
		if (names_decode(lists[i].key, json_str_or_empty(data, lists[i].key), lists[i].names, err))
			return -1;
	if (!c->user_headers.count)
		return err_set(err, ERR_INVALID, "requestheader-username-headers: names no header");
	return 0;
}

int frontproxy_config_decode(const json_t *configmap, struct frontproxy_config *out, struct err *err)
{
	const json_t *data = json_object_get(configmap, "data");
	const char *ca_pem = json_str_or_empty(data, "requestheader-client-ca-file");

	if (!*ca_pem)
		return err_set(err, ERR_MISSING,
			"requestheader-client-ca-file: is not there: kube-apiserver runs without "
			"--requestheader-client-ca-file, or that CA has expired, so it can forward no requests");
	if (lists_decode(data, out, err)) {
		frontproxy_config_done(out);
		return -1;
	}
	out->ca_pem = mem_dup(ca_pem);
	return 0;
}

void frontproxy_config_done(struct frontproxy_config *c)
{
	free(c->ca_pem);
	names_done(&c->allowed);
	names_done(&c->user_headers);
	names_done(&c->uid_headers);
	names_done(&c->group_headers);
	names_done(&c->extra_prefixes);
	*c = (struct frontproxy_config){ 0 };
}

bool frontproxy_config_allows(const struct frontproxy_config *c, const char *common_name)
{
	return c->allowed.count == 0 || textlist_has(c->allowed.list, c->allowed.count, common_name);
}
