/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication with a scripted API server (fake_kube), scripted requests (fake_httpd), and real
 * certificates over real handshakes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakepki.h"
#include "../fake_httpd.h"
#include "../fake_kube.h"
#include "../tls_pipe.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "serve/access/authn.h"

#define HOUR_S 3600

static struct loop *loop;
static struct kube *kube;
static struct frontproxy *frontproxy;
static struct authn *authn;
static struct fake_connection connection;

static struct x509_pair proxy_ca, other_ca, serving, proxy_pair, other_name, stranger, expired;

/* ---- Requests ---- */

static struct httpd_request request(const struct fake_header *headers, size_t count)
{
	struct httpd_request r = { .connection = &connection, .method = "GET", .uri = "/" };

	memcpy(r.headers, headers, count * sizeof(*headers));
	return r;
}
#define REQUEST(...)                                                                                                   \
	request((const struct fake_header[]){ __VA_ARGS__ },                                                           \
		sizeof((const struct fake_header[]){ __VA_ARGS__ }) / sizeof(struct fake_header))

struct outcome {
	int told;
	struct requester *user;
	struct err err;
};

static void on_user(void *arg, struct requester *user, const struct err *err)
{
	struct outcome *o = arg;

	o->told++;
	assert_true(!user == (err != NULL));
	o->user = user ? requester_ref(user) : NULL;
	if (err)
		o->err = *err;
}

static bool in_group(const struct requester *who, const char *group)
{
	for (size_t i = 0; i < who->user.group_count; i++)
		if (!strcmp(who->user.groups[i], group))
			return true;
	return false;
}

static const char *extra(const struct requester *who, const char *key)
{
	for (size_t i = 0; i < who->user.extra_count; i++)
		if (!strcmp(who->user.extra_keys[i], key))
			return who->user.extra_values[i];
	return NULL;
}

static void expect_refused(struct httpd_request *r, const char *message)
{
	struct requester *user = NULL;
	struct err err = { 0 };

	assert_int_equal(authn_peek(authn, r, &user, &err), AUTHN_REFUSED);
	assert_int_equal(err.kind, ERR_DENIED);
	if (!strstr(err.msg, message))
		fail_msg("\"%s\" is not in: %s", message, err.msg);
}

static struct requester *expect_known(struct httpd_request *r, const char *name)
{
	struct requester *user = NULL;
	struct err err = { 0 };

	if (authn_peek(authn, r, &user, &err) != AUTHN_KNOWN)
		fail_msg("not known: %s", err.msg);
	assert_string_equal(user->user.name, name);
	return user;
}

/* ---- The front proxy ---- */

/* The ConfigMap, with PEM in JSON. */
static char *configmap(const struct x509_pair *ca, const char *names)
{
	char *pem = mem_alloc(2 * strlen(ca->cert_pem) + 1), *out = pem, *text;

	for (const char *c = ca->cert_pem; *c; c++) {
		if (*c == '\n')
			*out++ = '\\';
		*out++ = *c == '\n' ? 'n' : *c;
	}
	*out = '\0';
	text = mem_printf("{'data':{'requestheader-client-ca-file':'%s','requestheader-allowed-names':'[%s]','"
			  "requestheader-username-headers':'[\\'X-Remote-User\\',\\'X-User-2\\']',"
			  "'requestheader-uid-headers':'[\\'X-Remote-Uid\\']','requestheader-group-headers':'[\\'X-"
			  "Remote-Group\\']','requestheader-extra-headers-prefix':'[\\'X-Remote-Extra-\\']'}}",
		pem, names);
	free(pem);
	return text;
}

static void say_configmap(const struct x509_pair *ca, const char *names)
{
	char *text = configmap(ca, names);

	fake_kube_change(kube, text);
	free(text);
}

static void list_configmap(void)
{
	char *text = configmap(&proxy_ca, "\\'aggregator\\'");

	fake_kube_list(kube, text);
	free(text);
}

static void connect_with(struct tls_pipe *pipe, const struct x509_pair *client)
{
	fake_httpd_close(&connection);
	tls_pipe_open(pipe, &serving, client);
	connection.tls = pipe->server;
}

static void disconnect(struct tls_pipe *pipe)
{
	fake_httpd_close(&connection);
	connection.tls = NULL;
	tls_pipe_close(pipe);
}

