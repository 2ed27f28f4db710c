/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A TriggerAuthentication from its JSON: either something is said of it, or all that the CRD
 * requires is there.
 */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "crd/triggerauth.h"
#include "fuzz.h"

static bool given(const char *text)
{
	return text != NULL && *text != '\0';
}

static void check_manager(const struct triggerauth_manager *m)
{
	const struct triggerauth_ref *const refs[] = { &m->key_id, &m->secret, &m->session_token };

	must(m->secret_count > 0);
	must(m->identity == NULL || given(m->identity->provider));
	for (size_t i = 0; i < m->secret_count; i++)
		must(given(m->secrets[i].parameter) && given(m->secrets[i].name));
	for (size_t i = 0; i < 3; i++)
		must(refs[i]->name == NULL ? refs[i]->key == NULL : given(refs[i]->name) && given(refs[i]->key));
}

static void check_whole(const struct triggerauth *t)
{
	const struct triggerauth_manager *const managers[] = { t->azure_key_vault, t->gcp_secret_manager,
		t->aws_secret_manager };

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
	must(t->azure_key_vault == NULL || given(t->azure_key_vault->vault_uri));
	for (size_t i = 0; i < MEM_COUNT(managers); i++)
		if (managers[i])
			check_manager(managers[i]);
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
