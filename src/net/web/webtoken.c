/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webtoken.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpc.h"
#include "net/http/httpurl.h"

#define FAILED_MS  1000
#define FORGET_MS  600000
#define FORM_MAX   ((size_t)1 << 18)
#define TOKEN_MAX  ((size_t)1 << 16)
#define LIFE_MAX_S (10 * 365 * 86400.0)

struct webtoken_wait {
	struct webtoken *owner;
	webtoken_fn fn;
	void *arg;
	struct loop_task task;
	struct webtoken_wait *prev, *next;
};

struct webtoken {
	struct webtoken_store *store;
	struct webaccess *access;    /* one count */
	const char *key;             /* inside access */
	char *text;                  /* owned, a secret; NULL: none */
	int64_t fetched_ms, ends_ms; /* ends_ms 0: unknown */
	struct err *err;             /* owned; the error of the last fetch; NULL */
	int64_t failed_ms, used_ms;
	bool in_form;     /* client id and secret are sent in the form */
	bool tried_other; /* the other way was tried in this fetch */
	bool fetching;
	struct webtoken_wait *waits;
	UT_hash_handle hh;
};

struct webtoken_store {
	struct loop *loop;
	webtoken_post_fn post;
	void *post_arg;
	struct webtoken *tokens;
};

/* ---- What the token's server says ---- */

static bool is_token(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return false;
	return *text && strlen(text) <= TOKEN_MAX;
}

/* A number of seconds; some servers write it as a string. */
static int64_t life_of(const json_t *answer)
{
	const json_t *value = json_object_get(answer, "expires_in");
	double seconds = json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);

	if (!(seconds > 0))
		return 0;
	return (int64_t)((seconds < LIFE_MAX_S ? seconds : LIFE_MAX_S) * 1000);
}

char *webtoken_parse(int status, const char *body, size_t len, int64_t *life_ms, struct err *err)
{
	/* Only the codes of RFC 6749: error_description may repeat what was sent. */
	static const char *const codes[] = { "invalid_request", "invalid_client", "invalid_grant",
		"unauthorized_client", "unsupported_grant_type", "invalid_scope", "temporarily_unavailable",
		"server_error", "access_denied", NULL };
	json_t *answer = json_parse_foreign(body, len, NULL);
	const char *text = json_str_or_empty(answer, "access_token"), *type = json_str_or_empty(answer, "token_type");
	const char *code = json_str_or_empty(answer, "error");
	bool known = text_is_one_of(code, codes);
	char *token = NULL;

	*life_ms = 0;
	if (status < 200 || status > 299) {
		err_set(err, status == 400 ? ERR_DENIED : httpc_status_kind(status), "no token: HTTP status %d%s%s",
			status, known ? ", " : "", known ? code : "");
		if (err)
			err->http_status = status;
	} else if (!json_is_object(answer)) {
		err_set(err, ERR_INVALID, "no token: the answer is not a JSON object");
	} else if (!is_token(text)) {
		err_set(err, ERR_INVALID, "no token: the answer has no access_token that can be sent");
	} else if (*type && strcasecmp(type, "bearer") != 0) {
		err_set(err, ERR_INVALID, "no token: the answer's token_type is not bearer");
	} else {
		token = mem_dup(text);
		*life_ms = life_of(answer);
	}
	json_decref(answer);
	return token;
}

/* ---- Fetching ---- */

static void start_fetch(struct webtoken *t);

void webtoken_answered(struct webtoken *t, int status, const char *body, size_t len, const struct err *transport)
{
	struct webtoken_wait *w;
	struct err err = { 0 };
	int64_t life_ms = 0;
	char *text = NULL, where[256];

	t->fetching = false;
	if (transport)
		err = *transport;
	else
		text = webtoken_parse(status, body, len, &life_ms, &err);
	/*
	 * RFC 6749 requires Basic, but not every server accepts it; which way works is not known
	 * before.
	 */
	if (!text && (status == 400 || status == 401) && !t->tried_other) {
		t->tried_other = true;
		t->in_form = !t->in_form;
		start_fetch(t);
		return;
	}
	if (text) {
		mem_free_secret(t->text);
		t->text = text;
		t->fetched_ms = loop_now_ms(t->store->loop);
		t->ends_ms = life_ms ? t->fetched_ms + life_ms : 0;
		err_keep(&t->err, NULL);
	} else {
		httpurl_origin(webaccess_config(t->access)->oauth.token_url, where, sizeof(where));
		if (!text_begins(err.msg, where))
			err_wrap(&err, "%s", where);
		err_wrap(&err, "OAuth token");
		err_keep(&t->err, &err);
		t->failed_ms = loop_now_ms(t->store->loop);
	}
	DL_FOREACH (t->waits, w)
		loop_task_queue(t->store->loop, &w->task);
}

static void put_field(struct buf *form, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(form, "%s%s=", form->len > 0 ? "&" : "", name);
	buf_put_percent(form, value, "");
}

