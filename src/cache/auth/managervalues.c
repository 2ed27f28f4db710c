/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/managervalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/web/webauth.h"

#define PINNED_MS  (3600 * INT64_C(1000))
#define ANSWER_MAX ((size_t)1 << 19) /* secrets have at most 64 KiB, before JSON */

struct managed {
	struct secretvalue value;
	struct managervalues_source source; /* its member is unused */
	struct webauth auth;                /* while reading */
	struct webaccess *access;           /* the source's; one reference */
	char *got;                          /* owned, secret: the value just read; NULL */
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

static bool managed_is_fixed(const struct secretvalue *value)
{
	const struct managervalues_source *s = &((const struct managed *)value)->source;

	return s->manager->is_pinned(&s->secret);
}

static void on_end(void *arg, const struct err *err)
{
	struct managed *v = arg;

	if (err)
		secretvalue_failed(&v->value, err);
	else
		secretvalue_take(&v->value, v->got, managed_is_fixed(&v->value) ? PINNED_MS : 0);
	mem_free_secret(v->got);
	v->got = NULL;
}

static const struct exchange_kind reading = { .next = on_next, .read = on_read, .end = on_end };

static void managed_read(struct secretvalue *value)
{
	struct managed *v = (struct managed *)value;
	const struct secretvalues_config *config = &value->keeper->config;
	const struct managervalues_source *s = &v->source;

	if (exchange_runs(&v->auth.exchange))
		return;
	v->auth = (struct webauth){ .exchange = { .loop = config->loop,
					    .client = config->web,
					    .options = { .access = s->access,
						    .timeout_ms = SECRETVALUES_DEADLINE_MS,
						    .namespace_ = s->namespace_ },
					    .steps_max = 1 },
		.tokens = config->tokens,
		.needs_project = s->manager->needs_project && !text_is_given(s->secret.project) };
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

/* The managers' identities differ, and so do their keys. */
static const char *managed_login(const void *source)
{
	return webaccess_key(((const struct managervalues_source *)source)->access);
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
	.also = managed_login,
	.read = managed_read,
	.is_fixed = managed_is_fixed,
	.done = managed_done,
	.member = managed_member,
	.unread = managed_unread,
	.wrap = managed_wrap };

/* ---- Interface ---- */

enum reference_state managervalues_get(struct secretvalues *s, struct object *owner,
	const struct managervalues_source *source, const char **value, struct err *err)
{
	const char *member = source->member && *source->member ? source->member : NULL;
	struct secretvalue *v;
	enum reference_state state = secretvalues_get(s, &managed_kind, owner, source, member, &v, value, err);
	struct managed *managed = (struct managed *)v;

	if (!managed->access)
		managed->access = webaccess_ref(source->access);
	return state;
}
