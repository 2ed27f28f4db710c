/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secretmanagers/keyvault.h"

#include <jansson.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define API_VERSION  "7.5"
#define PERMISSION   "get secrets (role Key Vault Secrets User)"
#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define NAME_MOST    127
#define VERSION_MOST 64

static bool keyvault_is_pinned(const struct secretmanager_secret *s)
{
	return text_is_given(s->version);
}

/* Name and version become parts of a path: only valid characters. */
static int keyvault_request(const struct secretmanager_secret *s, struct webrequest *out, struct err *err)
{
	const char *version = s->version ? s->version : "";

	if (!secretmanager_is_of(s->name, LETTERS "-", NAME_MOST))
		return err_set(err, ERR_INVALID,
			"secret %.200s: the name is invalid: it has 1 to 127 letters, digits and hyphens", s->name);
	if (*version && !secretmanager_is_of(version, LETTERS, VERSION_MOST))
		return err_set(err, ERR_INVALID, "secret %s: version %.100s is invalid: it has letters and digits",
			s->name, version);
	out->url = mem_printf("%s/secrets/%s/%s?api-version=" API_VERSION, s->endpoint, s->name, version);
	return 0;
}

static int keyvault_take(const json_t *answer, char **value, struct err *err)
{
	*value = secretmanager_text(json_object_get(answer, "value"), "its value", err);
	return *value ? 0 : -1;
}

static int keyvault_refused(const struct webresponse *answer, struct err *err)
{
	return secretmanager_refused(answer, "code", PERMISSION, err);
}

const struct secretmanager keyvault = { .label = "Azure Key Vault",
	.is_pinned = keyvault_is_pinned,
	.request = keyvault_request,
	.take = keyvault_take,
	.refused = keyvault_refused };
