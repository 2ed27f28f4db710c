/* SPDX-License-Identifier: Apache-2.0 */
/* Against a fake server with the answers of each case, also invalid ones. */
#include "cli/ask/insightclient.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char folder[] = "/tmp/test_insightclient.XXXXXX";
static char *socket_path, *kubeconfig_path;
static int listener = -1;

static int setup(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	socket_path = mem_printf("%s/insight.sock", folder);
	kubeconfig_path = mem_printf("%s/kubeconfig", folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 20);
}

static int teardown(void **state)
{
	(void)state;
	close(listener);
	unlink(kubeconfig_path);
	unlink(socket_path);
	free(socket_path);
	free(kubeconfig_path);
	return rmdir(folder);
}

/* A child answers one request with these bytes and exits. */
static pid_t answer_once(const char *bytes, size_t len)
{
	pid_t child = fork();
	char request[4096];
	int fd;

	assert_true(child >= 0);
	if (child)
		return child;
	do {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			_exit(1);
	} while (read(fd, request, sizeof(request) - 1) <= 0); /* a probe that only connects */
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		bytes += n;
		len -= (size_t)n;
	}
	close(fd);
	_exit(0);
}

static int ask(const struct insightclient_ways *ways, json_t **object, struct err *err)
{
	struct insightclient *c = insightclient_new(ways, err);
	int failed = -1;

	*object = NULL;
	if (c)
		failed = insightclient_get(c, "/apis/insight.kscaled.io/v1/x", "application/json", object, err);
	insightclient_free(c);
	return failed;
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: "

static void handles_answers(void **state)
{
	static const struct {
		const char *bytes;
		enum err_kind kind;
		const char *message;
	} cases[] = {
		{ OK "12\r\n\r\n{\"name\":\"a\"}", ERR_NONE, NULL },
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: "
		  "61\r\n\r\n{\"kind\":\"Status\",\"reason\":\"NotFound\",\"message\":\"no such one\"}\n",
			ERR_MISSING, "no such one" },
		{ "HTTP/1.1 403 No\r\nContent-Length: 17\r\n\r\n{\"message\":\"mia\"}", ERR_DENIED,
			"insight.sock: mia" },
		{ "HTTP/1.1 503 No\r\nContent-Length: 22\r\n\r\n{\"message\":\"not read\"}", ERR_TEMPORARY,
			"not read" },
		{ "HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\ngone", ERR_TEMPORARY,
			"insight.sock: the API server does not reach kscaled (HTTP 503)" },
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope", ERR_TEMPORARY,
			"no insight API of this version: HTTP 404" },
		{ "HTTP/1.1 500 No\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}", ERR_TEMPORARY,
			"no insight API of this version: HTTP 500: x" },
		{ OK "4\r\n\r\n[1] ", ERR_TEMPORARY, "no insight API of this version: HTTP 200" },
		{ OK "5\r\n\r\nhello", ERR_TEMPORARY, "no insight API of this version: HTTP 200" },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", ERR_TEMPORARY,
			"no insight API of this version: HTTP 302" },
		{ OK "100\r\n\r\n{", ERR_TEMPORARY, "cannot reach kscaled by the socket" },
		{ "SSH-2.0-x\r\n", ERR_TEMPORARY, "cannot reach kscaled by the socket" },
		{ OK "99999999999\r\n\r\n{", ERR_TEMPORARY, "cannot reach kscaled by" },
	};
	const struct insightclient_ways ways = { .socket = socket_path };

	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* of no concern */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = answer_once(cases[i].bytes, strlen(cases[i].bytes));
		struct err err = { 0 };
		json_t *object = NULL;

		ask(&ways, &object, &err);
		waitpid(child, NULL, 0);
		if (err.kind != cases[i].kind || (cases[i].message && !strstr(err.msg, cases[i].message)))
			fail_msg("case %zu: %s: %s", i, err_kind_name(err.kind), err.msg);
		assert_int_equal(object != NULL, err.kind == ERR_NONE);
		json_decref(object);
	}
	unsetenv("http_proxy");
}

