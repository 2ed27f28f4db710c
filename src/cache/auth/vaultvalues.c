/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/vaultvalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/fetched.h"
#include "kube/files.h"

#define READ_DEADLINE_MS    10000
#define READ_AGAIN_MS       60000 /* when the server sends no lifetime */
#define READ_AGAIN_LEAST_MS 1000
#define READ_AGAIN_MOST_MS  (24 * 3600 * INT64_C(1000))
#define JWT_BYTES_MAX       (1 << 20)

struct value {
	struct fetched fetched; /* key: fingerprint of the source */
	struct vaultvalues *owner;
	struct vaultvalues_source source; /* owns its texts */
	struct vault_call *call;
	struct err *file_err; /* owned; error of the source's file; NULL */
};

struct vaultvalues {
	struct loop *loop;
	struct vault_pool *pool;
	struct holders holders;
};

/* ---- The service account's token in a file ---- */

/* Decodes a part of a JWT; NULL when it is invalid. */
static json_t *jwt_part(const char *text, size_t len)
{
	size_t padded = (len + 3) / 4 * 4, bytes = 0;
	char *standard = mem_alloc(padded + 1), *decoded;
	json_t *value = NULL;

	for (size_t i = 0; i < padded; i++)
		standard[i] = i >= len ? '=' : text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	standard[padded] = '\0';
	decoded = base64_decode(standard, &bytes);
	if (decoded) {
		value = json_parse_foreign(decoded, bytes, NULL);
		mem_wipe(decoded, bytes);
	}
	free(decoded);
	mem_free_secret(standard);
	return value;
}

/* A token that the API server accepts would be valid beyond Vault. */
static bool is_for(const json_t *claims, const char *audience)
{
	const json_t *aud = json_object_get(claims, "aud");
	const json_t *one = json_is_array(aud) && json_array_size(aud) == 1 ? json_array_get(aud, 0) : aud;

	return json_is_string(one) && strcmp(json_string_value(one), audience) == 0;
}

static int check_jwt(const char *jwt, const struct vaultvalues_source *source, struct err *err)
{
	static const char wanted[] = "system:serviceaccount:";
	const char *first = strchr(jwt, '.'), *second = first ? strchr(first + 1, '.') : NULL;
	json_t *claims = second ? jwt_part(first + 1, (size_t)(second - first - 1)) : NULL;
	int failed = 0;

	if (strncmp(json_str_or_empty(claims, "sub"), wanted, strlen(wanted)) != 0)
		failed = err_set(err, ERR_INVALID, "is not a token of a service account");
	else if (source->jwt_audience && !is_for(claims, source->jwt_audience))
		failed = err_set(err, ERR_INVALID,
			"is not a token for the audience \"%.100s\" (--vault-jwt-audience) alone",
			source->jwt_audience);
	json_decref(claims);
	return failed;
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

static void failed(struct value *v, const struct err *err)
{
	struct err named = *err;

	err_wrap(&named, "Vault %s", v->source.server.address);
	fetched_failed(&v->fetched, &named, "vault", "the value read before stays in use");
}

static void on_value(void *arg, const char *text, int64_t good_for_ms, const struct err *err)
{
	struct value *v = arg;
	int64_t ms = good_for_ms > 0 ? good_for_ms : READ_AGAIN_MS;

	v->call = NULL;
	/*
	 * Not before net/vault allows it: until then it returns the same value, as a lease or
	 * certificate cannot be read twice.
	 */
	if (ms < READ_AGAIN_LEAST_MS)
		ms = READ_AGAIN_LEAST_MS;
	if (ms > READ_AGAIN_MOST_MS)
		ms = READ_AGAIN_MOST_MS;
	if (err)
		failed(v, err);
	else
		fetched_take(&v->fetched, text, ms);
}

/* Errors for objects reveal nothing about kscaled's machine, such as whether a file exists. */
static void failed_file(struct value *v, const struct err *why)
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
	failed(v, &err);
}

static void on_again(void *arg)
{
	struct value *v = arg;
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
	v->call = vault_read(v->owner->pool, &v->source.server, &login, &v->source.secret,
		loop_now_ms(v->owner->loop) + READ_DEADLINE_MS, on_value, v);
	mem_free_secret(jwt);
}

/* ---- Keeping ---- */

#define TEXTS 18

/*
 * The texts that identify the value, without the engine. The jwt is renewed, so its owner or
 * location is used instead.
 */
