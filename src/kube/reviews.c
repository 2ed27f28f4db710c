/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/reviews.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/textlist.h"

#define REVIEW_DEADLINE_MS 5000
#define REVIEW_BODY_MAX    (1u << 20) /* the content comes from a request's header, which is smaller */

struct review_ask {
	review_token_fn on_token; /* one of the two */
	review_access_fn on_access;
	void *arg;
};

/* Wipes the body. A body that did not fit is truncated, and the API server answers 400. */
static struct kube_call *review(struct kube *k, const char *path, struct buf *body, kube_fn fn, struct review_ask asked)
{
	struct kube_request request = { .verb = KUBE_REVIEW,
		.path = path,
		.body = buf_text(body),
		.deadline_ms = REVIEW_DEADLINE_MS,
		.priority = KUBE_NORMAL };
	struct review_ask *ask = mem_alloc(sizeof *ask);
	struct kube_call *call;

	*ask = asked;
	call = kube_call_owning(k, &request, fn, ask, free);
	buf_done_secret(body);
	return call;
}

/* ---- Tokens ---- */

void review_user_done(struct review_user *u)
{
	size_t values = u->extra_count;

	free(u->name);
	free(u->uid);
	textlist_done(&u->groups, &u->group_count);
	textlist_done(&u->extra_keys, &u->extra_count);
	textlist_done(&u->extra_values, &values);
	*u = (struct review_user){ .name = NULL };
}

/*
 * A truncated user could be allowed what the whole one is denied, so an excess is an error; so is
 * text with a NUL byte.
 */
static int too_many(const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID, "TokenReview: the user has more than %d %s", REVIEW_GROUPS_MAX, what);
}

static const char *plain_text(const json_t *value, const char *what, struct err *err)
{
	const char *text = json_plain_text(value);

	if (!text)
		err_set(err, ERR_INVALID, "TokenReview: the user's %s is not a plain text", what);
	return text;
}

static int read_groups(const json_t *groups, struct review_user *out, struct err *err)
{
	size_t index;
	json_t *group;

	if (json_array_size(groups) > REVIEW_GROUPS_MAX)
		return too_many("groups", err);
	json_array_foreach(groups, index, group)
	{
		const char *text = plain_text(group, "group", err);

		if (!text)
			return -1;
		textlist_add(&out->groups, &out->group_count, text);
	}
	return 0;
}

static int read_extra_values(const char *key, const json_t *values, struct review_user *out, struct err *err)
{
	size_t index;
	json_t *value;

	json_array_foreach(values, index, value)
	{
		const char *text = plain_text(value, "extra value", err);
		size_t count = out->extra_count;

		if (count == REVIEW_GROUPS_MAX)
			return too_many("extra values", err);
		if (!text)
			return -1;
		textlist_add(&out->extra_keys, &count, key);
		textlist_add(&out->extra_values, &out->extra_count, text);
	}
	return 0;
}

static int read_user(const json_t *user, struct review_user *out, struct err *err)
{
	const json_t *extra = json_object_get(user, "extra"), *given = json_object_get(user, "uid");
	const char *name = plain_text(json_object_get(user, "username"), "name", err),
		   *uid = given ? plain_text(given, "uid", name ? err : NULL) : "";

	if (!name || !uid)
		return -1;
	if (!*name)
		return err_set(err, ERR_INVALID, "TokenReview: the answer names no user");
	out->name = mem_dup(name);
	out->uid = mem_dup(uid);
	if (read_groups(json_object_get(user, "groups"), out, err) < 0)
		return -1;
	for (void *i = json_object_iter((json_t *)(uintptr_t)extra); i;
		i = json_object_iter_next((json_t *)(uintptr_t)extra, i))
		if (read_extra_values(json_object_iter_key(i), json_object_iter_value(i), out, err) < 0)
			return -1;
	return 0;
}

