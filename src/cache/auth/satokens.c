/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/satokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cache/auth/fetched.h"
#include "kube/denial.h"

#define RENEW_LEAST_MS 10000
#define BODY_MAX_BYTES 4096
#define NAME_MAX_BYTES (3 * 253 + 1)

struct satoken {
	struct fetched fetched; /* key: "shop/worker", with an audience "shop/worker for vault" */
	struct satokens *owner;
	char *account;  /* "shop/worker" */
	char *audience; /* NULL */
	char *path;
	struct kube_call *call;
	struct denial denial;
};

struct satokens {
	struct kube *kube;
	int64_t life_ms;
	struct holders holders;
};

/* ---- Requesting ---- */

/* After 80 % of its lifetime, which the server may have changed. */
static int64_t renew_in_ms(const struct satoken *t, const char *expires)
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
	struct satoken *t = arg;
	const json_t *status = json_object_get(object, "status");
	const char *value = json_str_or_empty(status, "token");
	struct err named = { 0 };

	t->call = NULL;
	if (!err && *value) {
		if (fetched_take(&t->fetched, value, renew_in_ms(t, json_str_or_empty(status, "expirationTimestamp"))))
			holders_notify(&t->fetched.held);
		return;
	}
	if (denial_may_pass(&t->denial, err, loop_now_ms(kube_loop(t->owner->kube)))) {
		fetched_again(&t->fetched);
		return;
	}
	if (err)
		named = *err;
	else
		err_set(&named, ERR_TEMPORARY, "the answer has no token");
	if (named.kind == ERR_MISSING)
		err_set(&named, ERR_MISSING, "ServiceAccount %s does not exist", t->account);
	else
		err_wrap(&named, "a token of ServiceAccount %s%s", t->account,
			named.kind == ERR_DENIED ? " (create on serviceaccounts/token)" : "");
	fetched_failed(&t->fetched, &named, "tokens", "the old one stays in use");
}

static void ask(void *arg)
{
	struct satoken *t = arg;
	struct buf body = BUF_INIT(BODY_MAX_BYTES);
	/* Sent by a standby, too, which needs tokens; it changes nothing. */
	struct kube_request request = { .verb = KUBE_REVIEW, .path = t->path, .priority = KUBE_NORMAL };

	buf_printf(&body,
		"{\"apiVersion\":\"authentication.k8s.io/"
		"v1\",\"kind\":\"TokenRequest\",\"spec\":{\"expirationSeconds\":%lld",
		(long long)(t->owner->life_ms / 1000));
	if (t->audience) {
		buf_puts(&body, ",\"audiences\":[");
		buf_put_json(&body, t->audience);
		buf_puts(&body, "]");
	}
	buf_puts(&body, "}}");
	request.body = buf_text(&body);
	t->call = kube_call(t->owner->kube, &request, on_answer, t);
	buf_done(&body);
}

/* ---- Keeping ---- */

static void on_unheld(void *arg, struct held *held)
{
	struct satoken *t = (struct satoken *)held;

	(void)arg;
	kube_cancel(t->call);
	fetched_done(&t->fetched);
	free(t->path);
	free(t->account);
	free(t->audience);
	free(t);
}

static struct satoken *token_get(struct satokens *s, const char *namespace_, const char *service_account,
	const char *audience)
{
	MEM_AUTO char *key = mem_printf("%s/%s%s%s", namespace_, service_account, audience ? " for " : "",
		audience ? audience : "");
	struct satoken *t = (struct satoken *)holders_find(&s->holders, key);
	char escaped[NAME_MAX_BYTES];

	if (t)
		return t;
	if (!kube_escape(service_account, escaped, sizeof(escaped)))
		return NULL;
	t = mem_zalloc(sizeof(*t));
	t->owner = s;
	t->account = mem_printf("%s/%s", namespace_, service_account);
	t->audience = mem_dup(audience);
	t->path = mem_printf("/api/v1/namespaces/%s/serviceaccounts/%s/token", namespace_, escaped);
	loop_timer_init(&t->fetched.again, kube_loop(s->kube), ask, t);
	holders_add(&s->holders, &t->fetched.held, key);
	ask(t);
	return t;
}

enum reference_state satokens_get(struct satokens *s, struct object *owner, const char *namespace_,
	const char *service_account, const char *audience, const char **token, struct err *err)
{
	struct satoken *t = *service_account && *namespace_ && !strchr(service_account, '/') && *service_account != '.'
		? token_get(s, namespace_, service_account, audience)
		: NULL;
	enum reference_state state;

	if (!t) {
		err_set(err, ERR_MISSING, "\"%.253s\" is not a valid ServiceAccount name", service_account);
		return REFERENCE_MISSING;
	}
	state = fetched_get(&t->fetched, owner, token, err);
	if (state == REFERENCE_UNREAD && !t->fetched.err)
		err_set(err, ERR_WAITING, "the token of ServiceAccount %s is not read yet", t->account);
	return state;
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