static void the_configmap_is_watched_by_name(void **state)
{
	(void)state;
	assert_string_equal(fake_kube_watch_path(kube), "/api/v1/namespaces/kube-system/configmaps");
	assert_string_equal(fake_kube_watch_fields(kube), "metadata.name=extension-apiserver-authentication");
}

static void the_front_proxy_speaks_for_a_user(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" }, { "X-Remote-Uid", "u-1" },
		{ "X-Remote-Group", "dev" }, { "x-remote-group", "ops" },
		{ "X-Remote-Extra-Authentication.kubernetes.io%2FPod-Name", "p" }, { "X-Remote-Extra-Bad%zz", "q" },
		{ "X-Other", "z" });
	struct tls_pipe pipe;
	struct requester *user;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	user = expect_known(&r, "mia");
	assert_true(r.connection->first);
	assert_string_equal(user->user.uid, "u-1");
	assert_true(in_group(user, "dev") && in_group(user, "ops") && in_group(user, "system:authenticated"));
	assert_int_equal(user->user.group_count, 3);
	assert_string_equal(extra(user, "authentication.kubernetes.io/pod-name"), "p");
	assert_string_equal(extra(user, "bad%zz"), "q");
	assert_int_equal(user->user.extra_count, 2);
	assert_false(user->master);
	requester_unref(user);
	disconnect(&pipe);
}

static void the_second_user_header_counts_when_the_first_is_empty(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "" }, { "X-User-2", "second" },
		{ "X-Remote-Group", "system:masters" });
	struct tls_pipe pipe;
	struct requester *user;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	user = expect_known(&r, "second");
	assert_true(user->master);
	requester_unref(user);
	disconnect(&pipe);
}

/*
 * The aggregator fetches /openapi as system:aggregator without groups; only system:authenticated
 * lets it.
 */
static void a_user_without_groups_is_authenticated(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "system:aggregator" });
	struct tls_pipe pipe;
	struct requester *user;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	user = expect_known(&r, "system:aggregator");
	assert_true(in_group(user, "system:authenticated"));
	requester_unref(user);
	disconnect(&pipe);
}

static void headers_count_for_no_other_client(void **state)
{
	const struct {
		const struct x509_pair *client;
		const char *says;
	} cases[] = {
		{ &stranger, "not the front proxy's" }, /* another CA, the right name */
		{ &other_name, "requestheader-allowed-names" },
		{ &expired, "expired" },
		{ NULL, "neither" },
	};
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" }, { "X-Remote-Group", "system:masters" });

	(void)state;
	list_configmap();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tls_pipe pipe;

		connect_with(&pipe, cases[i].client);
		expect_refused(&r, cases[i].says);
		expect_refused(&r, cases[i].says); /* the cached result is the same */
		disconnect(&pipe);
	}
	expect_refused(&r, "neither"); /* plain HTTP */
	fake_httpd_close(&connection);
}

static void a_front_proxy_without_a_user_needs_a_token(void **state)
{
	struct httpd_request nobody = REQUEST({ "X-Remote-Group", "system:masters" });
	struct httpd_request token = REQUEST({ "Authorization", "Bearer t" });
	struct tls_pipe pipe;
	struct requester *user;
	struct err err;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	expect_refused(&nobody, "names no user");
	assert_int_equal(authn_peek(authn, &token, &user, &err), AUTHN_UNKNOWN);
	disconnect(&pipe);
}

#define USER  "X-Remote-User"
#define UID   "X-Remote-Uid"
#define GROUP "X-Remote-Group"
#define EXTRA "X-Remote-Extra-Key"

