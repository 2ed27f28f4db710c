/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultreply.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#define WORDS_MAX      200                /* bytes of the server's message */
#define TTL_MAX_S      INT64_C(315360000) /* ten years */
#define TOKEN_MAX      8192
#define VALUE_MAX      ((size_t)1 << 20)
#define BODY_MAX       ((size_t)8 << 20)
#define PATH_MAX_BYTES 4096

/* ---- Errors ---- */

/* Appends the text as one line with single blanks: Vault indents lists of errors. */
static void put_words(struct buf *out, const char *words)
{
	for (const char *c = words; *c; c++)
		if ((unsigned char)*c > ' ' && *c != 0x7f)
			buf_putc(out, *c);
		else if (out->len > 0 && out->data[out->len - 1] != ' ')
			buf_putc(out, ' ');
	while (out->len > 0 && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

/* The first error or warning that is not empty. */
static const char *first_words(const json_t *answer)
{
	static const char *const lists[] = { "errors", "warnings" };

	for (size_t i = 0; i < MEM_COUNT(lists); i++) {
		const char *text = json_string_value(json_array_get(json_object_get(answer, lists[i]), 0));

		if (text && *text != '\0')
			return text;
	}
	return NULL;
}

bool vaultreply_repeats(const char *words, const char *const *secrets)
{
	for (size_t i = 0; secrets && secrets[i]; i++)
		if (*secrets[i] != '\0' && strcasestr(words, secrets[i]))
			return true;
	return false;
}

static enum err_kind kind_of(int status)
{
	if (status == 404)
		return ERR_MISSING;
	return status == 401 || status == 403 ? ERR_DENIED : ERR_TEMPORARY;
}

static void explain(int status, const json_t *answer, const char *const *secrets, struct err *err)
{
	const char *words = first_words(answer);
	struct buf text = BUF_INIT((size_t)64 << 10);

	if (words && !vaultreply_repeats(words, secrets))
		put_words(&text, words);
	if (text.len > 0)
		err_set(err, kind_of(status), "HTTP %d: %.*s", status, (int)utf8_cut(text.data, text.len, WORDS_MAX),
			text.data);
	else if (status == 404)
		err_set(err, ERR_MISSING, "HTTP 404: nothing is there");
	else
		err_set(err, kind_of(status), "HTTP %d", status);
	if (err)
		err->http_status = status;
	buf_done(&text);
}

json_t *vaultreply_parse(int status, const char *body, size_t len, const char *const *secrets, struct err *err)
{
	bool success = status >= 200 && status <= 299;
	json_t *answer = json_parse_foreign(body, len, NULL);

	if (!success) {
		explain(status, answer, secrets, err);
		json_decref(answer);
		return NULL;
	}
	if (json_is_object(answer))
		return answer;
	err_set(err, ERR_TEMPORARY, "the answer is not a JSON object: is this a Vault server?");
	json_decref(answer);
	return NULL;
}

/* ---- Tokens ---- */

static int64_t span_ms(const json_t *seconds)
{
	int64_t s = json_is_integer(seconds) ? json_integer_value(seconds) : 0;

	if (s < 0)
		return 0;
	return (s < TTL_MAX_S ? s : TTL_MAX_S) * 1000;
}

static int read_token(const json_t *answer, const char *member, const char *ttl, struct vaultreply_token *out,
	struct err *err)
{
	const json_t *about = json_object_get(answer, member);

	*out = (struct vaultreply_token){ .token = NULL };
	if (!json_is_object(about))
		return err_set(err, ERR_TEMPORARY, "the answer has no `%s`", member);
	out->ttl_ms = span_ms(json_object_get(about, ttl));
	out->renewable = json_is_true(json_object_get(about, "renewable"));
	return 0;
}

int vaultreply_renewal(const json_t *answer, struct vaultreply_token *out, struct err *err)
{
	return read_token(answer, "auth", "lease_duration", out, err);
}

int vaultreply_lookup(const json_t *answer, struct vaultreply_token *out, struct err *err)
{
	return read_token(answer, "data", "ttl", out, err);
}

bool vaultreply_is_token(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return len > 0 && len <= TOKEN_MAX;
}

int vaultreply_login(const json_t *answer, struct vaultreply_token *out, struct err *err)
{
	const json_t *token;

	if (vaultreply_renewal(answer, out, err) < 0)
		return -1;
	token = json_object_get(json_object_get(answer, "auth"), "client_token");
	if (!json_is_string(token) || strlen(json_string_value(token)) != json_string_length(token) ||
		!vaultreply_is_token(json_string_value(token)))
		return err_set(err, ERR_TEMPORARY, "the answer has no token");
	out->token = mem_dup(json_string_value(token));
	return 0;
}

/* ---- Values ---- */

const json_t *vaultreply_data(const json_t *answer, enum vault_engine engine, struct err *err)
{
	const json_t *data = json_object_get(answer, "data"), *inner = json_object_get(data, "data");
	bool versioned = engine == VAULT_ENGINE_KV2 ||
		(engine == VAULT_ENGINE_ANY && (json_is_object(inner) || json_is_null(inner)));
	const json_t *keys = versioned ? inner : data;

	if (json_is_object(keys))
		return keys;
	err_set(err, ERR_MISSING, "%s",
		engine == VAULT_ENGINE_KV2 && json_is_object(data) && !inner
			? "not a secret of key-value engine 2: the answer has no `data` in its data"
			: "the answer has no data: was it deleted?");
	return NULL;
}

static char *text_of(const json_t *value, const char *key, struct err *err)
{
	if (strlen(json_string_value(value)) == json_string_length(value))
		return mem_dup(json_string_value(value));
	err_set(err, ERR_INVALID, "key \"%.100s\": the value contains a NUL character", key);
	return NULL;
}

static char *joined(const json_t *list, const char *key, struct err *err)
{
	struct buf out = BUF_INIT(VALUE_MAX);
	const json_t *value;
	size_t i, room = json_array_size(list);

	json_array_foreach(list, i, value) room += json_string_length(value);
	buf_reserve(&out, room < VALUE_MAX ? room : VALUE_MAX);
	json_array_foreach(list, i, value)
	{
		char *text = json_is_string(value) ? text_of(value, key, err) : NULL;

		if (!text) {
			if (!json_is_string(value))
				err_set(err, ERR_INVALID,
					"key \"%.100s\": the list contains a value that is not a string", key);
			buf_done_secret(&out);
			return NULL;
		}
		buf_printf(&out, "%s", i > 0 ? "\n" : "");
		buf_puts(&out, text);
		mem_free_secret(text);
	}
	return buf_take(&out);
}

char *vaultreply_value(const json_t *data, enum vault_engine engine, const char *key, struct err *err)
{
	const json_t *value = json_object_get(data, key);

	if (!value || json_is_null(value))
		err_set(err, ERR_MISSING, "no key \"%.100s\"", key);
	else if (json_is_string(value))
		return text_of(value, key, err);
	else if (json_is_integer(value) || json_is_boolean(value))
		return json_text(value);
	else if (engine == VAULT_ENGINE_PKI && json_is_array(value))
		return joined(value, key, err);
	else
		err_set(err, ERR_INVALID,
			"key \"%.100s\": the value is not a string, integer or boolean: store it as a string", key);
	return NULL;
}

int64_t vaultreply_good_for_ms(const json_t *answer, enum vault_engine engine, int64_t now_unix_ms, bool *leased)
{
	const char *lease = json_string_value(json_object_get(answer, "lease_id"));
	const json_t *expiration = json_object_get(json_object_get(answer, "data"), "expiration");
	int64_t left_ms = 0, until_s, now_s = now_unix_ms / 1000;

	*leased = lease && *lease != '\0';
	if (*leased)
		left_ms = span_ms(json_object_get(answer, "lease_duration"));
	if (engine == VAULT_ENGINE_PKI && json_is_integer(expiration)) {
		until_s = json_integer_value(expiration);
		until_s = until_s <= now_s ? 1 : until_s - now_s > TTL_MAX_S ? TTL_MAX_S : until_s - now_s;
		if (left_ms == 0 || until_s * 1000 < left_ms)
			left_ms = until_s * 1000;
	}
	return left_ms / 3 * 2;
}

/* ---- Requests ---- */

/* Whether a segment is "." or "..", which would change the path. */
static bool has_dot_segment(const char *path, size_t len)
{
	size_t part = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && path[i] != '/')
			continue;
		if ((i - part == 1 && path[part] == '.') ||
			(i - part == 2 && path[part] == '.' && path[part + 1] == '.'))
			return true;
		part = i + 1;
	}
	return false;
}

