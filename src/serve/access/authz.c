/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/authz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/access/verdicts.h"

#define KEEP_MS     10000
#define MAX_ENTRIES 8192
#define MAX_ASKING  256
#define KEY_MAX     2048

struct authz {
	struct verdicts *verdicts;
};

struct authz_wait {
	struct verdicts_wait *review;
	authz_fn fn;
	void *arg;
	char *forbidden; /* the text of a denial; owned */
};

struct access_question {
	const struct requester *who;
	const struct review_access *access;
};

/* ---- The key ---- */

/*
 * The user comes first: no one can predict its keyed fingerprint and so choose keys that collide.
 */

struct access_key {
	char bytes[KEY_MAX];
	size_t len;
};

static bool key_put(struct access_key *k, const char *text)
{
	size_t len = text ? strlen(text) + 1 : 1;

	if (len > sizeof(k->bytes) - k->len)
		return false;
	memcpy(k->bytes + k->len, text ? text : "", len); /* with its NUL, which no part can contain */
	k->len += len;
	return true;
}

static bool make_key(struct access_key *k, const struct requester *who, const struct review_access *a)
{
	const char *const parts[] = { who->fingerprint, a->verb, a->path, a->namespace_, a->resource, a->group,
		a->version, a->name };

	k->len = 0;
	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (!key_put(k, parts[i]))
			return false;
	return true;
}

/* ---- Texts, as in k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go ---- */

static char *forbidden_text(const struct requester *who, const struct review_access *a)
{
	MEM_AUTO char *where = NULL, *name = NULL;

	if (a->path)
		return mem_printf("forbidden: User \"%s\" cannot %s path \"%s\"", who->user.name, a->verb, a->path);
	if (a->namespace_)
		where = mem_printf("in the namespace \"%s\"", a->namespace_);
	if (a->name)
		name = mem_printf(" \"%s\"", a->name);
	return mem_printf("%s.%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s",
		a->resource, a->group, name ? name : "", who->user.name, a->verb, a->resource, a->group,
		where ? where : "at the cluster scope");
}

static void set_denied(struct err *err, const char *forbidden, const char *why)
{
	err_set(err, ERR_DENIED, "%s%s%s", forbidden, why && *why ? ": " : "", why ? why : "");
}

/* ---- Asking ---- */

static void on_review(void *arg, bool allowed, const char *reason, const struct err *err)
{
	if (err)
		verdicts_fail(arg, err);
	else
		verdicts_settle(arg, allowed, NULL, allowed ? NULL : reason);
}

static struct kube_call *start(struct kube *kube, const void *question, struct verdicts_entry *entry)
{
	const struct access_question *q = question;

	return review_access(kube, &q->who->user, q->access, on_review, entry);
}

enum authz_found authz_peek(struct authz *a, const struct requester *who, const struct review_access *access,
	struct err *err)
{
	const struct verdict *verdict;
	struct access_key key;
	char *forbidden;

	if (who->master)
		return AUTHZ_ALLOWED;
	if (!make_key(&key, who, access)) {
		err_set(err, ERR_DENIED, "forbidden: the names in the request are too long");
		return AUTHZ_DENIED;
	}
	verdict = verdicts_peek(a->verdicts, key.bytes, key.len);
	if (!verdict)
		return AUTHZ_UNKNOWN;
	if (verdict->yes)
		return AUTHZ_ALLOWED;
	forbidden = forbidden_text(who, access);
	set_denied(err, forbidden, verdict->why);
	free(forbidden);
	return AUTHZ_DENIED;
}

static void wait_free(struct authz_wait *w)
{
	free(w->forbidden);
	free(w);
}

static void on_verdict(void *arg, const struct verdict *verdict, const struct err *err)
{
	struct authz_wait *w = arg;
	authz_fn fn = w->fn;
	void *fn_arg = w->arg;
	struct err denied;

	if (verdict && !verdict->yes) {
		set_denied(&denied, w->forbidden, verdict->why);
		err = &denied;
	}
	wait_free(w);
	fn(fn_arg, err);
}

struct authz_wait *authz_ask(struct authz *a, struct requester *who, const struct review_access *access, authz_fn fn,
	void *arg)
{
	struct access_question question = { who, access };
	struct authz_wait *w = mem_zalloc(sizeof(*w));
	struct access_key key;

	make_key(&key, who, access); /* authz_peek refused one that is too long */
	w->fn = fn;
	w->arg = arg;
	w->forbidden = forbidden_text(who, access);
	w->review = verdicts_ask(a->verdicts, key.bytes, key.len, &question, on_verdict, w);
	return w;
}

void authz_cancel(struct authz_wait *w)
{
	if (!w)
		return;
	verdicts_cancel(w->review);
	wait_free(w);
}

struct authz *authz_new(struct kube *kube)
{
	static const struct verdicts_config config = {
		.keep_ms = KEEP_MS,
		.max_entries = MAX_ENTRIES,
		.max_asking = MAX_ASKING,
		.start = start,
		.failing = "the API server could not be asked whether this is allowed (SubjectAccessReview)",
	};
	struct authz *a = mem_zalloc(sizeof(*a));

	a->verdicts = verdicts_new(kube, &config);
	return a;
}

void authz_free(struct authz *a)
{
	if (!a)
		return;
	verdicts_free(a->verdicts);
	free(a);
}
