/* SPDX-License-Identifier: Apache-2.0 */
#include "net/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * A path, or "@name" in the abstract namespace. Returns the length for sendto; 0 for anything else.
 */
static socklen_t address_of(const char *text, struct sockaddr_un *address)
{
	size_t len = strlen(text);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((text[0] != '/' && text[0] != '@') || len < 2 || len >= sizeof(address->sun_path))
		return 0;
	memcpy(address->sun_path, text, len);
	if (text[0] == '@')
		address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void notify_send(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t len = name ? address_of(name, &address) : 0;
	int fd;

	if (len == 0)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, len);
	close(fd);
}

void notify_reloading(void)
{
	struct timespec now;
	char state[64];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	notify_send(state);
}

static long long number(const char *text)
{
	char *end;
	long long value = text ? strtoll(text, &end, 10) : 0;

	return text && *text && !*end ? value : 0;
}

int64_t notify_watchdog_ms(void)
{
	const char *pid = getenv("WATCHDOG_PID");
	long long us = number(getenv("WATCHDOG_USEC"));

	if (us <= 0 || (pid && number(pid) != getpid()))
		return 0;
	return us / 2000 > 0 ? us / 2000 : 1;
}
