/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against a socket of our own, which says what the case wants: a kscaled says no nonsense by
 * itself.
 */
#include "cli/statusclient.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static int listener = -1;
static uint16_t port;

static int setup(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	(void)state;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 5) ||
		getsockname(listener, (struct sockaddr *)&address, &len))
		return -1;
	port = ntohs(address.sin_port);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(listener);
	return 0;
}

/* A child answers one request with these bytes and ends. */
static pid_t answer_once(const char *bytes, size_t len)
{
	pid_t child = fork();
	char request[4096];
	int fd;

	assert_true(child >= 0);
	if (child)
		return child;
	fd = accept(listener, NULL, NULL);
	if (fd < 0 || read(fd, request, sizeof(request)) <= 0)
		_exit(1);
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

static int ask(const char *address, size_t cap, json_t **object, struct err *err)
{
	struct buf body = BUF_INIT(cap);
	int failed = statusclient_get(address, "/explain/shop/web", &body, object, err);

	buf_done(&body);
	return failed;
}

#define OK "HTTP/1.1 200 OK\r\nContent-Length: "

static void what_is_answered(void **state)
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
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope", ERR_TEMPORARY,
			"is no kscaled of this version: HTTP 404" },
		{ "HTTP/1.1 500 No\r\nContent-Length: 15\r\n\r\n{\"message\":\"x\"}", ERR_TEMPORARY,
			"is no kscaled of this version: HTTP 500: x" },
		{ OK "4\r\n\r\n[1] ", ERR_TEMPORARY, "is no kscaled of this version: HTTP 200" },
		{ OK "5\r\n\r\nhello", ERR_TEMPORARY, "is no kscaled of this version: HTTP 200" },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", ERR_TEMPORARY,
			"is no kscaled of this version: HTTP 302" },
		{ OK "100\r\n\r\n{", ERR_TEMPORARY, "no kscaled can be reached at 127.0.0.1:" },
		{ "SSH-2.0-x\r\n", ERR_TEMPORARY, "no kscaled can be reached at 127.0.0.1:" },
		{ OK "2000\r\n\r\n{"
		     "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
		     "56789012345678901234567890123456789",
			ERR_TEMPORARY, "no kscaled can be reached" },
	};
	char address[32];

	(void)state;
	snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)port);
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* of no concern */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = answer_once(cases[i].bytes, strlen(cases[i].bytes));
		struct err err = { 0 };
		json_t *object = NULL;

		ask(address, 100, &object, &err);
		waitpid(child, NULL, 0);
		if (err.kind != cases[i].kind || (cases[i].message && !strstr(err.msg, cases[i].message)))
			fail_msg("case %zu: %s: %s", i, err_kind_name(err.kind), err.msg);
		assert_int_equal(object != NULL, err.kind == ERR_NONE);
		json_decref(object);
	}
	unsetenv("http_proxy");
}

/* What a daemon listens on at all addresses is asked on this host. */
static void all_addresses_are_this_host(void **state)
{
	static const char *const hosts[] = { "", "0.0.0.0", "localhost" };

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		char address[32];
		json_t *object = NULL;
		struct err err = { 0 };
		pid_t child = answer_once(OK "2\r\n\r\n{}", strlen(OK "2\r\n\r\n{}"));

		snprintf(address, sizeof(address), "%s:%u", hosts[i], (unsigned)port);
		if (ask(address, 100, &object, &err))
			fail_msg("%s: %s", address, err.msg);
		waitpid(child, NULL, 0);
		json_decref(object);
	}
}

static void nobody_there(void **state)
{
	json_t *object = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(ask("127.255.255.254:9", 100, &object, &err), -1);
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(err.msg, "no kscaled can be reached at 127.255.255.254:9: "));
	assert_non_null(strstr(err.msg, "; --status-address (KSCALED_STATUS_ADDRESS) says where it listens"));
	assert_int_equal(ask("nonsense", 100, &object, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "--status-address: "));
	assert_null(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_answered),
		cmocka_unit_test(all_addresses_are_this_host),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests_name("cli/statusclient", tests, setup, teardown);
}
