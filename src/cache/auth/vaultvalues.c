/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/vaultvalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "kube/files.h"

#define READ_DEADLINE_MS    10000
#define READ_AGAIN_MS       60000 /* when the server does not say for how long a value is good */
#define READ_AGAIN_LEAST_MS 1000
#define READ_AGAIN_MOST_MS  (24 * 3600 * INT64_C(1000))
#define RETRY_FIRST_MS      1000
#define RETRY_MOST_MS       60000
#define JWT_BYTES_MAX       (1 << 20)

struct value {
	struct held held; /* key: fingerprint of the source */
	struct vaultvalues *owner;
	char *address, *namespace_, *token, *jwt, *role, *mount, *jwt_file;
	enum vault_engine engine;
	char *path, *secret_key, *common_name, *alt_names, *ip_sans, *uri_sans, *other_sans, *ttl, *format;
	char *text;      /* NULL: not read yet */
	struct err *err; /* why the last reading failed; NULL */
	unsigned failures;
	struct vault_call *call;
	struct loop_timer again;
};

struct vaultvalues {
	struct loop *loop;
	struct vault_pool *pool;
	struct holders holders;
};

/* ---- The service account's token in a file ---- */

/* The bytes of a JWT's part; NULL when it is none. */
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
		value = json_parse(decoded, bytes, NULL);
		mem_wipe(decoded, bytes);
	}
	free(decoded);
	mem_free_secret(standard);
	return value;
}

static bool is_service_account(const char *jwt)
{
	static const char wanted[] = "system:serviceaccount:";
	const char *first = strchr(jwt, '.'), *second = first ? strchr(first + 1, '.') : NULL;
	json_t *claims = second ? jwt_part(first + 1, (size_t)(second - first - 1)) : NULL;
	bool is = strncmp(json_str_or_empty(claims, "sub"), wanted, strlen(wanted)) == 0;

	json_decref(claims);
	return is;
}

int vaultvalues_read_jwt(const char *path, char **jwt, struct err *err)
{
	struct files stamp = { 0 };
	size_t len = 0;
	int failed;

	*jwt = NULL;
	failed = files_read(&stamp, path, JWT_BYTES_MAX, jwt, &len, err);
	files_done(&stamp);
	if (failed)
		return -1;
	while (len > 0 && strchr(" \t\r\n", (*jwt)[len - 1]))
		(*jwt)[--len] = '\0';
	if (is_service_account(*jwt))
		return 0;
	mem_free_secret(*jwt);
	*jwt = NULL;
	return err_set(err, ERR_INVALID, "%s: is no token of a service account", path);
}

/* ---- Reading ---- */

static void tell(struct value *v)
{
	holders_tell(&v->held);
}

static void forget_err(struct value *v)
{
	free(v->err);
	v->err = NULL;
}

static void failed(struct value *v, const struct err *err)
{
	struct err named = *err;
	bool news;

	err_wrap(&named, "Vault %s", v->address);
	news = !v->err || v->err->kind != named.kind || strcmp(v->err->msg, named.msg) != 0;
	loop_timer_set(&v->again, loop_backoff_ms(v->failures++, RETRY_FIRST_MS, RETRY_MOST_MS));
	if (!news)
		return;
	log_warn("vault", "%s%s", named.msg, v->text ? "; the value read before stays in use" : "");
	forget_err(v);
	v->err = mem_alloc(sizeof(*v->err));
	*v->err = named;
	if (!v->text)
		tell(v);
}

/*
 * Not before net/vault says so: until then it would hand out the same again, as a lease or a
 * certificate exists only once.
 */
static int64_t read_in_ms(int64_t good_for_ms)
{
	int64_t ms = good_for_ms > 0 ? good_for_ms : READ_AGAIN_MS;

	if (ms < READ_AGAIN_LEAST_MS)
		return READ_AGAIN_LEAST_MS;
	return ms < READ_AGAIN_MOST_MS ? ms : READ_AGAIN_MOST_MS;
}

static void on_value(void *arg, const char *text, int64_t good_for_ms, const struct err *err)
{
	struct value *v = arg;

	v->call = NULL;
	if (err) {
		failed(v, err);
		return;
	}
	v->failures = 0;
	forget_err(v);
	loop_timer_set(&v->again, read_in_ms(good_for_ms));
	if (v->text && strcmp(v->text, text) == 0)
		return;
	mem_free_secret(v->text);
	v->text = mem_dup(text);
	tell(v);
}

