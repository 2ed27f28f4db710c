/* SPDX-License-Identifier: Apache-2.0 */
/* Denied credentials, and what is read again then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "client_fixture.h"
#include "kube/watchstream.h"

/* ---- Credentials ---- */

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* A client with its token in a file. */
static struct kube *client_with_token_file(struct client_fixture *f, struct kube_config *config, const char *folder)
{
	MEM_AUTO char *path = mem_printf("%s/config", folder);
	MEM_AUTO char *token = mem_printf("%s/token", folder);
	MEM_AUTO char *text = mem_printf("{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], "
					 "clusters: [{name: c, cluster: {server: '%s'}}], "
					 "users: [{name: u, user: {tokenFile: token}}]}",
		fakeapi_url(f->api));
	struct err err = { .msg = "" };

	write_file(path, text);
	write_file(token, "old");
	if (kube_config_load(path, NULL, config, &err) < 0)
		fail_msg("%s", err.msg);
	return kube_new(f->loop, config, NULL, NULL);
}

static void remove_folder(const char *folder)
{
	MEM_AUTO char *path = mem_printf("%s/config", folder);
	MEM_AUTO char *token = mem_printf("%s/token", folder);

	remove(path);
	remove(token);
	rmdir(folder);
}

static void denied_credentials_are_read_again_once(void **state)
{
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct kube_request request = { .verb = KUBE_UPDATE, .path = "/a", .body = "{}" };
	struct outcome same = { .done = false }, fresh = { .done = false }, bad = { .done = false };
	struct fakeapi_request *r;
	MEM_AUTO char *token = NULL;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	token = mem_printf("%s/token", folder);

	/* Nothing changed: the answer stays. */
	kube_call(kube, &request, client_on_outcome, &same);
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer old");
	fakeapi_reply(r, 401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\"}");
	client_wait(f, &same);
	assert_int_equal(same.err.kind, ERR_DENIED);
	assert_string_equal(same.err.msg, "Unauthorized");

	/* A new token is tried at once. */
	kube_call(kube, &request, client_on_outcome, &fresh);
	r = fakeapi_next(f->api);
	write_file(token, "renewed");
	fakeapi_reply(r, 401, "{}");
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer renewed");
	fakeapi_reply(r, 200, "{}");
	client_wait(f, &fresh);
	assert_false(fresh.failed);

	/* But not a third. */
	kube_call(kube, &request, client_on_outcome, &bad);
	r = fakeapi_next(f->api);
	write_file(token, "third-one");
	fakeapi_reply(r, 401, "{}");
	r = fakeapi_next(f->api);
	write_file(token, "the-fourth-one");
	fakeapi_reply(r, 401, "{}");
	client_wait(f, &bad);
	assert_int_equal(bad.err.kind, ERR_DENIED);

	free(fresh.object);
	kube_free(kube);
	kube_config_done(&config);
	remove_folder(folder);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return true;
}

static void on_stream_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	assert_null(err);
	assert_int_equal(response->status, 401);
	*(bool *)arg = true;
}

/* The next stream uses the present content of its files. */
static void a_denied_stream_has_the_credentials_read_again(void **state)
{
	static const struct httpc_events events = { .on_data = on_data, .on_done = on_stream_done };
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct fakeapi_request *r;
	bool done = false;
	MEM_AUTO char *token = NULL;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	token = mem_printf("%s/token", folder);
	watchstream_start(kube_watchstreams(kube), "/w", 0, &events, &done);
	r = fakeapi_next(f->api);
	assert_string_equal(r->authorization, "Bearer old");
	write_file(token, "renewed");
	fakeapi_reply(r, 401, "{}");
	fakeapi_turn_until(f->api, &done);
	watchstream_start(kube_watchstreams(kube), "/w", 0, &events, &done);
	assert_string_equal(fakeapi_next(f->api)->authorization, "Bearer renewed");
	kube_free(kube);
	kube_config_done(&config);
	remove_folder(folder);
}

static void unreadable_credentials_are_reported(void **state)
{
	struct client_fixture *f = *state;
	char folder[] = "client-test-XXXXXX";
	struct kube_config config;
	struct kube *kube;
	struct kube_request request = { .verb = KUBE_GET, .path = "/a" };
	struct outcome o = { .done = false };
	struct fakeapi_request *r;

	assert_non_null(mkdtemp(folder));
	kube = client_with_token_file(f, &config, folder);
	kube_call(kube, &request, client_on_outcome, &o);
	r = fakeapi_next(f->api);
	remove_folder(folder);
	fakeapi_reply(r, 401, "{\"kind\":\"Status\",\"message\":\"Unauthorized\"}");
	client_wait(f, &o);
	assert_non_null(strstr(o.err.msg, "config"));
	assert_non_null(strstr(o.err.msg, "Unauthorized"));
	kube_free(kube);
	kube_config_done(&config);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, client_setup, client_teardown)
	const struct CMUnitTest tests[] = {
		TEST(denied_credentials_are_read_again_once),
		TEST(a_denied_stream_has_the_credentials_read_again),
		TEST(unreadable_credentials_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