static void list_texts(struct vaultvalues_source *s, const char **texts[TEXTS])
{
	const char **const all[TEXTS] = { &s->server.address, &s->server.namespace_, &s->login.token, &s->login.role,
		&s->login.mount, &s->jwt_file, &s->jwt_root, &s->jwt_audience, &s->jwt_of, &s->secret.path,
		&s->secret.key, &s->secret.common_name, &s->secret.alt_names, &s->secret.ip_sans, &s->secret.uri_sans,
		&s->secret.other_sans, &s->secret.ttl, &s->secret.format };

	memcpy(texts, all, sizeof(all));
}

static void free_text(const char *text)
{
	mem_free_secret((char *)(uintptr_t)text);
}

static void on_unheld(void *arg, struct held *held)
{
	struct value *v = (struct value *)held;
	const char **texts[TEXTS];

	(void)arg;
	vault_cancel(v->call);
	err_keep(&v->file_err, NULL);
	fetched_done(&v->fetched);
	list_texts(&v->source, texts);
	for (size_t i = 0; i < TEXTS; i++)
		free_text(*texts[i]);
	free_text(v->source.login.jwt);
	free((char *)(uintptr_t)v->source.server.asker);
	free(v);
}

static char *key_of(const struct vaultvalues_source *source, char out[FINGERPRINT_TEXT])
{
	struct vaultvalues_source s = *source;
	const char engine[2] = { (char)('0' + (int)s.secret.engine), '\0' };
	const char **texts[TEXTS], *known_by[TEXTS + 1];

	list_texts(&s, texts);
	for (size_t i = 0; i < TEXTS; i++)
		known_by[i] = *texts[i];
	known_by[TEXTS] = engine;
	return fingerprint_of(known_by, TEXTS + 1, out);
}

static struct value *value_new(struct vaultvalues *owner, const struct vaultvalues_source *source)
{
	struct value *v = mem_zalloc(sizeof(*v));
	const char **texts[TEXTS];

	v->owner = owner;
	v->source = *source;
	list_texts(&v->source, texts);
	for (size_t i = 0; i < TEXTS; i++)
		*texts[i] = mem_dup(*texts[i]);
	v->source.login.jwt = mem_dup(source->login.jwt);
	v->source.server.asker = mem_dup(source->server.asker);
	loop_timer_init(&v->fetched.again, owner->loop, on_again, v);
	loop_timer_set(&v->fetched.again, 0); /* asynchronously, not from inside the request */
	return v;
}

/* A request that failed with an older token may succeed with this one. */
static void renew_jwt(struct value *v, const char *jwt)
{
	const char *old = v->source.login.jwt;

	if (!jwt || (old && strcmp(old, jwt) == 0))
		return;
	v->source.login.jwt = mem_dup(jwt);
	free_text(old);
	if (v->fetched.err && !v->call)
		loop_timer_set(&v->fetched.again, 0);
}

enum reference_state vaultvalues_get(struct vaultvalues *owner, struct object *owner_key,
	const struct vaultvalues_source *source, const char **value, struct err *err)
{
	char key[FINGERPRINT_TEXT];
	struct value *v = (struct value *)holders_find(&owner->holders, key_of(source, key));

	if (!v) {
		v = value_new(owner, source);
		holders_add(&owner->holders, &v->fetched.held, key);
	}
	renew_jwt(v, source->login.jwt);
	if (fetched_get(&v->fetched, owner_key, value, err))
		return REFERENCE_FOUND;
	if (!v->fetched.err) {
		err_set(err, ERR_WAITING, "%s of Vault %s is not read yet", v->source.secret.path,
			v->source.server.address);
		return REFERENCE_UNREAD;
	}
	if (v->fetched.err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return v->fetched.err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
}

struct vaultvalues *vaultvalues_new(struct loop *loop, struct vault_pool *pool)
{
	struct vaultvalues *v = mem_zalloc(sizeof(*v));

	v->loop = loop;
	v->pool = pool;
	holders_init(&v->holders, on_unheld, v);
	return v;
}

void vaultvalues_free(struct vaultvalues *v)
{
	if (!v)
		return;
	holders_done(&v->holders);
	free(v);
}

void vaultvalues_listen(struct vaultvalues *v, object_fn fn, void *arg)
{
	holders_listen(&v->holders, fn, arg);
}
