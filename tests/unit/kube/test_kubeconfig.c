/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/kubeconfig.h"

/* The parts around the tested one. */
#define CONTEXT      "current-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u, namespace: n}\n"
#define CLUSTER      "clusters:\n- name: k\n  cluster: {server: 'https://h:6443'}\n"
#define USER(fields) CONTEXT CLUSTER "users:\n- name: u\n  user: {" fields "}\n"
#define IN_CLUSTER(fields)                                                                                             \
	CONTEXT "clusters:\n- name: k\n  cluster: {" fields "}\nusers:\n- {name: u, user: {token: t}}\n"

/* As struct kubeconfig_choice, which owns its strings; NULL: must be absent. */
struct want_source {
	const char *inline_text, *file;
};
struct want {
	const char *server, *tls_server_name, *proxy_url;
	bool insecure;
	struct want_source ca, cert, key, token;
};

static int choose(const char *text, struct kubeconfig_choice *out, struct err *err)
{
	struct kubeconfig *kc = kubeconfig_new();
	int rc;

	*out = (struct kubeconfig_choice){ .context = NULL };
	rc = kubeconfig_add(kc, text, strlen(text), "/etc/k/config", err);
	if (rc == 0)
		rc = kubeconfig_choose(kc, out, err);
	kubeconfig_free(kc);
	return rc;
}

static void assert_text(const char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got ? got : "(null)", want);
}