/* Other users of the same proxy never get the connection's cached user. */
static void every_word_of_a_user_counts_on_a_kept_connection(void **state)
{
	struct httpd_request r = REQUEST({ "Accept", "*/*" }, { USER, "mia" }, { UID, "u" }, { GROUP, "a" },
		{ GROUP, "b" }, { EXTRA, "v" });
	struct httpd_request others[] = {
		REQUEST({ USER, "mib" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia2" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { UID, "w" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "c" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { GROUP, "c" }, { EXTRA, "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "w" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { "X-Remote-Extra-Other", "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }, { EXTRA, "v" },
			{ "x-remote-extra-more", "v" }),
		REQUEST({ USER, "mia" }, { UID, "u" }, { GROUP, "a" }, { GROUP, "b" }),
		REQUEST({ USER, "" }, { "X-User-2", "mia" }, { GROUP, "system:masters" }),
	};
	struct tls_pipe pipe;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct requester *mia = expect_known(&r, "mia");
		struct requester *other = expect_known(&others[i], i == 0 ? "mib" : i == 1 ? "mia2" : "mia");

		if (!strcmp(mia->fingerprint, other->fingerprint))
			fail_msg("request %zu is taken for the one before", i);
		requester_unref(mia);
		mia = expect_known(&r, "mia");
		assert_string_equal(mia->user.groups[1], "b");
		assert_string_not_equal(mia->fingerprint, other->fingerprint);
		requester_unref(mia);
		requester_unref(other);
	}
	disconnect(&pipe);
}

static void the_same_user_on_a_kept_connection_is_read_once(void **state)
{
	struct httpd_request r = REQUEST({ "Audit-Id", "1" }, { USER, "mia" }, { GROUP, "a" }, { GROUP, "b" });
	struct httpd_request later = REQUEST({ USER, "mia" }, { GROUP, "a" }, { "Audit-Id", "2" }, { GROUP, "b" });
	struct httpd_request turned = REQUEST({ USER, "mia" }, { GROUP, "b" }, { GROUP, "a" });
	struct tls_pipe pipe;
	struct requester *first, *again, *other;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	first = expect_known(&r, "mia");
	again = expect_known(&later, "mia"); /* headers that do not name the user may differ */
	assert_ptr_equal(first, again);
	requester_unref(again);
	other = expect_known(&turned, "mia");
	assert_ptr_not_equal(first, other);
	assert_string_equal(other->user.groups[0], "b");
	requester_unref(other);
	requester_unref(first);
	disconnect(&pipe);
}

/*
 * Which headers name a user is the ConfigMap's to say, and whose certificate is the front proxy's.
 */
static void a_connections_cache_is_dropped_with_the_configmap(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" }, { "X-Remote-Group", "dev" });
	struct httpd_request nobody = REQUEST({ "X-Remote-Group", "dev" });
	struct tls_pipe pipe;
	struct requester *first, *again;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	first = expect_known(&r, "mia");
	expect_refused(&nobody, "names no user");
	say_configmap(&proxy_ca, "\\'aggregator\\'");
	again = expect_known(&r, "mia");
	assert_ptr_not_equal(first, again);
	requester_unref(again);
	say_configmap(&other_ca, "\\'aggregator\\'");
	expect_refused(&r, "not the front proxy's");
	assert_false(r.connection->first);
	fake_kube_delete(kube);
	expect_refused(&r, "does not exist");
	requester_unref(first);
	disconnect(&pipe);

	list_configmap();
	connect_with(&pipe, &stranger); /* the same words over another connection */
	expect_refused(&r, "not the front proxy's");
	disconnect(&pipe);
}

static void long_headers_are_read_each_time(void **state)
{
	static char group[9000];
	struct httpd_request r;
	struct tls_pipe pipe;
	struct requester *first, *again;

	(void)state;
	memset(group, 'g', sizeof(group) - 1);
	r = REQUEST({ "X-Remote-User", "mia" }, { "X-Remote-Group", group });
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	first = expect_known(&r, "mia");
	again = expect_known(&r, "mia");
	assert_ptr_not_equal(first, again);
	assert_string_equal(again->fingerprint, first->fingerprint);
	requester_unref(first);
	requester_unref(again);
	disconnect(&pipe);
}

static void without_the_configmap_no_proxy_is_trusted(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" });
	struct tls_pipe pipe;

	(void)state;
	connect_with(&pipe, &proxy_pair);
	assert_non_null(strstr(frontproxy_trouble(frontproxy), "was not read yet"));
	expect_refused(&r, "was not read yet");
	fake_kube_trouble(kube, "forbidden: may not watch");
	assert_non_null(strstr(frontproxy_trouble(frontproxy), "may not watch"));
	fake_kube_list(kube, NULL);
	assert_non_null(strstr(frontproxy_trouble(frontproxy), "does not exist"));
	expect_refused(&r, "does not exist");
	fake_kube_list(kube, "{'data':{'client-ca-file':'x'}}");
	assert_non_null(strstr(frontproxy_trouble(frontproxy), "requestheader-client-ca-file"));
	disconnect(&pipe);
}

static void a_connection_is_verified_again_when_the_configmap_changes(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" });
	struct tls_pipe pipe;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	requester_unref(expect_known(&r, "mia"));
	say_configmap(&other_ca, "\\'aggregator\\'");
	expect_refused(&r, "not the front proxy's");
	say_configmap(&proxy_ca, "\\'someone\\'");
	expect_refused(&r, "requestheader-allowed-names");
	say_configmap(&proxy_ca, "");
	requester_unref(expect_known(&r, "mia"));
	fake_kube_delete(kube);
	expect_refused(&r, "does not exist");
	disconnect(&pipe);
}

/* A server whose cache ignores the field selector sends all ConfigMaps. */
static void other_configmaps_of_the_namespace_are_not_looked_at(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" });
	struct tls_pipe pipe;
	unsigned version;

	(void)state;
	fake_kube_list(kube, "{'metadata':{'name':'kubeadm-config'}}");
	assert_non_null(strstr(frontproxy_trouble(frontproxy), "does not exist"));
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	requester_unref(expect_known(&r, "mia"));
	version = frontproxy_version(frontproxy);
	fake_kube_change(kube, "{'metadata':{'name':'kubeadm-config'},'data':{'requestheader-client-ca-file':'x'}}");
	fake_kube_delete_other(kube, "kubeadm-config");
	assert_int_equal(frontproxy_version(frontproxy), version);
	assert_null(frontproxy_trouble(frontproxy));
	requester_unref(expect_known(&r, "mia"));
	fake_kube_delete(kube);
	expect_refused(&r, "does not exist");
	disconnect(&pipe);
}

static void a_broken_configmap_leaves_the_last_in_force(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" });
	struct tls_pipe pipe;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	fake_kube_change(kube,
		"{'data':{'requestheader-client-ca-file':'no "
		"certificate','requestheader-username-headers':'[\\'X-Remote-User\\']'}}");
	requester_unref(expect_known(&r, "mia"));
	assert_null(frontproxy_trouble(frontproxy));
	disconnect(&pipe);
}

static void too_many_groups_are_refused(void **state)
{
	struct httpd_request r = REQUEST({ "X-Remote-User", "mia" });
	struct tls_pipe pipe;

	(void)state;
	list_configmap();
	connect_with(&pipe, &proxy_pair);
	r.repeat = (struct fake_header){ "X-Remote-Group", "g" };
	r.repeat_count = REVIEW_GROUPS_MAX + 1;
	expect_refused(&r, "groups");
	r.repeat_count = REVIEW_GROUPS_MAX;
	requester_unref(expect_known(&r, "mia"));
	disconnect(&pipe);
}

/* ---- Tokens ---- */

static void a_good_token_is_asked_for_once(void **state)
{
	struct httpd_request r = REQUEST({ "Authorization", "Bearer good" });
	struct httpd_request elsewhere = r;
	struct fake_connection other = { 0 };
	struct requester *user = NULL;
	struct outcome first = { 0 }, second = { 0 };
	struct err err;

	(void)state;
	elsewhere.connection = &other;
	assert_int_equal(authn_peek(authn, &r, &user, &err), AUTHN_UNKNOWN);
	authn_ask(authn, &r, on_user, &first);
	assert_int_equal(authn_peek(authn, &elsewhere, &user, &err), AUTHN_UNKNOWN);
	authn_ask(authn, &elsewhere, on_user, &second);
	assert_int_equal(first.told, 0);
	assert_int_equal(fake_kube_token_reviews_ever(kube), 1);
	assert_string_equal(fake_kube_token(kube), "good");
	fake_kube_answer_token(kube, "system:serviceaccount:a:b", "system:serviceaccounts");
	assert_true(first.told == 1 && second.told == 1);
	assert_string_equal(second.user->user.name, "system:serviceaccount:a:b");
	assert_true(in_group(second.user, "system:serviceaccounts"));
	requester_unref(expect_known(&r, "system:serviceaccount:a:b"));
	requester_unref(expect_known(&elsewhere, "system:serviceaccount:a:b"));
	assert_int_equal(fake_kube_token_reviews_ever(kube), 1);
	requester_unref(first.user);
	requester_unref(second.user);
	fake_httpd_close(&connection);
	fake_httpd_close(&other);
}

/* The connection remembers its last token; another one on it is another matter. */
static void another_token_on_the_connection_is_another_user(void **state)
{
	struct httpd_request good = REQUEST({ "Authorization", "Bearer good" });
	struct httpd_request others[] = { REQUEST({ "Authorization", "Bearer goof" }),
		REQUEST({ "Authorization", "Bearer good2" }), REQUEST({ "Authorization", "Bearer goo" }) };
	struct httpd_request none = REQUEST({ "Accept", "*/*" });
	struct outcome o = { 0 };
	struct requester *user;
	struct err err;

	(void)state;
	authn_ask(authn, &good, on_user, &o);
	fake_kube_answer_token(kube, "mia", NULL);
	requester_unref(expect_known(&good, "mia"));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(authn_peek(authn, &others[i], &user, &err), AUTHN_UNKNOWN);
	expect_refused(&none, "neither");
	requester_unref(o.user);
	fake_httpd_close(&connection);
}

static void a_bad_token_is_remembered_too(void **state)
{
	struct httpd_request r = REQUEST({ "Authorization", "bearer  bad" });
	struct outcome o = { 0 };

	(void)state;
	authn_ask(authn, &r, on_user, &o);
	fake_kube_answer_token(kube, NULL, NULL);
	assert_int_equal(o.told, 1);
	assert_int_equal(o.err.kind, ERR_DENIED);
	assert_null(strstr(o.err.msg, "bad")); /* no token in a message */
	expect_refused(&r, "TokenReview");
	assert_int_equal(fake_kube_token_reviews_ever(kube), 1);
	fake_httpd_close(&connection);
}

static void an_api_server_that_fails_is_no_verdict(void **state)
{
	static const enum err_kind kinds[] = { ERR_TEMPORARY, ERR_DENIED, ERR_INVALID };
	struct httpd_request r = REQUEST({ "Authorization", "Bearer t" });
	struct requester *user;
	struct err err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct outcome o = { 0 };

		authn_ask(authn, &r, on_user, &o);
		fake_kube_fail_token(kube, kinds[i], 403, "tokenreviews is forbidden");
		assert_int_equal(o.told, 1);
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(o.err.msg, "tokenreviews is forbidden"));
		assert_int_equal(authn_peek(authn, &r, &user, &err), AUTHN_UNKNOWN);
	}
	fake_httpd_close(&connection);
}

