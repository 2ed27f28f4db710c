/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/notify.h"

/* Binds a datagram socket in the abstract space and names it in the environment. */
static int listen_as_manager(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int len = snprintf(name, sizeof(name), "@kscaled-notify-test-%d", getpid());

	memcpy(address.sun_path + 1, name + 1, (size_t)len - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void a_state_arrives_as_one_datagram(void **state)
{
	int fd = listen_as_manager();
	char got[64];
	ssize_t len;

	(void)state;
	notify_send("READY=1\nSTATUS=3 ScaledObjects");
	len = recv(fd, got, sizeof(got) - 1, 0);
	assert_int_equal(len, 30);
	got[len] = '\0';
	assert_string_equal(got, "READY=1\nSTATUS=3 ScaledObjects");
	close(fd);
}

static void a_reload_has_its_time(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), us = 0;
	socklen_t len = sizeof(address);
	char got[128] = "", name[128];

	(void)state;
	/* The kernel chooses a name. */
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(name, sizeof(name), "@%.*s", (int)(len - sizeof(sa_family_t) - 1), address.sun_path + 1);
	setenv("NOTIFY_SOCKET", name, 1);
	notify_reloading();
	unsetenv("NOTIFY_SOCKET");
	assert_true(recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT) > 0);
	assert_true(sscanf(got, "RELOADING=1\nMONOTONIC_USEC=%*[0-9]%n", &us) == 0 && us > 0 && got[us] == '\0');
	close(fd);
}

static void without_a_manager_nothing_happens(void **state)
{
	static const char *const names[] = { "", "@", "relative", "/nowhere/at/all" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		setenv("NOTIFY_SOCKET", names[i], 1);
		notify_send("READY=1");
	}
	unsetenv("NOTIFY_SOCKET");
	notify_send("READY=1");
}

static void the_watchdog_is_fed_twice_per_period(void **state)
{
	char pid[16];
	static const struct {
		const char *usec;
		bool ours;
		int64_t ms;
	} cases[] = { { "30000000", true, 15000 }, { "30000000", false, 0 }, { "1", true, 1 }, { "0", true, 0 },
		{ "-5", true, 0 }, { "soon", true, 0 }, { "", true, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(pid, sizeof(pid), "%d", cases[i].ours ? getpid() : getpid() + 1);
		setenv("WATCHDOG_PID", pid, 1);
		setenv("WATCHDOG_USEC", cases[i].usec, 1);
		assert_int_equal(notify_watchdog_ms(), cases[i].ms);
	}
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "2000000", 1);
	assert_int_equal(notify_watchdog_ms(), 1000);
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_watchdog_ms(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_arrives_as_one_datagram),
		cmocka_unit_test(a_reload_has_its_time),
		cmocka_unit_test(without_a_manager_nothing_happens),
		cmocka_unit_test(the_watchdog_is_fed_twice_per_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