static void on_token_reviewed(void *arg, const json_t *object, const struct err *err)
{
	const struct review_ask *ask = arg;
	const json_t *status = json_object_get(object, "status");
	struct review_user user = { .name = NULL };
	struct err failed;

	if (err) {
		ask->on_token(ask->arg, NULL, err);
		return;
	}
	/*
	 * A rejected token has status.error, too; only the flag counts (k8s.io/apiserver: token
	 * webhook).
	 */
	if (!json_is_true(json_object_get(status, "authenticated")))
		ask->on_token(ask->arg, NULL, NULL);
	else if (read_user(json_object_get(status, "user"), &user, &failed) < 0)
		ask->on_token(ask->arg, NULL, &failed);
	else
		ask->on_token(ask->arg, &user, NULL);
	review_user_done(&user);
}

struct kube_call *review_token(struct kube *k, const char *token, review_token_fn fn, void *arg)
{
	struct buf body = BUF_INIT(REVIEW_BODY_MAX);

	buf_puts(&body, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":");
	buf_put_json(&body, token);
	buf_puts(&body, "}}");
	return review(k, "/apis/authentication.k8s.io/v1/tokenreviews", &body, on_token_reviewed,
		(struct review_ask){ .on_token = fn, .arg = arg });
}

/* ---- Permissions ---- */

static void on_access_reviewed(void *arg, const json_t *object, const struct err *err)
{
	const struct review_ask *ask = arg;
	const json_t *status = json_object_get(object, "status");
	const char *reason = json_str_or_empty(status, "reason");
	bool allowed = json_is_true(json_object_get(status, "allowed")) &&
		!json_is_true(json_object_get(status, "denied"));

	if (err) {
		ask->on_access(ask->arg, false, "", err);
		return;
	}
	if (!*reason && !allowed)
		reason = json_str_or_empty(status, "evaluationError");
	ask->on_access(ask->arg, allowed, reason, NULL);
}

static bool key_came_before(const struct review_user *user, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(user->extra_keys[i], user->extra_keys[index]) == 0)
			return true;
	return false;
}

/* Groups the pairs into lists by key. */
static void put_extra(struct buf *b, const struct review_user *user)
{
	const char *between = "";

	buf_puts(b, ",\"extra\":{");
	for (size_t i = 0; i < user->extra_count; i++) {
		if (key_came_before(user, i))
			continue;
		buf_puts(b, between);
		buf_put_json(b, user->extra_keys[i]);
		buf_puts(b, ":[");
		buf_put_json(b, user->extra_values[i]);
		for (size_t n = i + 1; n < user->extra_count; n++) {
			if (strcmp(user->extra_keys[n], user->extra_keys[i]) != 0)
				continue;
			buf_puts(b, ",");
			buf_put_json(b, user->extra_values[n]);
		}
		buf_puts(b, "]");
		between = ",";
	}
	buf_puts(b, "}");
}

/*
 * Bytes that are not UTF-8 become U+FFFD, as in Go's encoder, which other aggregated servers use.
 */
struct kube_call *review_access(struct kube *k, const struct review_user *user, const struct review_access *access,
	review_access_fn fn, void *arg)
{
	struct buf body = BUF_INIT(REVIEW_BODY_MAX), *b = &body;

	buf_puts(b, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":");
	buf_put_json(b, user->name ? user->name : "");
	buf_put_json_field(b, "uid", user->uid);
	buf_puts(b, ",\"groups\":[");
	for (size_t i = 0; i < user->group_count; i++) {
		buf_puts(b, i ? "," : "");
		buf_put_json(b, user->groups[i]);
	}
	buf_puts(b, "]");
	put_extra(b, user);
	buf_puts(b, access->resource ? ",\"resourceAttributes\":{" : ",\"nonResourceAttributes\":{");
	buf_put_json_field(b, "verb", access->verb);
	if (access->resource) {
		buf_put_json_field(b, "group", access->group);
		buf_put_json_field(b, "version", access->version);
		buf_put_json_field(b, "resource", access->resource);
		buf_put_json_field(b, "namespace", access->namespace_);
		buf_put_json_field(b, "name", access->name);
	} else {
		buf_put_json_field(b, "path", access->path);
	}
	buf_puts(b, "}}}");
	return review(k, "/apis/authorization.k8s.io/v1/subjectaccessreviews", b, on_access_reviewed,
		(struct review_ask){ .on_access = fn, .arg = arg });
}
