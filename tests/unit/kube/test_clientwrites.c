/* SPDX-License-Identifier: Apache-2.0 */
/* Writes that may have been carried out although no answer came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client_fixture.h"

/*
 * On a connection that was used before, libcurl takes a cut for an idle time-out, and repeats the
 * request by itself, even a write. So a creator must take "already exists" for a possible result of
 * its own request: the server has carried out the first one, and the client gets only the second
 * answer.
 */
static void a_create_may_conflict_with_itself(void **state)
{
	struct client_fixture *f = *state;
	struct outcome before = { .done = false }, o = { .done = false };

	client_start(f, &before, (struct kube_request){ .verb = KUBE_GET, .path = "/before" });
	/* which leaves the connection open */
	fakeapi_reply_retry_after(fakeapi_expect(f->api, "GET /before"), 200, "{}", "");
	client_wait(f, &before);
	free(before.object);
	client_start(f, &o, (struct kube_request){ .verb = KUBE_CREATE, .path = "/a", .body = "{\"n\":1}" });
	fakeapi_cut(fakeapi_expect(f->api, "POST /a"));
	fakeapi_reply(fakeapi_expect(f->api, "POST /a"), 409,
		"{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"exists\"}");
	client_wait(f, &o);
	assert_int_equal(o.times, 1);
	assert_int_equal(o.err.kind, ERR_CONFLICT);
	assert_int_equal(o.err.http_status, 409);
}

/*
 * So does the client, after an answer that requests it; a server in trouble may have carried out
 * the request.
 */
static void a_create_may_conflict_with_itself_after_an_error(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_CREATE, .path = "/a", .body = "{\"n\":1}" });
	fakeapi_reply(fakeapi_expect(f->api, "POST /a"), 500,
		"{\"kind\":\"Status\",\"reason\":\"ServerTimeout\",\"details\":{\"retryAfterSeconds\":1}}");
	fakeapi_reply(fakeapi_expect(f->api, "POST /a"), 409,
		"{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"exists\"}");
	client_wait(f, &o);
	assert_int_equal(o.times, 1);
	assert_int_equal(o.err.kind, ERR_CONFLICT);
}

/*
 * A good answer that was garbled on its way is no refusal, and carries no status that looks like
 * one.
 */
static void a_garbled_answer_to_a_write_is_no_refusal(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_CREATE, .path = "/a", .body = "{}" });
	fakeapi_reply(fakeapi_expect(f->api, "POST /a"), 201, "<html>");
	client_wait(f, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_int_equal(o.err.http_status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, client_setup, client_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_create_may_conflict_with_itself),
		TEST(a_create_may_conflict_with_itself_after_an_error),
		TEST(a_garbled_answer_to_a_write_is_no_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