static void start_fetch(struct webtoken *t)
{
	const struct webaccess_config *config = webaccess_config(t->access);
	struct webaccess *access = webaccess_for_token(t->access, !t->in_form);
	struct buf form = BUF_INIT(FORM_MAX);

	buf_reserve(&form, 4096);
	put_field(&form, "grant_type", "client_credentials");
	put_field(&form, "scope", config->oauth.scopes);
	if (t->in_form) {
		put_field(&form, "client_id", config->oauth.client_id);
		put_field(&form, "client_secret", config->oauth.client_secret);
	}
	if (config->oauth.params)
		buf_printf(&form, "&%s", config->oauth.params);
	t->fetching = true;
	t->store->post(t->store->post_arg, config->oauth.token_url, access, buf_text(&form), t);
	buf_done_secret(&form);
	webaccess_unref(access);
}

/* ---- Asking ---- */

static struct webtoken *token_find(struct webtoken_store *s, const struct webaccess *access)
{
	const char *key = webaccess_token_key(access);
	struct webtoken *t = NULL;

	if (key)
		HASH_FIND_STR(s->tokens, key, t);
	return t;
}

static void token_free(struct webtoken *t)
{
	HASH_DELETE(hh, t->store->tokens, t);
	while (t->waits)
		webtoken_cancel(t->waits);
	mem_free_secret(t->text);
	err_keep(&t->err, NULL);
	webaccess_unref(t->access);
	free(t);
}

static struct webtoken *token_get(struct webtoken_store *s, struct webaccess *access)
{
	struct webtoken *t = token_find(s, access), *old, *next;
	int64_t now_ms = loop_now_ms(s->loop);

	if (t)
		return t;
	HASH_ITER (hh, s->tokens, old, next)
		if (!old->fetching && !old->waits && now_ms - old->used_ms > FORGET_MS)
			token_free(old);
	t = mem_zalloc(sizeof(*t));
	t->store = s;
	t->access = webaccess_ref(access);
	t->key = webaccess_token_key(access);
	HASH_ADD_KEYPTR(hh, s->tokens, t->key, strlen(t->key), t);
	return t;
}

static bool is_good(const struct webtoken *t, int64_t now_ms)
{
	return t->text && (!t->ends_ms || now_ms < t->ends_ms);
}

/* After four fifths of its life, unless a fetch has failed just now. */
static bool is_due(const struct webtoken *t, int64_t now_ms)
{
	if (t->err && now_ms - t->failed_ms < FAILED_MS)
		return false;
	return !is_good(t, now_ms) || (t->ends_ms && now_ms - t->fetched_ms >= (t->ends_ms - t->fetched_ms) / 5 * 4);
}

static void on_wait(void *arg)
{
	struct webtoken_wait *w = arg;
	struct webtoken *t = w->owner;
	webtoken_fn fn = w->fn;
	void *fn_arg = w->arg;
	struct err err;

	webtoken_cancel(w);
	if (is_good(t, loop_now_ms(t->store->loop))) {
		fn(fn_arg, t->text, NULL);
		return;
	}
	if (t->err)
		err = *t->err;
	else
		err_set(&err, ERR_DENIED, "OAuth token: it was refused before it could be used");
	fn(fn_arg, NULL, &err);
}

struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct webaccess *access, webtoken_fn fn, void *arg)
{
	struct webtoken *t = token_get(s, access);
	struct webtoken_wait *w = mem_zalloc(sizeof(*w));
	int64_t now_ms = loop_now_ms(s->loop);

	t->used_ms = now_ms;
	w->owner = t;
	w->fn = fn;
	w->arg = arg;
	loop_task_init(&w->task, on_wait, w);
	DL_APPEND(t->waits, w);
	if (!t->fetching && is_due(t, now_ms)) {
		t->tried_other = false;
		start_fetch(t);
	}
	if (!t->fetching || is_good(t, now_ms))
		loop_task_queue(s->loop, &w->task);
	return w;
}

void webtoken_cancel(struct webtoken_wait *w)
{
	if (!w)
		return;
	DL_DELETE(w->owner->waits, w);
	loop_task_cancel(w->owner->store->loop, &w->task);
	free(w);
}

void webtoken_reject(struct webtoken_store *s, const struct webaccess *access, const char *token)
{
	struct webtoken *t = token_find(s, access);

	if (!t || !t->text || strcmp(t->text, token) != 0)
		return;
	mem_free_secret(t->text);
	t->text = NULL;
}

struct webtoken_store *webtoken_store_new(struct loop *loop, webtoken_post_fn post, void *arg)
{
	struct webtoken_store *s = mem_zalloc(sizeof(*s));

	s->loop = loop;
	s->post = post;
	s->post_arg = arg;
	return s;
}

void webtoken_store_free(struct webtoken_store *s)
{
	struct webtoken *t, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->tokens, t, next)
		token_free(t);
	free(s);
}