/* Options precede defaults, the default socket the default kubeconfig. */
static void default_socket_is_used_if_it_answers(void **state)
{
	const struct insightclient_ways ways = { .usual_socket = socket_path, .usual_kubeconfig = "/nonexistent" };
	pid_t child = answer_once(OK "2\r\n\r\n{}", strlen(OK "2\r\n\r\n{}"));
	struct err err = { 0 };
	json_t *object;

	(void)state;
	if (ask(&ways, &object, &err))
		fail_msg("%s", err.msg);
	waitpid(child, NULL, 0);
	json_decref(object);
}

static void write_kubeconfig_in(const char *namespace_, const char *user)
{
	FILE *f = fopen(kubeconfig_path, "we");

	assert_non_null(f);
	fprintf(f,
		"{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k, user: "
		"u, namespace: '%s'}}], clusters: [{name: k, cluster: {server: 'https://127.255.255.254:9'}}], "
		"users: [{name: u, user: {%s}}]}\n",
		namespace_, user);
	assert_int_equal(fclose(f), 0);
}

static void write_kubeconfig(const char *user)
{
	write_kubeconfig_in("", user);
}

static void expect_namespace(const struct insightclient_ways *ways, const char *namespace_)
{
	struct err err = { 0 };
	struct insightclient *client = insightclient_new(ways, &err);
	const char *found;

	assert_non_null(client);
	found = insightclient_namespace(client);
	if (namespace_)
		assert_string_equal(found, namespace_);
	else
		assert_null(found);
	insightclient_free(client);
}

static void namespace_of_the_context(void **state)
{
	struct insightclient_ways cluster = { .kubeconfig = kubeconfig_path }, socket = { .socket = socket_path };

	(void)state;
	write_kubeconfig_in("shop", "token: t");
	expect_namespace(&cluster, "shop");
	write_kubeconfig("token: t");
	expect_namespace(&cluster, "default");
	expect_namespace(&socket, NULL);
}

static void expect_no_way(const struct insightclient_ways *ways, enum err_kind kind, const char *message)
{
	struct err err = { 0 };
	json_t *object;

	assert_int_equal(ask(ways, &object, &err), -1);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.msg, message))
		fail_msg("\"%s\" is not in: %s", message, err.msg);
}

static void unusable_servers(void **state)
{
	MEM_AUTO char *long_path = mem_printf("/%0200d", 1), *file = mem_printf("%s/no.sock", folder);
	struct insightclient_ways ways = { .socket = file };

	(void)state;
	expect_no_way(&ways, ERR_TEMPORARY, "cannot reach kscaled by the socket /tmp/test_insightclient.");
	expect_no_way(&ways, ERR_TEMPORARY, "; --socket gives its path (kscaled's --insight-socket)");
	ways.kubeconfig = kubeconfig_path;
	expect_no_way(&ways, ERR_INVALID, "--socket and --kubeconfig exclude each other");
	ways = (struct insightclient_ways){ .usual_socket = long_path, .usual_kubeconfig = "/nonexistent/k" };
	expect_no_way(&ways, ERR_INVALID, ": the path is too long; and by kubeconfig: ");
	ways.usual_socket = file;
	expect_no_way(&ways, ERR_INVALID, "no.sock: No such file or directory; and by kubeconfig: ");
	write_kubeconfig("token: t");
	ways.usual_kubeconfig = kubeconfig_path;
	expect_no_way(&ways, ERR_TEMPORARY, "cannot reach kscaled by https://127.255.255.254:9 (kubeconfig ");
	write_kubeconfig("exec: {command: aws}");
	expect_no_way(&ways, ERR_INVALID, "credential plugins are not run");
	expect_no_way(&ways, ERR_INVALID, "; `kubectl get scaledobjectinsights` uses kubectl's login");
	ways = (struct insightclient_ways){ .kubeconfig = kubeconfig_path, .usual_socket = socket_path };
	expect_no_way(&ways, ERR_INVALID, "`kubectl get scaledobjectinsights`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles_answers),
		cmocka_unit_test(default_socket_is_used_if_it_answers),
		cmocka_unit_test(unusable_servers),
		cmocka_unit_test(namespace_of_the_context),
	};

	return cmocka_run_group_tests_name("cli/ask/insightclient", tests, setup, teardown);
}
