/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/vaultvalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/files.h"
#include "kube/tokenfacts.h"
#include "net/vault/vaultreply.h"

#define JWT_BYTES_MAX (1 << 20)

struct vaultvalue {
	struct secretvalue value;
	struct vaultvalues_source source; /* its key is unused */
	struct vault_call *call;
	struct err *file_err; /* owned; error of the source's file; NULL */
};

/* ---- The service account's token in a file ---- */

/* A token that the API server accepts, too, would be valid beyond Vault. */
static int check_jwt(const char *jwt, const struct vaultvalues_source *source, struct err *err)
{
	struct tokenfacts facts;

	tokenfacts_read(jwt, &facts, NULL);
	if (!*facts.account)
		return err_set(err, ERR_INVALID, "is not a token of a service account");
	if (source->jwt_audience && strcmp(facts.audience, source->jwt_audience) != 0)
		return err_set(err, ERR_INVALID,
			"is not a token for the audience \"%.100s\" (--vault-jwt-audience) alone",
			source->jwt_audience);
	return 0;
}

int vaultvalues_read_jwt(const struct vaultvalues_source *source, char **jwt, struct err *err)
{
	struct files stamp = { 0 };
	size_t len = 0;
	int failed;

	*jwt = NULL;
	failed = source->jwt_root
		? files_read_beneath(&stamp, source->jwt_root, source->jwt_file, JWT_BYTES_MAX, jwt, &len, err)
		: files_read(&stamp, source->jwt_file, JWT_BYTES_MAX, jwt, &len, err);
	files_done(&stamp);
	if (failed)
		return -1;
	while (len > 0 && strchr(" \t\r\n", (*jwt)[len - 1]))
		(*jwt)[--len] = '\0';
	if (check_jwt(*jwt, source, err) == 0)
		return 0;
	mem_free_secret(*jwt);
	*jwt = NULL;
	return err_wrap(err, "%s", source->jwt_file);
}

/* ---- Reading ---- */

/*
 * The keys and values alone: the rest of a response is never the same. Sorted, as only a change
 * counts.
 */
static char *text_of(const struct vaultvalue *v, const json_t *answer, struct err *err)
{
	const json_t *data = vaultreply_data(answer, v->source.secret.engine, err);
	char *text = data ? json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	if (data && !text)
		err_set(err, ERR_INVALID, "the answer's data is not valid");
	if (!text)
		err_wrap(err, "%.200s", v->source.secret.path);
	return text;
}

static void on_answer(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *cause)
{
	struct vaultvalue *v = arg;
	struct err err = cause ? *cause : (struct err){ 0 };
	char *text = answer ? text_of(v, answer, &err) : NULL;

	v->call = NULL;
	if (text)
		secretvalue_take(&v->value, text, good_for_ms);
	else
		secretvalue_failed(&v->value, &err);
	mem_free_secret(text);
}

/* Errors for objects reveal nothing about kscaled's machine, such as whether a file exists. */
static void failed_file(struct vaultvalue *v, const struct err *why)
{
	struct err err = { 0 };

	if (!v->file_err || strcmp(v->file_err->msg, why->msg) != 0)
		log_warn("vault", "%s", why->msg);
	err_keep(&v->file_err, why);
	if (v->source.jwt_root)
		err_set(&err, ERR_INVALID,
			"credential.serviceAccount \"%.200s\" below --vault-credential-dir cannot be used: see "
			"kscaled's log",
			v->source.jwt_file);
	else
		err_set(&err, ERR_INVALID, "--vault-jwt-file cannot be used: see kscaled's log");
	secretvalue_failed(&v->value, &err);
}

static void vaultvalue_read(struct secretvalue *value)
{
	struct vaultvalue *v = (struct vaultvalue *)value;
	const struct secretvalues_config *config = &value->keeper->config;
	struct vault_login login = v->source.login;
	struct err err = { 0 };
	char *jwt = NULL;

	if (v->call)
		return;
	if (v->source.jwt_file) {
		if (vaultvalues_read_jwt(&v->source, &jwt, &err)) {
			failed_file(v, &err);
			return;
		}
		err_keep(&v->file_err, NULL);
		login.jwt = jwt;
	}
	v->call = vault_read(config->vault, &v->source.server, &login, &v->source.secret,
		loop_now_ms(config->loop) + SECRETVALUES_DEADLINE_MS, on_answer, v);
	mem_free_secret(jwt);
}