static void only_bearer_tokens_are_tokens(void **state)
{
	static const char *const headers[] = { "Basic Z29vZA==", "Bearer", "Bearer ", "Bearer    ", "Token x", "",
		"bearer" };
	static char giant[20000];

	(void)state;
	memset(giant, 'x', sizeof(giant) - 1);
	memcpy(giant, "Bearer ", 7);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct httpd_request r = REQUEST({ "Authorization", headers[i] });

		expect_refused(&r, "neither");
	}
	{
		struct httpd_request r = REQUEST({ "Authorization", giant });

		expect_refused(&r, "neither");
	}
	assert_int_equal(fake_kube_token_reviews_ever(kube), 0);
	fake_httpd_close(&connection);
}

static void a_long_token_is_good_without_being_remembered_by_the_connection(void **state)
{
	static char header[6000];
	struct httpd_request r;
	struct outcome o = { 0 };

	(void)state;
	memset(header, 'x', sizeof(header) - 1);
	memcpy(header, "Bearer ", 7);
	r = REQUEST({ "Authorization", header });
	authn_ask(authn, &r, on_user, &o);
	fake_kube_answer_token(kube, "mia", NULL);
	requester_unref(expect_known(&r, "mia"));
	assert_int_equal(fake_kube_token_reviews_ever(kube), 1);
	requester_unref(o.user);
	fake_httpd_close(&connection);
}

