/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/echo.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"
#include "net/identity/identity_parts.h"
#include "net/tls/tlsroots.h"

#define TOKEN_MAX ((size_t)1 << 16)
#define FILE_MAX  ((size_t)1 << 16)
#define FORM_MAX  ((size_t)1 << 18)

struct identity {
	int refs;
	const struct identity_kind *kind;
	char *texts[IDENTITY_TEXTS]; /* owned, some are secrets */
	struct identity_trust trust;
	struct identity *source; /* one reference; NULL */
	bool own;
	char key[FINGERPRINT_TEXT];
};

/* ---- Identities ---- */

struct identity *identity_new(const struct identity_config *config)
{
	struct identity *i = mem_zalloc(sizeof(*i));
	const char *all[IDENTITY_TEXTS + 6];
	size_t n = 0;

	i->refs = 1;
	i->kind = config->kind;
	i->source = config->source;
	for (; n < IDENTITY_TEXTS; n++)
		all[n] = i->texts[n] = mem_dup(text_given(config->texts[n]));
	all[n++] = i->trust.ca_pem = mem_dup(text_given(config->trust.ca_pem));
	all[n++] = i->trust.cert_pem = mem_dup(text_given(config->trust.cert_pem));
	all[n++] = i->trust.key_pem = mem_dup(text_given(config->trust.key_pem));
	i->trust.roots = config->trust.roots ? tlsroots_ref(config->trust.roots) : tlsroots_get(i->trust.ca_pem);
	i->trust.insecure = config->trust.insecure;
	i->own = config->own || (i->source && i->source->own);
	all[n++] = i->trust.insecure ? "insecure" : NULL;
	all[n++] = i->kind->name;
	all[n++] = i->source ? i->source->key : NULL;
	fingerprint_of(all, n, i->key);
	return i;
}

struct identity *identity_ref(struct identity *i)
{
	if (i)
		i->refs++;
	return i;
}

void identity_unref(struct identity *i)
{
	if (!i || --i->refs > 0)
		return;
	for (size_t n = 0; n < IDENTITY_TEXTS; n++)
		mem_free_secret(i->texts[n]);
	free((char *)(uintptr_t)i->trust.ca_pem);
	tlsroots_unref(i->trust.roots);
	free((char *)(uintptr_t)i->trust.cert_pem);
	mem_free_secret((char *)(uintptr_t)i->trust.key_pem);
	identity_unref(i->source);
	free(i);
}

const char *identity_key(const struct identity *i)
{
	return i->key;
}

const char *identity_label(const struct identity *i)
{
	return i->kind->label;
}

struct identity *identity_source(const struct identity *i)
{
	return i->source;
}

bool identity_is_own(const struct identity *i)
{
	return i->own;
}

bool identity_is_fixed(const struct identity *i)
{
	return !i->kind->read;
}

int64_t identity_early_ms(const struct identity *i)
{
	return i->kind->early_ms;
}

const struct identity_trust *identity_trust(const struct identity *i)
{
	return &i->trust;
}

bool identity_echoes_secret(const struct identity *i, const char *words, const char *answer)
{
	for (size_t n = 0; n < IDENTITY_TEXTS; n++)
		if (i->kind->sent & 1u << n && echo_shows(words, answer, i->texts[n]))
			return true;
	return false;
}

bool identity_is_of(const struct identity *i, const struct identity_kind *kind)
{
	return i->kind == kind;
}

const char *identity_text(const struct identity *i, size_t which)
{
	return i->texts[which];
}

/* ---- Credentials ---- */

void credential_done(struct credential *c)
{
	mem_free_secret(c->token);
	mem_free_secret(c->key_id);
	mem_free_secret(c->secret);
	mem_free_secret(c->session_token);
	free(c->project);
	*c = (struct credential){ 0 };
}

void credential_copy(struct credential *to, const struct credential *from)
{
	*to = *from;
	to->token = mem_dup(from->token);
	to->key_id = mem_dup(from->key_id);
	to->secret = mem_dup(from->secret);
	to->session_token = mem_dup(from->session_token);
	to->project = mem_dup(from->project);
}

/* The secret key only signs. */
bool credential_echoes_secret(const struct credential *c, const char *words, const char *answer)
{
	return echo_shows(words, answer, c->token) || echo_shows(words, answer, c->session_token);
}

/* ---- The exchange ---- */

void identity_exchange_done(struct identity_exchange *x)
{
	mem_free_secret(x->saved);
	x->saved = NULL;
}

enum exchange_verdict identity_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	return x->identity->kind->next(x, out, got, err);
}

enum exchange_verdict identity_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	return x->identity->kind->read(x, answer, got, err);
}

/* ---- For the kinds ---- */

const char *identity_env(const struct identity_exchange *x, const char *name)
{
	const char *value = x->environment->env(x->environment->arg, name);

	return value && *value ? value : NULL;
}

char *identity_file_text(const struct identity_exchange *x, const char *variable, struct err *err)
{
	struct buf content = BUF_INIT(FILE_MAX);
	char *text = NULL, *whole;

	if (x->environment->file(x->environment->arg, identity_env(x, variable), &content, err)) {
		err_wrap(err, "the file that %s names", variable);
	} else {
		whole = buf_take(&content);
		text = mem_dup(text_trim(whole, " \t\r\n"));
		mem_free_secret(whole);
	}
	buf_done_secret(&content);
	return text;
}

char *identity_file(const struct identity_exchange *x, const char *variable, struct err *err)
{
	char *text = identity_file_text(x, variable, err);

	if (text && !identity_is_token(text)) {
		err_set(err, ERR_INVALID, "the file that %s names does not hold a token", variable);
		mem_free_secret(text);
		text = NULL;
	}
	return text;
}

void identity_post_form(struct webrequest *out, const char *url, const struct identity_field *fields)
{
	struct buf form = BUF_INIT(FORM_MAX);

	buf_reserve(&form, 8192);
	for (; fields->name; fields++) {
		if (!fields->value || !*fields->value)
			continue;
		buf_printf(&form, "%s%s=", form.len > 0 ? "&" : "", fields->name);
		buf_put_percent(&form, fields->value, "");
	}
	if (fields->value)
		buf_printf(&form, "&%s", fields->value);
	out->url = mem_dup(url);
	out->body = buf_take(&form);
	out->content_type = "application/x-www-form-urlencoded";
}

bool identity_is_token(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return false;
	return *text && strlen(text) <= TOKEN_MAX;
}

void identity_refused(const struct webresponse *answer, const char *what, const char *code, struct err *err)
{
	int status = answer->status;

	if (status == 0) {
		*err = *answer->transport;
		return;
	}
	err_set(err, status == 400 ? ERR_DENIED : httpstatus_kind(status), "%s: HTTP status %d%s%s", what, status,
		code && *code ? ", " : "", code ? code : "");
	err->http_status = status;
	if (status == 429 || status == 503)
		err->retry_after_ms = answer->retry_after_ms;
}
