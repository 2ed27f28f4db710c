/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/managervalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/fetched.h"
#include "net/http/httpurl.h"
#include "net/web/webauth.h"

#define READ_DEADLINE_MS    10000
#define READ_AGAIN_MS       60000
#define PINNED_AGAIN_MS     (60 * READ_AGAIN_MS)
#define RETRY_AFTER_MOST_MS (10 * 60000)      /* limit of Retry-After */
#define ANSWER_MAX          ((size_t)1 << 19) /* secrets have at most 64 KiB, before JSON */

struct managed {
	struct fetched fetched; /* its text is the whole secret */
	struct managervalues *owner;
	struct managervalues_source source; /* owns its texts and a reference; its member is unused */
	struct strmap members;              /* the requested members of the text, secret */
	json_t *parsed; /* the text as JSON, owned until the end of the turn; NULL: not parsed, or no JSON */
	bool is_parsed;
	struct loop_task forget; /* frees parsed */
	struct webauth auth;     /* while reading */
	bool reading;
	char *got;              /* owned, secret: the value just read; NULL */
	int64_t retry_after_ms; /* from the manager */
	int64_t read_ms;        /* loop clock: of the last read */
	bool reread_due;        /* refused since then: read again soon */
};

struct managervalues {
	struct loop *loop;
	struct webclient *web;
	struct webtoken_store *tokens;
	int64_t apart_ms;
	struct holders holders;
};

/* ---- Reading ---- */

/* Transport errors name the server already. */
static void failed(struct managed *v, struct err err)
{
	char origin[256];

	if (text_begins(err.msg, "http"))
		err_wrap(&err, "%s", v->source.manager->label);
	else
		err_wrap(&err, "%s %s", v->source.manager->label,
			httpurl_origin(v->source.secret.endpoint, origin, sizeof(origin)));
	fetched_failed(&v->fetched, &err, "secrets", "the value read before stays in use");
	if (v->retry_after_ms > 0)
		loop_timer_set(&v->fetched.again,
			v->retry_after_ms < RETRY_AFTER_MOST_MS ? v->retry_after_ms : RETRY_AFTER_MOST_MS);
}

static void forget_parsed(void *arg)
{
	struct managed *v = arg;

	json_decref(v->parsed);
	v->parsed = NULL;
	v->is_parsed = false;
}

static void take(struct managed *v, const char *text)
{
	forget_parsed(v);
	v->read_ms = loop_now_ms(v->owner->loop);
	v->reread_due = false;
	if (v->fetched.text && strcmp(v->fetched.text, text) != 0)
		strmap_done_secret(&v->members);
	fetched_take(&v->fetched, text,
		v->source.manager->is_pinned(&v->source.secret) ? PINNED_AGAIN_MS : READ_AGAIN_MS);
}

/* An empty value counts as an error, as parameters must not be empty. */
static int check_value(const struct managed *v, const char *text, struct err *err)
{
	return text[strspn(text, " \t\n\v\f\r")]
		? 0
		: err_set(err, ERR_INVALID, "secret %.200s: its value is empty", v->source.secret.name);
}

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct managed *v = arg;
	struct secretmanager_secret secret = v->source.secret;

	if (v->auth.needs_project)
		secret.project = v->auth.project;
	if (v->source.manager->request(&secret, out, err))
		return EXCHANGE_FAILED;
	out->max_body = ANSWER_MAX;
	out->spare = true;
	return EXCHANGE_SEND;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct managed *v = arg;

	if (!response->status) {
		*err = *response->transport;
		return EXCHANGE_FAILED;
	}
	if (secretmanager_read(v->source.manager, &v->source.secret, response, &v->got, err) == 0 &&
		check_value(v, v->got, err) == 0)
		return EXCHANGE_DONE;
	v->retry_after_ms = response->retry_after_ms;
	return EXCHANGE_FAILED;
}

static void on_end(void *arg, const struct err *err)
{
	struct managed *v = arg;

	v->reading = false;
	if (err)
		failed(v, *err);
	else
		take(v, v->got);
	mem_free_secret(v->got);
	v->got = NULL;
}

static const struct exchange_kind reading = { .next = on_next, .read = on_read, .end = on_end };

static void on_again(void *arg)
{
	struct managed *v = arg;
	const struct managervalues_source *s = &v->source;

	if (v->reading)
		return;
	v->reading = true;
	v->retry_after_ms = 0;
	v->auth = (struct webauth){
		.exchange = { .loop = v->owner->loop,
			.client = v->owner->web,
			.options = { .access = s->access, .timeout_ms = READ_DEADLINE_MS, .namespace_ = s->namespace_ },
			.steps_max = 1 },
		.tokens = v->owner->tokens,
		.needs_project = s->manager->needs_project && !secretmanager_given(s->secret.project)
	};
	webauth_start(&v->auth, &reading, v);
}

/* ---- Keeping ---- */

#define TEXTS 5

/* The texts that identify the secret at its manager. */
static void list_texts(struct managervalues_source *s, const char **texts[TEXTS])
{
	const char **const all[TEXTS] = { &s->secret.endpoint, &s->secret.project, &s->secret.name, &s->secret.version,
		&s->secret.stage };

	memcpy(texts, all, sizeof(all));
}

