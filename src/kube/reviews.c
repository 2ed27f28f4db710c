/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/reviews.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

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
	free(u->name);
	free(u->uid);
	for (size_t i = 0; i < u->group_count; i++)
		free(u->groups[i]);
	free(u->groups);
	for (size_t i = 0; i < u->extra_count; i++) {
		free(u->extra_keys[i]);
		free(u->extra_values[i]);
	}
	free(u->extra_keys);
	free(u->extra_values);
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

static int read_text(const json_t *value, const char *what, char **out, struct err *err)
{
	const char *text = json_plain_text(value);

	if (!text)
		return err_set(err, ERR_INVALID, "TokenReview: the user's %s is not a plain text", what);
	*out = mem_dup(text);
	return 0;
}

static int read_groups(const json_t *groups, struct review_user *out, struct err *err)
{
	size_t index;
	json_t *group;

	if (json_array_size(groups) > REVIEW_GROUPS_MAX)
		return too_many("groups", err);
	out->groups = mem_array(json_array_size(groups) + 1, sizeof *out->groups);
	json_array_foreach(groups, index, group)
	{
		if (read_text(group, "group", &out->groups[out->group_count], err) < 0)
			return -1;
		out->group_count++;
	}
	return 0;
}

static int read_extra_values(const char *key, const json_t *values, struct review_user *out, struct err *err)
{
	size_t index;
	json_t *value;

	json_array_foreach(values, index, value)
	{
		char *text = NULL;

		if (out->extra_count == REVIEW_GROUPS_MAX)
			return too_many("extra values", err);
		if (read_text(value, "extra value", &text, err) < 0)
			return -1;
		out->extra_keys = mem_resize(out->extra_keys, out->extra_count + 1, sizeof *out->extra_keys);
		out->extra_values = mem_resize(out->extra_values, out->extra_count + 1, sizeof *out->extra_values);
		out->extra_keys[out->extra_count] = mem_dup(key);
		out->extra_values[out->extra_count++] = text;
	}
	return 0;
}

static int read_user(const json_t *user, struct review_user *out, struct err *err)
{
	const json_t *extra = json_object_get(user, "extra"), *uid = json_object_get(user, "uid");

	if (read_text(json_object_get(user, "username"), "name", &out->name, err) < 0 ||
		(uid && read_text(uid, "uid", &out->uid, err) < 0))
		return -1;
	if (!*out->name)
		return err_set(err, ERR_INVALID, "TokenReview: the answer names no user");
	if (!out->uid)
		out->uid = mem_dup("");
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

/* Appends ,"name":"value" if there is a value. */
static void put_text(struct buf *b, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(b, "%s\"%s\":", b->data[b->len - 1] == '{' ? "" : ",", name);
	buf_put_json(b, value);
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
	put_text(b, "uid", user->uid);
	buf_puts(b, ",\"groups\":[");
	for (size_t i = 0; i < user->group_count; i++) {
		buf_puts(b, i ? "," : "");
		buf_put_json(b, user->groups[i]);
	}
	buf_puts(b, "]");
	put_extra(b, user);
	buf_puts(b, access->resource ? ",\"resourceAttributes\":{" : ",\"nonResourceAttributes\":{");
	put_text(b, "verb", access->verb);
	if (access->resource) {
		put_text(b, "group", access->group);
		put_text(b, "version", access->version);
		put_text(b, "resource", access->resource);
		put_text(b, "namespace", access->namespace_);
		put_text(b, "name", access->name);
	} else {
		put_text(b, "path", access->path);
	}
	buf_puts(b, "}}}");
	return review(k, "/apis/authorization.k8s.io/v1/subjectaccessreviews", b, on_access_reviewed,
		(struct review_ask){ .on_access = fn, .arg = arg });
}
