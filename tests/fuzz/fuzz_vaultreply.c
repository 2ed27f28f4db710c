/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An answer of Vault, which may be anybody's server. The first byte chooses the status, the rest is
 * the body, and its end a path and a key: whatever comes, it is a value or an error that does not
 * repeat what was sent.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/vault/vaultreply.h"

static const char *const sent[] = { "t0ken", "", NULL };

static void check_error(int status, const struct err *err)
{
	must(err->kind == (status == 404 ? ERR_MISSING : status == 401 || status == 403 ? ERR_DENIED : ERR_TEMPORARY));
	must(strstr(err->msg, "t0ken") == NULL);
	must(strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_tokens(const json_t *answer)
{
	struct vaultreply_token t;
	struct err err;

	if (vaultreply_login(answer, &t, &err) == 0)
		must(vaultreply_is_token(t.token) && t.ttl_ms >= 0);
	mem_free_secret(t.token);
	must(vaultreply_renewal(answer, &t, &err) < 0 || t.ttl_ms >= 0);
	must(vaultreply_lookup(answer, &t, &err) < 0 || t.ttl_ms >= 0);
}

static void check_value(const json_t *answer, enum vault_engine engine, const char *key)
{
	struct err err;
	const json_t *keys = vaultreply_data(answer, engine, &err);
	char *value = keys != NULL ? vaultreply_value(keys, engine, key, &err) : NULL;
	bool leased;

	must(value != NULL || err.kind == ERR_MISSING || err.kind == ERR_INVALID);
	mem_free_secret(value);
	must(vaultreply_good_for_ms(answer, engine, 1700000000000, &leased) >= 0);
}

static void check_path(const char *text)
{
	struct err err;
	char *path = vaultreply_path("", text, "", &err);

	must(path != NULL || err.kind == ERR_INVALID);
	must(path == NULL ||
		(strpbrk(path, " ?#\r\n") == NULL && *path != '/' && strncmp(path, "../", 3) != 0 &&
			strstr(path, "/../") == NULL));
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 204, 400, 401, 403, 404, 429, 500, 503 };
	static const char *const keys[] = { "pw", "data", "ca_chain", "expiration" };
	int status = size > 0 ? statuses[data[0] % (sizeof(statuses) / sizeof(statuses[0]))] : 200;
	char *text = mem_dupn((const char *)data + (size > 0), size > 0 ? size - 1 : 0);
	struct err err = { 0 };
	json_t *answer = vaultreply_parse(status, text, size > 0 ? size - 1 : 0, sent, &err);

	if (answer == NULL)
		check_error(status, &err);
	else
		check_tokens(answer);
	for (size_t i = 0; answer != NULL && i < 4; i++)
		for (int engine = VAULT_ENGINE_ANY; engine <= VAULT_ENGINE_PKI; engine++)
			check_value(answer, (enum vault_engine)engine, keys[i]);
	check_path(text);
	json_decref(answer);
	free(text);
	return 0;
}