static char *key_of(const struct managervalues_source *source, char out[FINGERPRINT_TEXT])
{
	struct managervalues_source s = *source;
	const char **texts[TEXTS], *known_by[TEXTS + 2];

	list_texts(&s, texts);
	for (size_t i = 0; i < TEXTS; i++)
		known_by[i] = *texts[i] ? *texts[i] : "";
	known_by[TEXTS] = s.manager->label;
	known_by[TEXTS + 1] = webaccess_key(s.access);
	return fingerprint_of(known_by, TEXTS + 2, out);
}

static void on_unheld(void *arg, struct held *held)
{
	struct managed *v = (struct managed *)held;
	const char **texts[TEXTS];

	(void)arg;
	webauth_done(&v->auth);
	mem_free_secret(v->got);
	loop_task_cancel(v->owner->loop, &v->forget);
	forget_parsed(v);
	fetched_done(&v->fetched);
	strmap_done_secret(&v->members);
	list_texts(&v->source, texts);
	for (size_t i = 0; i < TEXTS; i++)
		free((char *)(uintptr_t)*texts[i]);
	free((char *)(uintptr_t)v->source.namespace_);
	webaccess_unref(v->source.access);
	free(v);
}

static struct managed *managed_new(struct managervalues *owner, const struct managervalues_source *source)
{
	struct managed *v = mem_zalloc(sizeof(*v));
	const char **texts[TEXTS];

	v->owner = owner;
	v->source = *source;
	list_texts(&v->source, texts);
	for (size_t i = 0; i < TEXTS; i++)
		*texts[i] = mem_dup(*texts[i]);
	v->source.namespace_ = mem_dup(source->namespace_);
	webaccess_ref(v->source.access);
	loop_timer_init(&v->fetched.again, owner->loop, on_again, v);
	loop_task_init(&v->forget, forget_parsed, v);
	loop_timer_set(&v->fetched.again, 0); /* asynchronously, not from inside the request */
	return v;
}

/* Parses the text once per turn, however many members are wanted or missing. */
static const json_t *parsed(struct managed *v)
{
	if (!v->is_parsed) {
		v->parsed = json_parse_foreign(v->fetched.text, strlen(v->fetched.text), NULL);
		v->is_parsed = true;
		loop_task_queue(v->owner->loop, &v->forget);
	}
	return v->parsed;
}

/* Extracts each member once. */
static enum reference_state get_member(struct managed *v, const char *member, const char **value, struct err *err)
{
	char *text = NULL;

	*value = strmap_get(&v->members, member);
	if (*value)
		return REFERENCE_FOUND;
	if (v->source.manager->member(parsed(v), member, &text, err)) {
		err_wrap(err, "secret %.200s", v->source.secret.name);
		return REFERENCE_MISSING;
	}
	strmap_set(&v->members, member, text);
	mem_free_secret(text);
	*value = strmap_get(&v->members, member);
	return REFERENCE_FOUND;
}

enum reference_state managervalues_get(struct managervalues *owner, struct object *owner_key,
	const struct managervalues_source *source, const char **value, struct err *err)
{
	char key[FINGERPRINT_TEXT];
	struct managed *v = (struct managed *)holders_find(&owner->holders, key_of(source, key));

	if (!v) {
		v = managed_new(owner, source);
		holders_add(&owner->holders, &v->fetched.held, key);
	}
	if (fetched_get(&v->fetched, owner_key, value, err))
		return source->member && *source->member ? get_member(v, source->member, value, err) : REFERENCE_FOUND;
	if (!v->fetched.err) {
		err_set(err, ERR_WAITING, "secret %.200s of %s is not read yet", source->secret.name,
			source->manager->label);
		return REFERENCE_UNREAD;
	}
	if (v->fetched.err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return v->fetched.err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
}

/* Failed reads are retried anyway, and a fixed version does not change. */
static void reread(void *arg, struct held *held)
{
	struct managed *v = (struct managed *)held;
	struct managervalues *m = arg;
	int64_t left_ms = v->read_ms + m->apart_ms - loop_now_ms(m->loop);

	if (v->reread_due || !v->fetched.text || v->fetched.err || v->source.manager->is_pinned(&v->source.secret))
		return;
	v->reread_due = true;
	if (!v->reading)
		loop_timer_set(&v->fetched.again, left_ms > 0 ? left_ms : 0);
}

void managervalues_reread(struct managervalues *m, const struct object *owner)
{
	holdings_each(owner, &m->holders, reread, m);
}

struct managervalues *managervalues_new(struct loop *loop, struct webclient *web, struct webtoken_store *tokens,
	int64_t apart_ms)
{
	struct managervalues *v = mem_zalloc(sizeof(*v));

	v->loop = loop;
	v->web = web;
	v->tokens = tokens;
	v->apart_ms = apart_ms < READ_AGAIN_MS ? apart_ms : READ_AGAIN_MS;
	holders_init(&v->holders, on_unheld, v);
	return v;
}

void managervalues_free(struct managervalues *v)
{
	if (!v)
		return;
	holders_done(&v->holders);
	free(v);
}

void managervalues_listen(struct managervalues *v, object_fn fn, void *arg)
{
	holders_listen(&v->holders, fn, arg);
}
