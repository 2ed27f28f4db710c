/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/managervalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/secretvalues.h"
#include "net/http/httpurl.h"
#include "net/web/webauth.h"

#define READ_DEADLINE_MS 10000
#define READ_AGAIN_MS    60000
#define PINNED_AGAIN_MS  (60 * READ_AGAIN_MS)
#define ANSWER_MAX       ((size_t)1 << 19) /* secrets have at most 64 KiB, before JSON */

struct managed {
	struct secretvalue value;
	struct managervalues_source source; /* its member is unused */
	struct webauth auth;                /* while reading */
	struct webaccess *access;           /* the source's; one reference */
	char *got;                          /* owned, secret: the value just read; NULL */
	int64_t read_ms;                    /* loop clock: of the last read */
	bool reread_due;                    /* refused since then: read again soon */
};

struct managervalues {
	struct secretvalues values;
	struct webclient *web;
	struct webtoken_store *tokens;
	int64_t apart_ms;
};

/* ---- Reading ---- */

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
	err->retry_after_ms = response->retry_after_ms;
	return EXCHANGE_FAILED;
}

static void on_end(void *arg, const struct err *err)
{
	struct managed *v = arg;

	if (err) {
		secretvalue_failed(&v->value, err);
	} else {
		v->read_ms = loop_now_ms(v->value.owner->loop);
		v->reread_due = false;
		secretvalue_take(&v->value, v->got,
			v->source.manager->is_pinned(&v->source.secret) ? PINNED_AGAIN_MS : READ_AGAIN_MS);
	}
	mem_free_secret(v->got);
	v->got = NULL;
}

static const struct exchange_kind reading = { .next = on_next, .read = on_read, .end = on_end };

static void managed_read(struct secretvalue *value)
{
	struct managed *v = (struct managed *)value;
	const struct managervalues *m = (struct managervalues *)value->owner;
	const struct managervalues_source *s = &v->source;

	if (exchange_runs(&v->auth.exchange))
		return;
	v->auth = (struct webauth){
		.exchange = { .loop = value->owner->loop,
			.client = m->web,
			.options = { .access = s->access, .timeout_ms = READ_DEADLINE_MS, .namespace_ = s->namespace_ },
			.steps_max = 1 },
		.tokens = m->tokens,
		.needs_project = s->manager->needs_project && !secretmanager_given(s->secret.project)
	};
	webauth_start(&v->auth, &reading, v);
}

/* ---- The kind ---- */

static const size_t texts[] = {
#define AT(member) offsetof(struct managervalues_source, member)
	AT(namespace_),
	AT(secret.endpoint),
	AT(secret.project),
	AT(secret.name),
	AT(secret.version),
	AT(secret.stage),
#undef AT
};

static void managed_also(const void *source, const char *also[2])
{
	const struct managervalues_source *s = source;

	also[0] = s->manager->label;
	also[1] = webaccess_key(s->access);
}

static void managed_done(struct secretvalue *value)
{
	struct managed *v = (struct managed *)value;

	webauth_done(&v->auth);
	mem_free_secret(v->got);
	webaccess_unref(v->access);
}

static int managed_member(const struct secretvalue *value, const json_t *whole, const char *member, char **out,
	struct err *err)
{
	const struct managervalues_source *s = &((const struct managed *)value)->source;

	return s->manager->member(whole, member, out, err) ? err_wrap(err, "secret %.200s", s->secret.name) : 0;
}

static void managed_unread(const void *source, struct err *err)
{
	const struct managervalues_source *s = source;

	err_set(err, ERR_WAITING, "secret %.200s of %s is not read yet", s->secret.name, s->manager->label);
}

/* Transport errors name the server already. */
static void managed_wrap(const struct secretvalue *value, struct err *err)
{
	const struct managervalues_source *s = &((const struct managed *)value)->source;
	char origin[256];

	if (text_begins(err->msg, "http"))
		err_wrap(err, "%s", s->manager->label);
	else
		err_wrap(err, "%s %s", s->manager->label, httpurl_origin(s->secret.endpoint, origin, sizeof(origin)));
}

static const struct secretvalues_kind managed_kind = { .log = "secrets",
	.size = sizeof(struct managed),
	.source = offsetof(struct managed, source),
	.source_size = sizeof(struct managervalues_source),
	.texts = texts,
	.loose_count = 1,
	.text_count = MEM_COUNT(texts),
	.also = managed_also,
	.read = managed_read,
	.done = managed_done,
	.member = managed_member,
	.unread = managed_unread,
	.wrap = managed_wrap };

/* ---- Interface ---- */

enum reference_state managervalues_get(struct managervalues *m, struct object *owner,
	const struct managervalues_source *source, const char **value, struct err *err)
{
	const char *member = source->member && *source->member ? source->member : NULL;
	struct secretvalue *v;
	enum reference_state state = secretvalues_get(&m->values, owner, source, member, &v, value, err);
	struct managed *managed = (struct managed *)v;

	if (!managed->access)
		managed->access = webaccess_ref(source->access);
	return state;
}

/* Failed reads are retried anyway, and a fixed version does not change. */
static void reread(void *arg, struct held *held)
{
	struct managed *v = (struct managed *)held;
	struct managervalues *m = arg;
	const struct fetched *f = &v->value.fetched;
	int64_t left_ms = v->read_ms + m->apart_ms - loop_now_ms(m->values.loop);

	if (v->reread_due || !f->text || f->err || v->source.manager->is_pinned(&v->source.secret))
		return;
	v->reread_due = true;
	if (!exchange_runs(&v->auth.exchange))
		loop_timer_set(&v->value.fetched.again, left_ms > 0 ? left_ms : 0);
}

void managervalues_reread(struct managervalues *m, const struct object *owner)
{
	holdings_each(owner, &m->values.holders, reread, m);
}

struct managervalues *managervalues_new(struct loop *loop, struct webclient *web, struct webtoken_store *tokens,
	int64_t apart_ms)
{
	struct managervalues *m = mem_zalloc(sizeof(*m));

	secretvalues_init(&m->values, loop, &managed_kind);
	m->web = web;
	m->tokens = tokens;
	m->apart_ms = apart_ms < READ_AGAIN_MS ? apart_ms : READ_AGAIN_MS;
	return m;
}

void managervalues_free(struct managervalues *m)
{
	if (m)
		holders_done(&m->values.holders);
	free(m);
}

void managervalues_listen(struct managervalues *m, object_fn fn, void *arg)
{
	holders_listen(&m->values.holders, fn, arg);
}
