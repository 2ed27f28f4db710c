/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "fakeapi.h"
#include "kube/reviews.h"

struct fixture {
	struct loop *loop;
	struct fakeapi *api;
	struct kube_config config;
	struct kube *kube;
	bool done;
	char *told; /* the callback's result, as text */
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(sizeof *f);

	f->loop = loop_new(NULL);
	f->api = fakeapi_new(f->loop);
	f->config = fakeapi_config(f->api, "own");
	f->kube = kube_new(f->loop, &f->config, NULL, NULL);
	assert_non_null(f->kube);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kube_free(f->kube);
	fakeapi_free(f->api);
	loop_free(f->loop);
	kube_config_done(&f->config);
	free(f->told);
	free(f);
	return 0;
}

static void take_told(struct fixture *f, struct buf *text)
{
	free(f->told);
	f->told = buf_take(text);
	f->done = true;
}

static void on_token(void *arg, const struct review_user *user, const struct err *err)
{
	struct buf b = BUF_INIT(65536);

	if (err)
		buf_printf(&b, "%s: %s", err_kind_name(err->kind), err->msg);
	else if (!user)
		buf_puts(&b, "nobody");
	else
		buf_printf(&b, "%s %s", user->name, user->uid);
	for (size_t i = 0; user && i < user->group_count; i++)
		buf_printf(&b, " g=%s", user->groups[i]);
	for (size_t i = 0; user && i < user->extra_count; i++)
		buf_printf(&b, " %s=%s", user->extra_keys[i], user->extra_values[i]);
	take_told(arg, &b);
}

static void on_access(void *arg, bool allowed, const char *reason, const struct err *err)
{
	struct buf b = BUF_INIT(65536);

	if (err)
		buf_printf(&b, "%s: %s", err_kind_name(err->kind), err->msg);
	else
		buf_printf(&b, "%s: %s", allowed ? "yes" : "no", reason);
	take_told(arg, &b);
}

static void tokens(void **state)
{
	static const struct {
		const char *answer, *want;
	} cases[] = {
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\",\"uid\":\"1\",\"groups\":[\"a\","
		  "\"b\"],\"extra\":{\"k\":[\"x\",\"y\"],\"l\":[]}}}}",
			"u 1 g=a g=b k=x k=y" },
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\"}}}", "u " },
		{ "{\"status\":{\"authenticated\":false,\"error\":\"expired\"}}", "nobody" },
		{ "{\"status\":{\"authenticated\":\"true\",\"user\":{\"username\":\"u\"}}}", "nobody" },
		{ "{\"status\":{}}", "nobody" },
		{ "{}", "nobody" },
		{ "[]", "nobody" },
		{ "{\"status\":{\"authenticated\":true}}",
			"invalid: TokenReview: the user's name is not a plain text" },
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"\"}}}",
			"invalid: TokenReview: the answer names no user" },
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"admin\\u0000x\"}}}",
			"invalid: TokenReview: the user's name is not a plain text" },
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\",\"groups\":[\"system:"
		  "masters\\u0000x\"]}}}",
			"invalid: TokenReview: the user's group is not a plain text" },
		{ "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\",\"groups\":[7]}}}",
			"invalid: TokenReview: the user's group is not a plain text" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fakeapi_request *r;

		f->done = false;
		review_token(f->kube, "a\"b", on_token, f);
		r = fakeapi_expect(f->api, "POST /apis/authentication.k8s.io/v1/tokenreviews");
		assert_string_equal(r->body,
			"{\"apiVersion\":\"authentication.k8s.io/"
			"v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"a\\\"b\"}}");
		assert_string_equal(r->authorization, "Bearer own");
		fakeapi_reply(r, 201, cases[i].answer);
		fakeapi_turn_until(f->api, &f->done);
		assert_string_equal(f->told, cases[i].want);
	}
}

static void failing_calls_are_reported(void **state)
{
	struct fixture *f = *state;
	const struct review_user user = { .name = NULL };
	const struct review_access access = { .verb = "get", .path = "/metrics" };

	review_token(f->kube, "t", on_token, f);
	fakeapi_reply(fakeapi_next(f->api), 403, "{\"kind\":\"Status\",\"message\":\"may not create tokenreviews\"}");
	fakeapi_turn_until(f->api, &f->done);
	assert_string_equal(f->told, "denied: may not create tokenreviews");
	f->done = false;
	review_access(f->kube, &user, &access, on_access, f);
	fakeapi_reply(fakeapi_next(f->api), 500, "{\"kind\":\"Status\",\"message\":\"oops\"}");
	fakeapi_turn_until(f->api, &f->done);
	assert_string_equal(f->told, "temporary: oops");
}