static void a_cancelled_wait_gets_no_callback(void **state)
{
	struct httpd_request r = REQUEST({ "Authorization", "Bearer t" });
	struct outcome o = { 0 };
	struct authn_wait *wait;

	(void)state;
	wait = authn_ask(authn, &r, on_user, &o);
	authn_cancel(wait);
	authn_cancel(NULL);
	fake_kube_answer_token(kube, "mia", NULL);
	assert_int_equal(o.told, 0);
	requester_unref(expect_known(&r, "mia")); /* but the verdict was kept */
	fake_httpd_close(&connection);
}

/* A certificate that is not the front proxy's is no error by itself. */
static void a_strangers_certificate_with_a_good_token_will_do(void **state)
{
	struct httpd_request r = REQUEST({ "Authorization", "Bearer t" }, { "X-Remote-User", "root" });
	struct tls_pipe pipe;
	struct outcome o = { 0 };

	(void)state;
	list_configmap();
	connect_with(&pipe, &stranger);
	authn_ask(authn, &r, on_user, &o);
	fake_kube_answer_token(kube, "mia", NULL);
	requester_unref(expect_known(&r, "mia"));
	requester_unref(o.user);
	disconnect(&pipe);
}

static void different_users_have_different_fingerprints(void **state)
{
	char name[] = "mia", group_a[] = "a", group_b[] = "b", key[] = "a", value[] = "b";
	char *groups[] = { group_a, group_b }, *keys[] = { key }, *values[] = { value };
	const struct review_user users[] = {
		{ .name = name },
		{ .name = name, .uid = group_a },
		{ .name = name, .groups = groups, .group_count = 1 },
		{ .name = name, .groups = groups, .group_count = 2 },
		{ .name = name, .extra_keys = keys, .extra_values = values, .extra_count = 1 },
		{ .name = group_a },
	};
	const size_t count = sizeof(users) / sizeof(users[0]);
	struct requester *made[sizeof(users) / sizeof(users[0])], *again = requester_new(&users[3]);

	(void)state;
	for (size_t i = 0; i < count; i++)
		made[i] = requester_new(&users[i]);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(made[i]->fingerprint, made[j]->fingerprint);
	assert_string_equal(again->fingerprint, made[3]->fingerprint);
	for (size_t i = 0; i < count; i++)
		requester_unref(made[i]);
	requester_unref(again);
}

