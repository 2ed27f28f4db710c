/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A TriggerAuthentication from its JSON: either something is said of it, or all that the CRD
 * requires is there.
 */

#include <string.h>

#include "base/json.h"
#include "crd/triggerauth.h"
#include "fuzz.h"

static bool given(const char *text)
{
	return text != NULL && *text != '\0';
}

static void check_whole(const struct triggerauth *t)
{
	for (size_t i = 0; i < t->secret_count; i++)
		must(given(t->secrets[i].parameter) && given(t->secrets[i].name) && given(t->secrets[i].key));
	for (size_t i = 0; i < t->config_map_count; i++)
		must(given(t->config_maps[i].parameter) && given(t->config_maps[i].name) &&
			given(t->config_maps[i].key));
	for (size_t i = 0; i < t->env_count; i++)
		must(given(t->env[i].parameter) && given(t->env[i].name));
	for (size_t i = 0; i < t->token_count; i++)
		must(given(t->tokens[i].parameter) && given(t->tokens[i].service_account));
	must(t->identity == NULL || given(t->identity->provider));
	must(t->vault == NULL || (given(t->vault->address) && t->vault->secret_count > 0));
	for (size_t i = 0; t->vault != NULL && i < t->vault->secret_count; i++)
		must(given(t->vault->secrets[i].parameter) && given(t->vault->secrets[i].path) &&
			given(t->vault->secrets[i].key));
	must(t->oauth2 == NULL || (given(t->oauth2->client_id) && given(t->oauth2->token_url)));
	for (size_t i = 0; t->oauth2 != NULL && i < t->oauth2->scope_count; i++)
		must(t->oauth2->scopes[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct triggerauth *t;

	if (value == NULL)
		return 0;
	t = triggerauth_decode(value, &err);
	must(t != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	json_decref(value);
	if (t == NULL)
		return 0;
	must(t->spec_err == NULL || t->spec_err->msg[0] != '\0');
	if (t->spec_err == NULL)
		check_whole(t);
	triggerauth_free(t);
	return 0;
}
