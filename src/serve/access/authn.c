/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/authn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "serve/access/verdicts.h"

#define VERIFY_AGAIN_MS 60000 /* after this time an expired certificate of an open connection is no longer trusted */
#define TOKEN_MAX       16384
#define MEMO_MAX        4096 /* longer Authorization headers are not cached with the connection */
#define KEEP_MS         10000
#define MAX_ENTRIES     1024
#define MAX_ASKING      64 /* limits what a flood of made-up tokens takes of the API server */

struct authn {
	struct loop *loop;
	const struct frontproxy *frontproxy;
	struct verdicts *verdicts; /* on tokens */
};

struct authn_wait {
	struct httpd_request *request;
	struct verdicts_wait *review;
	authn_fn fn;
	void *arg;
};

/* What a connection has proved; kept with it. */
struct peer {
	unsigned version; /* of the front proxy's ConfigMap when the certificate was verified; 0: never */
	int64_t verified_at_ms;
	bool trusted;   /* the certificate is the front proxy's */
	char *distrust; /* the reason if not; NULL */
	struct frontproxy_memo proxied;
	char *authorization; /* the last header that was accepted; secret; NULL */
	size_t authorization_len;
	struct requester *user; /* its owner */
	int64_t user_until_ms;
};

static void forget_token(struct peer *p)
{
	mem_free_secret(p->authorization);
	requester_unref(p->user);
	p->authorization = NULL;
	p->user = NULL;
}

static void peer_free(void *ptr)
{
	struct peer *p = ptr;

	forget_token(p);
	frontproxy_forget(&p->proxied);
	free(p->distrust);
	free(p);
}

static struct peer *peer_of(struct httpd_request *r)
{
	struct peer *p = httpd_connection_data(r);

	if (!p) {
		p = mem_zalloc(sizeof(*p));
		httpd_set_connection_data(r, p, peer_free);
	}
	return p;
}

/* ---- By certificate ---- */

static void verify(struct authn *a, struct peer *p, struct httpd_request *r)
{
	struct err err = { 0 };

	p->trusted = frontproxy_verify(a->frontproxy, httpd_tls(r), &err) == 0;
	p->version = frontproxy_version(a->frontproxy);
	p->verified_at_ms = loop_now_ms(a->loop);
	free(p->distrust);
	p->distrust = p->trusted ? NULL : mem_dup(err.msg);
	httpd_set_first(r, p->trusted);
}

/* Another certificate is not an error by itself: the token may be good. */
static bool is_front_proxy(struct authn *a, struct peer *p, struct httpd_request *r)
{
	SSL *tls = httpd_tls(r);

	if (!tls || !SSL_get0_peer_certificate(tls))
		return false;
	if (p->version != frontproxy_version(a->frontproxy) ||
		loop_now_ms(a->loop) - p->verified_at_ms > VERIFY_AGAIN_MS)
		verify(a, p, r);
	return p->trusted;
}

/* ---- By token ---- */

/*
 * The token of "Bearer <token>"; false if there is none. The copy (of TOKEN_MAX) is the caller's to
 * wipe.
 */
static bool token_of(const char *authorization, char *out)
{
	size_t len;

	if (!authorization || strncasecmp(authorization, "bearer ", 7))
		return false;
	authorization += 7;
	authorization += strspn(authorization, " ");
	len = strcspn(authorization, " ");
	if (!len || len >= TOKEN_MAX)
		return false;
	memcpy(out, authorization, len);
	out[len] = '\0';
	return true;
}

/* Verdicts are kept under a keyed fingerprint: no token is kept. */
static size_t token_key(const char *token, char key[FINGERPRINT_TEXT])
{
	return strlen(fingerprint_of(&token, 1, key));
}

static bool memo_holds(const struct authn *a, const struct peer *p, const char *authorization)
{
	return p->user && authorization && strlen(authorization) == p->authorization_len &&
		!CRYPTO_memcmp(authorization, p->authorization, p->authorization_len) &&
		loop_now_ms(a->loop) < p->user_until_ms;
}

static void memo_take(struct peer *p, const char *authorization, const struct verdict *verdict)
{
	forget_token(p);
	p->authorization_len = strlen(authorization);
	if (p->authorization_len > MEMO_MAX)
		return;
	p->authorization = mem_dup(authorization);
	p->user = requester_ref(verdict->who);
	p->user_until_ms = verdict->until_ms;
}