/* ---- Life ---- */

static int make_certificates(void **state)
{
	const char *const aggregator[] = { "aggregator", NULL }, *const other[] = { "other", NULL },
			  *const service[] = { "kscaled.kscaled.svc", NULL };
	int64_t now = timestamp_now_ms();

	(void)state;
	fakepki_authority("proxy", now, HOUR_S, &proxy_ca);
	fakepki_authority("other", now, HOUR_S, &other_ca);
	fakepki_certificate(&other_ca, service, now, HOUR_S, &serving);
	fakepki_certificate(&proxy_ca, aggregator, now, HOUR_S, &proxy_pair);
	fakepki_certificate(&proxy_ca, other, now, HOUR_S, &other_name);
	fakepki_certificate(&other_ca, aggregator, now, HOUR_S, &stranger);
	fakepki_certificate(&proxy_ca, aggregator, now - 10 * HOUR_S * 1000, HOUR_S, &expired);
	return 0;
}

static int free_certificates(void **state)
{
	struct x509_pair *all[] = { &proxy_ca, &other_ca, &serving, &proxy_pair, &other_name, &stranger, &expired };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		x509_pair_done(all[i]);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	loop = loop_new(NULL);
	kube = fake_kube_new(loop);
	frontproxy = frontproxy_new(kube);
	authn = authn_new(kube, frontproxy);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	authn_free(authn);
	frontproxy_free(frontproxy);
	fake_kube_free(kube);
	loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_configmap_is_watched_by_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_front_proxy_speaks_for_a_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_second_user_header_counts_when_the_first_is_empty, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_user_without_groups_is_authenticated, set_up, tear_down),
		cmocka_unit_test_setup_teardown(headers_count_for_no_other_client, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_front_proxy_without_a_user_needs_a_token, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_word_of_a_user_counts_on_a_kept_connection, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_user_on_a_kept_connection_is_read_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_connections_cache_is_dropped_with_the_configmap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_headers_are_read_each_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_the_configmap_no_proxy_is_trusted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_connection_is_verified_again_when_the_configmap_changes, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(other_configmaps_of_the_namespace_are_not_looked_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_broken_configmap_leaves_the_last_in_force, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_many_groups_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_good_token_is_asked_for_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_token_on_the_connection_is_another_user, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bad_token_is_remembered_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_api_server_that_fails_is_no_verdict, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_bearer_tokens_are_tokens, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_token_is_good_without_being_remembered_by_the_connection, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_cancelled_wait_gets_no_callback, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_strangers_certificate_with_a_good_token_will_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(different_users_have_different_fingerprints, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, make_certificates, free_certificates);
}
