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
#include "net/web/webtoken.h"

#define READ_DEADLINE_MS   10000
#define READ_AGAIN_MS      60000
#define PINNED_AGAIN_MS    (60 * READ_AGAIN_MS)
#define LEFT_ALONE_MOST_MS (10 * 60000)      /* for so long at most, when it asks for that */
#define ANSWER_MAX         ((size_t)1 << 19) /* secrets have 64 KiB at most, before JSON */

struct managed {
	struct fetched fetched; /* its text is the whole secret */
	struct managervalues *owner;
	struct managervalues_source source; /* with texts and a reference of its own; its member is unused */
	struct strmap members;              /* those of the text that were asked for, secret */
	json_t *parsed;                     /* the text, owned until the end of the turn; NULL: not yet, or no JSON */
	bool is_parsed;
	struct loop_task forget;    /* parsed */
	struct webget_call *call;   /* NULL: none is under way */
	struct webtoken_wait *wait; /* for the project; NULL */
	int64_t read_ms;            /* loop clock: when it was read */
	bool doubted;               /* since then: it is read again soon */
};

struct managervalues {
	struct loop *loop;
	struct webget *web;
	int64_t apart_ms;
	struct holders holders;
};

/* ---- Reading ---- */

/* Errors of the transport begin with the server. */
static void failed(struct managed *v, struct err *err, int64_t left_alone_ms)
{
	char place[256];

	if (text_begins(err->msg, "http"))
		err_wrap(err, "%s", v->source.manager->called);
	else
		err_wrap(err, "%s %s", v->source.manager->called,
			httpurl_origin(v->source.secret.place, place, sizeof(place)));
	fetched_failed(&v->fetched, err, "secrets", "the value read before stays in use");
	if (left_alone_ms > LEFT_ALONE_MOST_MS)
		left_alone_ms = LEFT_ALONE_MOST_MS;
	if (left_alone_ms > 0)
		loop_timer_set(&v->fetched.again, left_alone_ms);
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
	v->doubted = false;
	if (v->fetched.text && strcmp(v->fetched.text, text) != 0)
		strmap_done_secret(&v->members);
	fetched_take(&v->fetched, text,
		v->source.manager->is_pinned(&v->source.secret) ? PINNED_AGAIN_MS : READ_AGAIN_MS);
}

/* No parameter may be empty, so it is no value to change to. */
static int check_value(const struct managed *v, const char *text, struct err *err)
{
	return text[strspn(text, " \t\n\v\f\r")]
		? 0
		: err_set(err, ERR_INVALID, "secret %.200s: its value is empty", v->source.secret.name);
}

static void on_answer(void *arg, const struct webresponse *answer, const struct err *transport)
{
	struct managed *v = arg;
	struct err err = { 0 };
	char *text = NULL;

	v->call = NULL;
	if (!answer) {
		err = *transport;
		failed(v, &err, 0);
	} else if (secretmanager_read(v->source.manager, &v->source.secret, answer, &text, &err) ||
		check_value(v, text, &err)) {
		if (webaccess_repeats(v->source.access, err.msg, answer->body) ||
			(answer->credential && credential_repeats(answer->credential, err.msg, answer->body)))
			err_set(&err, err.kind,
				"HTTP status %d, and words that are not shown, as they repeat what was sent to log in",
				answer->status);
		failed(v, &err, answer->retry_after_ms);
	} else {
		take(v, text);
	}
	mem_free_secret(text);
}

static void ask(struct managed *v, const char *project)
{
	struct secretmanager_secret secret = v->source.secret;
	struct webrequest r = { 0 };
	struct err err = { 0 };

	secret.project = project;
	if (v->source.manager->request(&secret, &r, &err)) {
		failed(v, &err, 0);
	} else {
		const struct webget_request request = { .url = r.url,
			.headers = &r.headers,
			.access = v->source.access,
			.timeout_ms = READ_DEADLINE_MS,
			.max_body = ANSWER_MAX,
			.spare = true,
			.namespace_ = v->source.namespace_,
			.body = r.body,
			.content_type = r.content_type };

		v->call = webget_start(v->owner->web, &request, on_answer, v);
	}
	webrequest_done(&r);
}

static void on_project(void *arg, const struct credential *credential, const struct err *transport)
{
	struct managed *v = arg;
	struct err err;

	v->wait = NULL;
	if (credential) {
		ask(v, credential->project);
		return;
	}
	err = *transport;
	failed(v, &err, 0);
}

static void on_again(void *arg)
{
	struct managed *v = arg;
	const char *project = v->source.secret.project;

	if (v->call || v->wait)
		return;
	/* The token is kept, and so there at once for the request. */
	if (v->source.manager->needs_project && !secretmanager_given(project))
		v->wait = webtoken_ask(webget_tokens(v->owner->web), webaccess_identity(v->source.access),
			v->source.namespace_, on_project, v);
	else
		ask(v, project);
}

/* ---- Keeping ---- */

#define TEXTS 5

/* The texts that identify the secret at its manager. */
static void list_texts(struct managervalues_source *s, const char **texts[TEXTS])
{
	const char **const all[TEXTS] = { &s->secret.place, &s->secret.project, &s->secret.name, &s->secret.version,
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
	known_by[TEXTS] = s.manager->called;
	known_by[TEXTS + 1] = webaccess_key(s.access);
	return fingerprint_of(known_by, TEXTS + 2, out);
}

static void on_unheld(void *arg, struct held *held)
{
	struct managed *v = (struct managed *)held;
	const char **texts[TEXTS];

	(void)arg;
	webget_cancel(v->call);
	webtoken_cancel(v->wait);
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

/* A text of many members is parsed once in a turn, however many of them are wanted, or missing. */
static const json_t *parsed(struct managed *v)
{
	if (!v->is_parsed) {
		v->parsed = json_parse_foreign(v->fetched.text, strlen(v->fetched.text), NULL);
		v->is_parsed = true;
		loop_task_queue(v->owner->loop, &v->forget);
	}
	return v->parsed;
}

/* Each is taken out of the text once. */
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
			source->manager->called);
		return REFERENCE_UNREAD;
	}
	if (v->fetched.err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return v->fetched.err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
}

/* What failed is retried anyway, and a version's value stays. */
static void doubt(void *arg, struct held *held)
{
	struct managed *v = (struct managed *)held;
	struct managervalues *m = arg;
	int64_t left_ms = v->read_ms + m->apart_ms - loop_now_ms(m->loop);

	if (v->doubted || !v->fetched.text || v->fetched.err || v->source.manager->is_pinned(&v->source.secret))
		return;
	v->doubted = true;
	if (!v->call && !v->wait)
		loop_timer_set(&v->fetched.again, left_ms > 0 ? left_ms : 0);
}

void managervalues_doubt(struct managervalues *m, const struct object *owner)
{
	holdings_each(owner, &m->holders, doubt, m);
}

struct managervalues *managervalues_new(struct loop *loop, struct webget *web, int64_t apart_ms)
{
	struct managervalues *v = mem_zalloc(sizeof(*v));

	v->loop = loop;
	v->web = web;
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