/* ---- The kind ---- */

/* The jwt is renewed, so its owner or location identifies the secret. */
static const size_t texts[] = {
#define AT(member) offsetof(struct vaultvalues_source, member)
	AT(server.asker),
	AT(login.jwt),
	/* ---- They identify it ---- */
	AT(server.address),
	AT(server.namespace_),
	AT(login.token),
	AT(login.role),
	AT(login.mount),
	AT(jwt_file),
	AT(jwt_root),
	AT(jwt_audience),
	AT(jwt_of),
	AT(secret.path),
	AT(secret.common_name),
	AT(secret.alt_names),
	AT(secret.ip_sans),
	AT(secret.uri_sans),
	AT(secret.other_sans),
	AT(secret.ttl),
	AT(secret.format),
#undef AT
};

static const char *vaultvalue_engine(const void *source)
{
	static const char *const engines[] = {
		[VAULT_ENGINE_ANY] = "any",
		[VAULT_ENGINE_KV2] = "2",
		[VAULT_ENGINE_KV1] = "1",
		[VAULT_ENGINE_PKI] = "pki",
	};

	return engines[((const struct vaultvalues_source *)source)->secret.engine];
}

static void vaultvalue_done(struct secretvalue *value)
{
	struct vaultvalue *v = (struct vaultvalue *)value;

	vault_cancel(v->call);
	err_keep(&v->file_err, NULL);
}

static void vaultvalue_wrap(const struct secretvalue *value, struct err *err)
{
	err_wrap(err, "Vault %s", ((const struct vaultvalue *)value)->source.server.address);
}

static int vaultvalue_member(const struct secretvalue *value, const json_t *whole, const char *member, char **out,
	struct err *err)
{
	const struct vault_secret *s = &((const struct vaultvalue *)value)->source.secret;

	*out = vaultreply_value(whole, s->engine, member, err);
	if (*out)
		return 0;
	err_wrap(err, "%.200s", s->path);
	vaultvalue_wrap(value, err);
	return -1;
}

static void vaultvalue_unread(const void *source, struct err *err)
{
	const struct vaultvalues_source *s = source;

	err_set(err, ERR_WAITING, "%s of Vault %s is not read yet", s->secret.path, s->server.address);
}

static const struct secretvalues_kind vault_kind = { .log = "vault",
	.size = sizeof(struct vaultvalue),
	.source = offsetof(struct vaultvalue, source),
	.source_size = sizeof(struct vaultvalues_source),
	.texts = texts,
	.loose_count = 2,
	.text_count = MEM_COUNT(texts),
	.also = vaultvalue_engine,
	.read = vaultvalue_read,
	.done = vaultvalue_done,
	.member = vaultvalue_member,
	.unread = vaultvalue_unread,
	.wrap = vaultvalue_wrap };

/* ---- Interface ---- */

/* A request that failed with an older token may succeed with this one. */
static void renew_jwt(struct vaultvalue *v, const char *jwt)
{
	const char *old = v->source.login.jwt;

	if (!jwt || (old && strcmp(old, jwt) == 0))
		return;
	v->source.login.jwt = mem_dup(jwt);
	mem_free_secret((char *)(uintptr_t)old);
	if (v->value.fetched.err && !v->call)
		loop_timer_set(&v->value.fetched.again, 0);
}

enum reference_state vaultvalues_get(struct secretvalues *s, struct object *owner,
	const struct vaultvalues_source *source, const char **value, struct err *err)
{
	struct secretvalue *v;
	const char *key = source->key ? source->key : "";
	enum reference_state state = secretvalues_get(s, &vault_kind, owner, source, key, &v, value, err);

	renew_jwt((struct vaultvalue *)v, source->login.jwt);
	return state;
}