char *vaultreply_path(const char *prefix, const char *path, const char *suffix, struct err *err)
{
	struct buf out = BUF_INIT((size_t)PATH_MAX_BYTES * 3 + 64);
	MEM_AUTO char *bare = NULL;
	size_t len;

	path += strspn(path, "/");
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	if (len == 0 || len > PATH_MAX_BYTES || has_dot_segment(path, len)) {
		err_set(err, ERR_INVALID,
			len == 0                       ? "the path is empty"
				: len > PATH_MAX_BYTES ? "the path is too long"
						       : "path \"%.100s\" has \".\" or \"..\" in it",
			path);
		return NULL;
	}
	bare = mem_dupn(path, len);
	buf_puts(&out, prefix);
	buf_put_percent(&out, bare, "/");
	buf_puts(&out, suffix);
	return buf_take(&out);
}

static char *body_of(const char *const (*fields)[2], size_t count)
{
	struct buf out = BUF_INIT(BODY_MAX);
	size_t room = 16;

	for (size_t i = 0; i < count; i++)
		room += fields[i][1] ? strlen(fields[i][1]) * 6 + strlen(fields[i][0]) + 8 : 0; /* \u0001 at worst */
	buf_reserve(&out, room);
	for (size_t i = 0; i < count; i++) {
		if (!fields[i][1] || *fields[i][1] == '\0')
			continue;
		buf_putc(&out, out.len > 0 ? ',' : '{');
		buf_put_json(&out, fields[i][0]);
		buf_putc(&out, ':');
		buf_put_json(&out, fields[i][1]);
	}
	buf_puts(&out, out.len > 0 ? "}" : "{}");
	return buf_take(&out);
}

char *vaultreply_login_body(const struct vault_login *login)
{
	const char *const fields[][2] = { { "jwt", login->jwt }, { "role", login->role } };

	return body_of(fields, 2);
}

char *vaultreply_issue_body(const struct vault_secret *s)
{
	const char *const fields[][2] = {
		{ "common_name", s->common_name },
		{ "alt_names", s->alt_names },
		{ "ip_sans", s->ip_sans },
		{ "uri_sans", s->uri_sans },
		{ "other_sans", s->other_sans },
		{ "ttl", s->ttl },
		{ "format", s->format },
	};

	return body_of(fields, MEM_COUNT(fields));
}
