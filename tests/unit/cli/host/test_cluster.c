/* SPDX-License-Identifier: Apache-2.0 */
/* Against a fake server: a child answers one request and reports it. */
#include "cli/host/cluster.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char kubeconfig_path[] = "/tmp/test_cluster.XXXXXX";
static int listener = -1;

static int setup(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = mkstemp(kubeconfig_path);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || listener < 0 || bind(listener, (struct sockaddr *)&address, len) || listen(listener, 20) ||
		getsockname(listener, (struct sockaddr *)&address, &len))
		return -1;
	dprintf(fd,
		"apiVersion: v1\nkind: Config\ncurrent-context: it\n"
		"clusters: [{name: it, cluster: {server: 'http://127.0.0.1:%u'}}]\n"
		"users: [{name: it, user: {token: t0ken}}]\ncontexts: [{name: it, context: {cluster: it, user: it}}]\n",
		ntohs(address.sin_port));
	return close(fd);
}

static int teardown(void **state)
{
	(void)state;
	close(listener);
	return unlink(kubeconfig_path);
}

/* Whether a request is complete. */
static bool is_whole(const char *request, size_t len)
{
	const char *end = memmem(request, len, "\r\n\r\n", 4);

	return end && (memmem(request, len, "Content-Length:", 15) == NULL || request[len - 1] == '}');
}

/* Answers one request with these bytes; the request can be read from the result. */
static int answer_once(const char *bytes, pid_t *child)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*child = fork();
	if (*child == 0) {
		char request[8192];
		int fd = accept(listener, NULL, NULL);
		size_t len = 0;
		ssize_t n;

		while (!is_whole(request, len) && (n = recv(fd, request + len, sizeof(request) - len, 0)) > 0)
			len += (size_t)n;
		if (write(ends[1], request, len) != (ssize_t)len || send(fd, bytes, strlen(bytes), MSG_NOSIGNAL) < 0)
			_exit(1);
		shutdown(fd, SHUT_WR);
		while (recv(fd, request, sizeof(request), 0) > 0)
			continue;
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static int ask(enum kube_verb verb, const json_t *body, json_t **answer, struct err *err)
{
	struct cluster *c = cluster_new(kubeconfig_path, err);
	int rc = -1;

	if (c)
		rc = cluster_call(c, verb, "/api/v1/x", body, answer, err);
	cluster_free(c);
	return rc;
}

static void handles_answers(void **state)
{
	static const struct {
		const char *bytes;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"name\":\"a\"}", ERR_NONE, "" },
		{ "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"
		  "{\"kind\":\"Status\",\"message\":\"x \\\"y\\\" not found\"}",
			ERR_MISSING, "not found" },
		{ "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"message\":\"you may "
		  "not\"}",
			ERR_DENIED, "you may not" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		json_t *answer = NULL;
		pid_t child;
		int asked = answer_once(rows[i].bytes, &child), rc = ask(KUBE_GET, NULL, &answer, &err), status;

		assert_int_equal(rc, rows[i].kind == ERR_NONE ? 0 : -1);
		if (err.kind != rows[i].kind || !strstr(err.msg, rows[i].message))
			fail_msg("row %zu: %s", i, err.msg);
		assert_int_equal(json_object_size(answer), rows[i].kind == ERR_NONE ? 1 : 0);
		json_decref(answer);
		close(asked);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

static void requests(void **state)
{
	json_t *body = json_pack("{s:s}", "kind", "X");
	struct err err = { 0 };
	char request[8192];
	pid_t child;
	int asked = answer_once("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", &child), status;
	ssize_t n;

	(void)state;
	if (ask(KUBE_CREATE, body, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	json_decref(body);
	n = read(asked, request, sizeof(request) - 1);
	assert_true(n > 0);
	request[n] = '\0';
	if (strncmp(request, "POST /api/v1/x", 14) != 0 || !strstr(request, "Authorization: Bearer t0ken") ||
		!strstr(request, "{\"kind\":\"X\"}"))
		fail_msg("%s", request);
	close(asked);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define ENDLESS_PAGE                                                                                                   \
	"{\"metadata\":{\"continue\":\"more/\"},\"items\":[{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\"}}]}"

/* A fake with an endless list, which stops at `pages`. */
static pid_t answer_endlessly(int pages)
{
	pid_t child = fork();

	if (child == 0) {
		char request[8192];
		int fd = accept(listener, NULL, NULL);

		for (int i = 0; i < pages && recv(fd, request, sizeof(request), 0) > 0; i++)
			dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(ENDLESS_PAGE),
				ENDLESS_PAGE);
		_exit(0);
	}
	return child;
}

static void endless_list_is_an_error(void **state)
{
	struct err err = { 0 };
	struct cluster *c = cluster_new(kubeconfig_path, &err);
	struct cluster_list list = { .cluster = c,
		.api = "/apis/g/v1",
		.plural = "things",
		.query = "labelSelector=a" };
	pid_t child = answer_endlessly(5000);
	int count = 0, status;

	(void)state;
	for (; cluster_next(&list); count++) {
		assert_string_equal(list.path, "/apis/g/v1/namespaces/n/things/a");
		assert_string_equal(list.title, "things n/a");
	}
	assert_int_equal(cluster_list_done(&list, &err), -1);
	if (err.kind != ERR_INVALID || !strstr(err.msg, "/apis/g/v1/things: the list does not end"))
		fail_msg("%s", err.msg);
	assert_true(count > 100 && count < 5000);
	cluster_free(c);
	assert_int_equal(waitpid(child, &status, 0), child);
}

static void no_cluster(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_null(cluster_new("/nonexistent/kubeconfig", &err));
	assert_non_null(strstr(err.msg, "/nonexistent/kubeconfig"));
	cluster_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles_answers),
		cmocka_unit_test(requests),
		cmocka_unit_test(endless_list_is_an_error),
		cmocka_unit_test(no_cluster),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