static void good_ones(void **state)
{
	static const struct {
		const char *text;
		struct want want;
	} cases[] = {
		{ USER("token: secret"), { .server = "https://h:6443", .token.inline_text = "secret" } },
		{ USER("token: '123'"), { .server = "https://h:6443", .token.inline_text = "123" } },
		{ USER("token: 0123"), { .server = "https://h:6443", .token.inline_text = "0123" } },
		{ USER("tokenFile: t, token: x"), { .server = "https://h:6443", .token = { "x", "/etc/k/t" } } },
		{ USER("tokenFile: /run/t"), { .server = "https://h:6443", .token.file = "/run/t" } },
		{ USER("client-certificate: a/c.pem, client-key: /b/k.pem"),
			{ .server = "https://h:6443", .cert.file = "/etc/k/a/c.pem", .key.file = "/b/k.pem" } },
		{ USER("client-certificate-data: aGVsbG8=, client-certificate: x, client-key-data: Ym95"),
			{ .server = "https://h:6443", .cert.inline_text = "hello", .key.inline_text = "boy" } },
		{ USER("exec: null, as: '', token: t"), { .server = "https://h:6443", .token.inline_text = "t" } },
		{ USER(""), { .server = "https://h:6443" } },
		{ CONTEXT CLUSTER "users:\n- name: u\n", { .server = "https://h:6443" } },
		{ IN_CLUSTER("server: 'https://h/k8s/c-1///'"),
			{ .server = "https://h/k8s/c-1", .token.inline_text = "t" } },
		{ IN_CLUSTER("server: 'http://127.0.0.1:8001'"),
			{ .server = "http://127.0.0.1:8001", .token.inline_text = "t" } },
		{ IN_CLUSTER("server: 'https://[::1]:6443', insecure-skip-tls-verify: true, tls-server-name: n, "
			     "proxy-url: 'socks5://p:1'"),
			{ .server = "https://[::1]:6443",
				.insecure = true,
				.tls_server_name = "n",
				.proxy_url = "socks5://p:1",
				.token.inline_text = "t" } },
		{ IN_CLUSTER("server: 'https://h', certificate-authority: ca.crt, insecure-skip-tls-verify: false"),
			{ .server = "https://h", .ca.file = "/etc/k/ca.crt", .token.inline_text = "t" } },
		/* JSON is YAML too; aliases are followed, and cost nothing. */
		{ "{\"current-context\": \"c\", \"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": \"k\", "
		  "\"namespace\": \"n\"}}], \"clusters\": [{\"name\": \"k\", "
		  "\"cluster\": {\"server\": \"https://h\"}}]}",
			{ .server = "https://h" } },
		{ "x: &k {server: 'https://h'}\n" CONTEXT
		  "clusters:\n- name: k\n  cluster: *k\nusers:\n- name: u\n  user: {}\n",
			{ .server = "https://h" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kubeconfig_choice got;
		struct err err = { .msg = "" };

		if (choose(cases[i].text, &got, &err) < 0)
			fail_msg("case %zu: %s", i, err.msg);
		assert_text(got.context, "c");
		assert_text(got.origin, "/etc/k/config");
		assert_text(got.namespace_, "n");
		assert_text(got.server, cases[i].want.server);
		assert_text(got.tls_server_name, cases[i].want.tls_server_name);
		assert_text(got.proxy_url, cases[i].want.proxy_url);
		assert_int_equal(got.insecure, cases[i].want.insecure);
		assert_text(got.ca.inline_text, cases[i].want.ca.inline_text);
		assert_text(got.ca.file, cases[i].want.ca.file);
		assert_text(got.cert.inline_text, cases[i].want.cert.inline_text);
		assert_text(got.cert.file, cases[i].want.cert.file);
		assert_text(got.key.inline_text, cases[i].want.key.inline_text);
		assert_text(got.key.file, cases[i].want.key.file);
		assert_text(got.token.inline_text, cases[i].want.token.inline_text);
		assert_text(got.token.file, cases[i].want.token.file);
		kubeconfig_choice_done(&got);
	}
}

/*
 * Each is refused, and the message has these words: the field and, for unsupported settings, an
 * alternative.
 */
static void bad_ones(void **state)
{
	static const struct {
		const char *text, *word, *other_word;
	} cases[] = {
		{ USER("exec: {command: aws}"), "exec", "client certificate" },
		{ USER("auth-provider: {name: gcp}"), "auth-provider", "client certificate" },
		{ USER("as: admin, token: t"), "as: impersonation", "user \"u\"" },
		{ USER("as-groups: [x], token: t"), "as-groups", "impersonation" },
		{ USER("as-uid: x, token: t"), "as-uid", "impersonation" },
		{ USER("as-user-extra: {a: [b]}, token: t"), "as-user-extra", "impersonation" },
		{ USER("username: a, password: b"), "username", "basic authentication" },
		{ USER("token: [a]"), "token", "must be a string" },
		{ USER("client-certificate: a"), "client-key", "both" },
		{ USER("client-key-data: Ym95"), "client-certificate", "both" },
		{ USER("client-certificate-data: '%%', client-key: x"), "client-certificate-data", "base64" },
		{ USER("client-certificate-data: 'AAAA', client-key: x"), "client-certificate-data", "base64" },
		{ IN_CLUSTER("x: y"), "server", "is missing" },
		{ IN_CLUSTER("server: 'h:6443'"), "server", "https://" },
		{ IN_CLUSTER("server: 'unix:///x'"), "server", "https://" },
		{ IN_CLUSTER("server: 'https://'"), "server", "HOST" },
		{ IN_CLUSTER("server: 'https:////'"), "server", "HOST" },
		{ IN_CLUSTER("server: \"https://h\\nX: y\""), "server", "HOST" },
		{ IN_CLUSTER("server: 'https://h', proxy-url: 'ftp://x'"), "proxy-url", "socks5://" },
		{ IN_CLUSTER("server: 'https://h', insecure-skip-tls-verify: maybe"), "insecure-skip-tls-verify",
			"true or false" },
		{ IN_CLUSTER("server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: c"),
			"insecure-skip-tls-verify", "certificate-authority" },
		{ "", "current-context", "use-context" },
		{ "current-context: c\n", "context \"c\"", "there is no" },
		{ "current-context: [c]\n", "current-context", "must be a string" },
		{ CONTEXT, "cluster \"k\"", "there is no" },
		{ CONTEXT CLUSTER, "user \"u\"", "there is no" },
		{ "current-context: c\ncontexts: [{name: c, context: {user: u}}]\n", "cluster", "is missing" },
		{ "current-context: c\ncontexts: [{name: c, context: [x]}]\n", "context", "mapping" },
		{ "current-context: c\ncontexts: {name: c}\n", "context \"c\"", "there is no" },
		{ "a: b: c\n", "/etc/k/config", "line 1" },
		{ "\xff\xfe\x00", "/etc/k/config", "" },
		{ "a: &a [*b]\n", "/etc/k/config", "alias" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kubeconfig_choice got;
		struct err err;

		if (choose(cases[i].text, &got, &err) == 0)
			fail_msg("case %zu is taken", i);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, cases[i].word) || !strstr(err.msg, cases[i].other_word))
			fail_msg("case %zu: \"%s\" lacks \"%s\" or \"%s\"", i, err.msg, cases[i].word,
				cases[i].other_word);
	}
}

static void secrets_stay_out_of_messages(void **state)
{
	struct kubeconfig_choice got;
	struct err err;

	(void)state;
	assert_int_equal(choose(USER("token: hunter2, exec: {command: hunter2}"), &got, &err), -1);
	assert_null(strstr(err.msg, "hunter2"));
	assert_int_equal(choose(USER("client-key-data: '*hunter2*', client-certificate: x"), &got, &err), -1);
	assert_null(strstr(err.msg, "hunter2"));
}

/* The first file that has a thing gives it whole; kubectl does not mix two entries of one name. */
static void files_merge(void **state)
{
	static const char first[] = "current-context: ''\nusers:\n- {name: u, user: {token: one}}\n";
	static const char second[] = USER("token: two, tokenFile: two");
	static const char third[] =
		"current-context: other\nclusters: [{name: k, cluster: {server: 'https://third'}}]\n";
	struct kubeconfig *kc = kubeconfig_new();
	struct kubeconfig_choice got;
	struct err err;

	(void)state;
	assert_int_equal(kubeconfig_add(kc, first, strlen(first), "first", &err), 0);
	assert_int_equal(kubeconfig_add(kc, second, strlen(second), "b/second", &err), 0);
	assert_int_equal(kubeconfig_add(kc, third, strlen(third), "third", &err), 0);
	assert_int_equal(kubeconfig_choose(kc, &got, &err), 0);
	assert_string_equal(got.context, "c");
	assert_string_equal(got.origin, "b/second");
	assert_string_equal(got.cluster, "k");
	assert_string_equal(got.user, "u");
	assert_string_equal(got.server, "https://h:6443");
	assert_string_equal(got.token.inline_text, "one");
	assert_null(got.token.file);
	kubeconfig_choice_done(&got);
	kubeconfig_free(kc);
}

static char *repeated(const char *head, const char *text, int times, const char *tail)
{
	struct buf b = BUF_INIT(4 << 20);

	buf_puts(&b, head);
	for (int i = 0; i < times; i++)
		buf_puts(&b, text);
	buf_puts(&b, tail);
	return buf_take(&b);
}

static void assert_refused(char *text, const char *word)
{
	struct kubeconfig_choice got;
	struct err err;

	assert_int_equal(choose(text, &got, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	if (!strstr(err.msg, word))
		fail_msg("\"%s\" lacks \"%s\"", err.msg, word);
	free(text);
}

static void hostile_input_is_refused(void **state)
{
	(void)state;
	assert_refused(repeated("a: ", "[", 1000, "\n"), "nested");
	assert_refused(repeated("", "- ", 1000, "x\n"), "nested");
	assert_refused(repeated("a: [", "1,", 200000, "]\n"), "values");
	assert_refused(repeated("a: '", "0123456789abcdef", 70000, "'\n"), "larger than");
}

/* Nine levels of nine aliases each would be 387 million values if each counted. */
static void alias_bomb_is_refused(void **state)
{
	struct buf b = BUF_INIT(65536);

	(void)state;
	buf_puts(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 10; i++) {
		buf_printf(&b, "a%d: &a%d [", i, i);
		for (int n = 0; n < 9; n++)
			buf_printf(&b, "%s*a%d", n ? "," : "", i - 1);
		buf_puts(&b, "]\n");
	}
	buf_puts(&b, USER("token: t, as-user: *a9"));
	assert_refused(buf_take(&b), "too many values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(secrets_stay_out_of_messages),
		cmocka_unit_test(files_merge),
		cmocka_unit_test(hostile_input_is_refused),
		cmocka_unit_test(alias_bomb_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
