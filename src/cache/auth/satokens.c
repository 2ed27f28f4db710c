/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/satokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cache/auth/holders.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS  60000
#define RENEW_LEAST_MS 10000
#define NAME_MAX_BYTES (3 * 253 + 1)

struct token {
	struct held held; /* key "shop/worker" */
	struct satokens *owner;
	char *path;
	char *value;     /* NULL: none yet */
	struct err *err; /* why the last try failed; NULL */
	unsigned failures;
	struct kube_call *call;
	struct loop_timer again;
};

struct satokens {
	struct kube *kube;
	int64_t life_ms;
	struct holders holders;
};

static void tell(struct token *t)
{
	holders_tell(&t->held);
}

/* ---- Asking ---- */

static void forget_err(struct token *t)
{
	free(t->err);
	t->err = NULL;
}

static void name_failure(const struct token *t, struct err *err)
{
	if (err->kind == ERR_MISSING)
		err_set(err, ERR_MISSING, "ServiceAccount %s does not exist", t->held.key);
	else if (err->kind == ERR_DENIED)
		err_wrap(err, "a token of ServiceAccount %s (create on serviceaccounts/token)", t->held.key);
	else
		err_wrap(err, "a token of ServiceAccount %s", t->held.key);
}

static void failed(struct token *t, const struct err *err)
{
	struct err named = *err;
	bool news;

	name_failure(t, &named);
	news = !t->err || t->err->kind != named.kind || strcmp(t->err->msg, named.msg) != 0;
	loop_timer_set(&t->again, loop_backoff_ms(t->failures++, RETRY_FIRST_MS, RETRY_MOST_MS));
	if (!news)
		return;
	log_warn("tokens", "%s%s", named.msg, t->value ? "; the old one stays in use" : "");
	forget_err(t);
	t->err = mem_alloc(sizeof(*t->err));
	*t->err = named;
	if (!t->value)
		tell(t);
}

/* When 80 % of its life is over; the server may have given it another one than was asked for. */
static int64_t renew_in_ms(const struct token *t, const char *expires)
{
	int64_t until_ms = 0, life_ms = t->owner->life_ms;

	if (timestamp_parse(expires, &until_ms, NULL) == 0)
		life_ms = until_ms - timestamp_now_ms();
	if (life_ms > t->owner->life_ms)
		life_ms = t->owner->life_ms;
	life_ms = life_ms / 10 * 8;
	return life_ms > RENEW_LEAST_MS ? life_ms : RENEW_LEAST_MS;
}

static void on_answer(void *arg, const json_t *object, const struct err *err)
{
	struct token *t = arg;
	const json_t *status = json_object_get(object, "status");
	const char *value = json_str_or_empty(status, "token");
	struct err empty = { 0 };

	t->call = NULL;
	if (!err && !*value) {
		err_set(&empty, ERR_TEMPORARY, "the answer has no token");
		err = &empty;
	}
	if (err) {
		failed(t, err);
		return;
	}
	t->failures = 0;
	forget_err(t);
	loop_timer_set(&t->again, renew_in_ms(t, json_str_or_empty(status, "expirationTimestamp")));
	if (t->value && strcmp(t->value, value) == 0)
		return;
	mem_free_secret(t->value);
	t->value = mem_dup(value);
	tell(t);
}

static void ask(void *arg)
{
	struct token *t = arg;
	MEM_AUTO char *body = mem_printf("{\"apiVersion\":\"authentication.k8s.io/"
					 "v1\",\"kind\":\"TokenRequest\",\"spec\":{\"expirationSeconds\":%lld}}",
		(long long)(t->owner->life_ms / 1000));
	/* It asks and changes nothing: a standby needs tokens too. */
	struct kube_request request = { .verb = KUBE_REVIEW, .path = t->path, .body = body, .priority = KUBE_NORMAL };

	t->call = kube_call(t->owner->kube, &request, on_answer, t);
}

/* ---- Keeping ---- */

static void on_unheld(void *arg, struct held *held)
{
	struct token *t = (struct token *)held;

	(void)arg;
	kube_cancel(t->call);
	loop_timer_done(&t->again);
	mem_free_secret(t->value);
	forget_err(t);
	free(t->path);
	free(t);
}

static struct token *token_get(struct satokens *s, const char *namespace_, const char *service_account)
{
	MEM_AUTO char *key = mem_printf("%s/%s", namespace_, service_account);
	struct token *t = (struct token *)holders_find(&s->holders, key);
	char escaped[NAME_MAX_BYTES];

	if (t)
		return t;
	if (!kube_escape(service_account, escaped, sizeof(escaped)))
		return NULL;
	t = mem_zalloc(sizeof(*t));
	t->owner = s;
	t->path = mem_printf("/api/v1/namespaces/%s/serviceaccounts/%s/token", namespace_, escaped);
	loop_timer_init(&t->again, kube_loop(s->kube), ask, t);
	holders_add(&s->holders, &t->held, key);
	ask(t);
	return t;
}

enum reference_state satokens_get(struct satokens *s, struct object *owner, const char *namespace_,
	const char *service_account, const char **token, struct err *err)
{
	struct token *t = *service_account && *namespace_ && !strchr(service_account, '/') && *service_account != '.'
		? token_get(s, namespace_, service_account)
		: NULL;

	if (!t) {
		err_set(err, ERR_MISSING, "\"%.253s\" is no name of a ServiceAccount", service_account);
		return REFERENCE_MISSING;
	}
	holdings_take(owner, &t->held);
	*token = t->value;
	if (t->value)
		return REFERENCE_FOUND;
	if (!t->err) {
		err_set(err, ERR_WAITING, "the token of ServiceAccount %s is not read yet", t->held.key);
		return REFERENCE_UNREAD;
	}
	if (err)
		*err = *t->err;
	if (t->err->kind == ERR_MISSING)
		return REFERENCE_MISSING;
	return t->err->kind == ERR_TEMPORARY ? REFERENCE_UNREAD : REFERENCE_DENIED;
}

struct satokens *satokens_new(struct kube *kube, int64_t life_ms)
{
	struct satokens *s = mem_zalloc(sizeof(*s));

	s->kube = kube;
	s->life_ms = life_ms;
	holders_init(&s->holders, on_unheld, s);
	return s;
}

void satokens_free(struct satokens *s)
{
	if (!s)
		return;
	holders_done(&s->holders);
	free(s);
}

void satokens_listen(struct satokens *s, object_fn fn, void *arg)
{
	holders_listen(&s->holders, fn, arg);
}