static void too_many_groups_are_refused(void **state)
{
	struct fixture *f = *state;
	struct buf b = BUF_INIT(65536);

	buf_puts(&b, "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\",\"groups\":[\"g\"");
	for (int i = 0; i < REVIEW_GROUPS_MAX; i++)
		buf_puts(&b, ",\"g\"");
	buf_puts(&b, "]}}}");
	review_token(f->kube, "t", on_token, f);
	fakeapi_reply(fakeapi_next(f->api), 201, buf_text(&b));
	fakeapi_turn_until(f->api, &f->done);
	assert_non_null(strstr(f->told, "more than 256 groups"));
	buf_done(&b);
}

static char *texts[] = { (char[]){ "a" }, (char[]){ "b\"\n" }, (char[]){ "c" } };
static char *keys[] = { (char[]){ "k" }, (char[]){ "l" }, (char[]){ "k" } };

static void access_is_asked_for_in_full(void **state)
{
	static const struct {
		struct review_access access;
		const char *want;
	} cases[] = {
		{ { .verb = "get",
			  .group = "external.metrics.k8s.io",
			  .version = "v1beta1",
			  .resource = "s0-x",
			  .namespace_ = "ns",
			  .name = "n" },
			"\"resourceAttributes\":{\"verb\":\"get\",\"group\":\"external.metrics.k8s.io\",\"version\":"
			"\"v1beta1\",\"resource\":\"s0-x\",\"namespace\":\"ns\",\"name\":\"n\"}" },
		{ { .verb = "list", .resource = "pods" },
			"\"resourceAttributes\":{\"verb\":\"list\",\"resource\":\"pods\"}" },
		{ { .verb = "get", .path = "/metrics" },
			"\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/metrics\"}" },
	};
	struct fixture *f = *state;
	const struct review_user user = { .name = (char[]){ "u" },
		.uid = (char[]){ "1" },
		.groups = texts,
		.group_count = 2,
		.extra_keys = keys,
		.extra_values = texts,
		.extra_count = 3 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		MEM_AUTO char *want = mem_printf(
			"{\"apiVersion\":\"authorization.k8s.io/"
			"v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":\"u\",\"uid\":\"1\","
			"\"groups\":[\"a\",\"b\\\"\\n\"],\"extra\":{\"k\":[\"a\",\"c\"],\"l\":[\"b\\\"\\n\"]},%s}}",
			cases[i].want);
		struct fakeapi_request *r;

		f->done = false;
		review_access(f->kube, &user, &cases[i].access, on_access, f);
		r = fakeapi_expect(f->api, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews");
		assert_string_equal(r->body, want);
		fakeapi_reply(r, 201, "{\"status\":{\"allowed\":true,\"reason\":\"by role\"}}");
		fakeapi_turn_until(f->api, &f->done);
		assert_string_equal(f->told, "yes: by role");
	}
}

static void verdicts(void **state)
{
	static const struct {
		const char *answer, *want;
	} cases[] = {
		{ "{\"status\":{\"allowed\":false,\"reason\":\"no role\"}}", "no: no role" },
		{ "{\"status\":{\"allowed\":true,\"denied\":true,\"reason\":\"by policy\"}}", "no: by policy" },
		{ "{\"status\":{\"allowed\":false,\"evaluationError\":\"oops\"}}", "no: oops" },
		{ "{\"status\":{\"allowed\":1}}", "no: " },
		{ "{}", "no: " },
		{ "7", "no: " },
	};
	struct fixture *f = *state;
	const struct review_user user = { .name = (char[]){ "u" } };
	const struct review_access access = { .verb = "get", .path = "/metrics" };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->done = false;
		review_access(f->kube, &user, &access, on_access, f);
		fakeapi_reply(fakeapi_next(f->api), 201, cases[i].answer);
		fakeapi_turn_until(f->api, &f->done);
		assert_string_equal(f->told, cases[i].want);
	}
}

static void a_cancelled_review_has_no_callback(void **state)
{
	struct fixture *f = *state;

	kube_cancel(review_token(f->kube, "t", on_token, f));
	fakeapi_turn_for(f->api, 20);
	assert_false(f->done);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(tokens),
		TEST(failing_calls_are_reported),
		TEST(too_many_groups_are_refused),
		TEST(access_is_asked_for_in_full),
		TEST(verdicts),
		TEST(a_cancelled_review_has_no_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