static void ask(struct value *v, const char *jwt)
{
	struct vault_server server = { v->address, v->namespace_ };
	struct vault_login login = { .token = v->token, .jwt = jwt, .role = v->role, .mount = v->mount };
	struct vault_secret secret = { v->engine, v->path, v->secret_key, v->common_name, v->alt_names, v->ip_sans,
		v->uri_sans, v->other_sans, v->ttl, v->format };

	v->call = vault_read(v->owner->pool, &server, &login, &secret, loop_now_ms(v->owner->loop) + READ_DEADLINE_MS,
		on_value, v);
}

static void on_again(void *arg)
{
	struct value *v = arg;
	struct err err = { 0 };
	char *jwt = NULL;

	if (v->call)
		return;
	if (!v->jwt_file) {
		ask(v, v->jwt);
	} else if (vaultvalues_read_jwt(v->jwt_file, &jwt, &err)) {
		failed(v, &err);
	} else {
		ask(v, jwt);
		mem_free_secret(jwt);
	}
}

/* ---- Keeping ---- */

static void on_unheld(void *arg, struct held *held)
{
	struct value *v = (struct value *)held;
	char *const texts[] = { v->address, v->namespace_, v->role, v->mount, v->jwt_file, v->path, v->secret_key,
		v->common_name, v->alt_names, v->ip_sans, v->uri_sans, v->other_sans, v->ttl, v->format };

	(void)arg;
	vault_cancel(v->call);
	loop_timer_done(&v->again);
	mem_free_secret(v->token);
	mem_free_secret(v->jwt);
	mem_free_secret(v->text);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	forget_err(v);
	free(v);
}

/*
 * The jwt is renewed, so it is no part of what the value is known by: whose it is, or where it
 * lies, is.
 */
static char *key_of(const struct vaultvalues_source *s, char out[FINGERPRINT_TEXT])
{
	char engine[2] = { (char)('0' + (int)s->secret.engine), '\0' };
	const char *const texts[] = {
		s->server.address,
		s->server.namespace_,
		s->login.token,
		s->login.role,
		s->login.mount,
		s->jwt_file,
		s->jwt_of,
		engine,
		s->secret.path,
		s->secret.key,
		s->secret.common_name,
		s->secret.alt_names,
		s->secret.ip_sans,
		s->secret.uri_sans,
		s->secret.other_sans,
		s->secret.ttl,
		s->secret.format,
	};

	return fingerprint_of(texts, sizeof(texts) / sizeof(texts[0]), out);
}

static struct value *value_new(struct vaultvalues *owner, const struct vaultvalues_source *s)
{
	struct value *v = mem_zalloc(sizeof(*v));

	v->owner = owner;
	v->address = mem_dup(s->server.address);
	v->namespace_ = mem_dup(s->server.namespace_);
	v->token = mem_dup(s->login.token);
	v->jwt = mem_dup(s->login.jwt);
	v->role = mem_dup(s->login.role);
	v->mount = mem_dup(s->login.mount);
	v->jwt_file = mem_dup(s->jwt_file);
	v->engine = s->secret.engine;
	v->path = mem_dup(s->secret.path);
	v->secret_key = mem_dup(s->secret.key);
	v->common_name = mem_dup(s->secret.common_name);
	v->alt_names = mem_dup(s->secret.alt_names);
	v->ip_sans = mem_dup(s->secret.ip_sans);
	v->uri_sans = mem_dup(s->secret.uri_sans);
	v->other_sans = mem_dup(s->secret.other_sans);
	v->ttl = mem_dup(s->secret.ttl);
	v->format = mem_dup(s->secret.format);
	loop_timer_init(&v->again, owner->loop, on_again, v);
	loop_timer_set(&v->again, 0); /* not from inside the question for it */
	return v;
}

/* What failed with an older token may succeed with this one. */
static void renew_jwt(struct value *v, const char *jwt)
{
	if (!jwt || (v->jwt && strcmp(v->jwt, jwt) == 0))
		return;
	mem_free_secret(v->jwt);
	v->jwt = mem_dup(jwt);
	if (v->err && !v->call)
		loop_timer_set(&v->again, 0);
}

enum reference_state vaultvalues_get(struct vaultvalues *owner, struct object *owner_key,
	const struct vaultvalues_source *source, const char **value, struct err *err)
{
	char key[FINGERPRINT_TEXT];
	struct value *v = (struct value *)holders_find(&owner->holders, key_of(source, key));

	if (!v) {
		v = value_new(owner, source);
		holders_add(&owner->holders, &v->held, key);
	}
	holdings_take(owner_key, &v->held);
	renew_jwt(v, source->login.jwt);
	*value = v->text;
	if (v->text)
		return REFERENCE_FOUND;
	if (!v->err) {
		err_set(err, ERR_WAITING, "%s of Vault %s is not read yet", v->path, v->address);
		return REFERENCE_UNREAD;
	}
	if (err)
		*err = *v->err;
	if (v->err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return v->err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
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