static int refuse_token(struct err *err)
{
	return err_set(err, ERR_DENIED, "the API server rejects the bearer token (TokenReview)");
}

static int refuse_nobody(const struct peer *p, const struct err *proxy, struct err *err)
{
	if (proxy->kind != ERR_NONE)
		return err_set(err, ERR_DENIED, "%s, and there is no bearer token", proxy->msg);
	if (p->distrust)
		return err_set(err, ERR_DENIED, "%s, and there is no bearer token", p->distrust);
	return err_set(err, ERR_DENIED, "neither a front proxy's client certificate nor a bearer token");
}

static enum authn_found peek_token(struct authn *a, struct peer *p, const char *authorization, const char *token,
	struct requester **user, struct err *err)
{
	char key[FINGERPRINT_TEXT];
	const struct verdict *verdict = verdicts_peek(a->verdicts, key, token_key(token, key));

	if (!verdict)
		return AUTHN_UNKNOWN;
	if (!verdict->yes) {
		refuse_token(err);
		return AUTHN_REFUSED;
	}
	memo_take(p, authorization, verdict);
	*user = requester_ref(verdict->who);
	return AUTHN_KNOWN;
}

/* ---- Both ---- */

enum authn_found authn_peek(struct authn *a, struct httpd_request *r, struct requester **user, struct err *err)
{
	struct peer *p = peer_of(r);
	struct err proxy = { 0 };
	const char *authorization;
	char token[TOKEN_MAX];
	enum authn_found found;

	if (is_front_proxy(a, p, r)) {
		*user = frontproxy_user(a->frontproxy, r, &p->proxied, &proxy);
		if (*user)
			return AUTHN_KNOWN;
	}
	authorization = httpd_header(r, "Authorization");
	if (memo_holds(a, p, authorization)) {
		*user = requester_ref(p->user);
		return AUTHN_KNOWN;
	}
	if (!token_of(authorization, token)) {
		refuse_nobody(p, &proxy, err);
		return AUTHN_REFUSED;
	}
	found = peek_token(a, p, authorization, token, user, err);
	mem_wipe(token, strlen(token));
	return found;
}

static void on_verdict(void *arg, const struct verdict *verdict, const struct err *err)
{
	struct authn_wait *w = arg;
	struct authn_wait done = *w;
	struct err refusal;

	free(w);
	if (verdict && verdict->yes) {
		memo_take(peer_of(done.request), httpd_header(done.request, "Authorization"), verdict);
	} else if (verdict) {
		refuse_token(&refusal);
		err = &refusal;
	}
	done.fn(done.arg, err ? NULL : verdict->who, err);
}

static void on_review(void *arg, const struct review_user *user, const struct err *err)
{
	if (err)
		verdicts_fail(arg, err);
	else
		verdicts_settle(arg, user != NULL, user, NULL);
}

static struct kube_call *start(struct kube *kube, const void *token, struct verdicts_entry *entry)
{
	return review_token(kube, token, on_review, entry);
}

struct authn_wait *authn_ask(struct authn *a, struct httpd_request *r, authn_fn fn, void *arg)
{
	struct authn_wait *w = mem_zalloc(sizeof(*w));
	char token[TOKEN_MAX] = "", key[FINGERPRINT_TEXT];

	w->request = r;
	w->fn = fn;
	w->arg = arg;
	token_of(httpd_header(r, "Authorization"), token);
	w->review = verdicts_ask(a->verdicts, key, token_key(token, key), token, on_verdict, w);
	mem_wipe(token, strlen(token));
	return w;
}

void authn_cancel(struct authn_wait *w)
{
	if (!w)
		return;
	verdicts_cancel(w->review);
	free(w);
}

struct authn *authn_new(struct kube *kube, const struct frontproxy *frontproxy)
{
	static const struct verdicts_config config = {
		.keep_ms = KEEP_MS,
		.max_entries = MAX_ENTRIES,
		.max_asking = MAX_ASKING,
		.start = start,
		.failing = "the API server could not be asked whose token this is (TokenReview)",
	};
	struct authn *a = mem_zalloc(sizeof(*a));

	a->loop = kube_loop(kube);
	a->frontproxy = frontproxy;
	a->verdicts = verdicts_new(kube, &config);
	return a;
}

void authn_free(struct authn *a)
{
	if (!a)
		return;
	verdicts_free(a->verdicts);
	free(a);
}
