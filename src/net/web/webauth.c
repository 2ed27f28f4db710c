/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webauth.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/identity/awssts.h"

static struct identity *identity_of(const struct webauth *a)
{
	return webaccess_identity(a->exchange.options.access);
}

static void forget_credential(struct webauth *a)
{
	credential_done(&a->credential);
	a->exchange.options.credential = NULL;
}

static void take(struct webauth *a, const struct credential *credential)
{
	credential_copy(&a->credential, credential);
	a->exchange.options.credential = &a->credential;
	if (a->needs_project && !a->knows_project)
		a->project = mem_dup(credential->project);
	a->knows_project = true;
}

static void on_credential(void *arg, const struct credential *credential, const struct err *err)
{
	struct webauth *a = arg;

	a->wait = NULL;
	if (!err)
		take(a, credential);
	exchange_resume(&a->exchange, err);
}

/* EXCHANGE_SEND: it is there; EXCHANGE_WAIT: it is being fetched. */
static enum exchange_verdict get_credential(struct webauth *a)
{
	struct identity *i = identity_of(a);
	const char *namespace_ = a->exchange.options.namespace_;
	const struct credential *cached = webtoken_cached(a->tokens, i, namespace_);

	if (cached)
		take(a, cached);
	else
		a->wait = webtoken_ask(a->tokens, i, namespace_, on_credential, a);
	return cached ? EXCHANGE_SEND : EXCHANGE_WAIT;
}

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct webauth *a = arg;
	enum exchange_verdict verdict;

	if (a->needs_project && !a->knows_project && get_credential(a) == EXCHANGE_WAIT)
		return EXCHANGE_WAIT;
	a->renewed = false;
	verdict = a->kind->next(a->arg, out, err);
	return verdict == EXCHANGE_SEND && identity_of(a) && !a->exchange.options.credential ? get_credential(a)
											     : verdict;
}

/* Whether the server refuses the credential as expired or unknown, so that a new one may work. */
static bool refuses_credential(const struct webauth *a, const struct webresponse *r)
{
	if (!r->credential || a->renewed || identity_is_fixed(identity_of(a)))
		return false;
	if (!webaccess_config(a->exchange.options.access)->service)
		return r->status == 401;
	return (r->status == 400 || r->status == 401 || r->status == 403) && awssts_is_expired(r->body, r->len);
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct webauth *a = arg;
	enum exchange_verdict verdict;

	if (refuses_credential(a, response) && webtoken_reject(a->tokens, identity_of(a), response->credential)) {
		forget_credential(a);
		a->renewed = true;
		return get_credential(a);
	}
	verdict = a->kind->read(a->arg, response, err);
	if (verdict == EXCHANGE_NEXT)
		forget_credential(a); /* the next request takes the newest */
	return verdict;
}

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct webauth *a = arg;

	return a->kind->piece(a->arg, bytes, len, kept, err);
}

static void on_late(void *arg, struct err *err)
{
	struct webauth *a = arg;
	const char *what = identity_label(identity_of(a));
	char where[256];

	webtoken_cancel(a->wait);
	a->wait = NULL;
	if (a->exchange.request.url)
		err_set(err, ERR_TEMPORARY, "%s: no %s for it within %lld ms",
			httpurl_origin(a->exchange.request.url, where, sizeof(where)), what,
			(long long)a->exchange.span_ms);
	else
		err_set(err, ERR_TEMPORARY, "no %s in time, which the project comes with", what);
}

static void on_end(void *arg, const struct err *err)
{
	struct webauth *a = arg;

	webauth_done(a);
	a->kind->end(a->arg, err);
}

static const struct exchange_kind authorized = { .next = on_next,
	.read = on_read,
	.piece = on_piece,
	.late = on_late,
	.end = on_end };

void webauth_start(struct webauth *a, const struct exchange_kind *kind, void *arg)
{
	a->kind = kind;
	a->arg = arg;
	a->knows_project = false;
	exchange_start(&a->exchange, &authorized, a);
}

void webauth_done(struct webauth *a)
{
	exchange_done(&a->exchange);
	webtoken_cancel(a->wait);
	a->wait = NULL;
	forget_credential(a);
	mem_free_ptr(&a->project);
}
