/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 512

static int listen_on(const struct sockaddr *sa, socklen_t len)
{
	int on = 1, off = 0, saved;
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (sa->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, sa, len) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int listen_v4(struct in_addr address, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address };

	return listen_on((const struct sockaddr *)&sin, sizeof(sin));
}

static int listen_v6(struct in6_addr address, uint16_t port)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = address };

	return listen_on((const struct sockaddr *)&sin6, sizeof(sin6));
}

static int listen_all(uint16_t port)
{
	struct in_addr any = { .s_addr = htonl(INADDR_ANY) };
	int fd = listen_v6(in6addr_any, port);

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
		fd = listen_v4(any, port);
	return fd;
}

/* Without brackets, into out. */
static bool bare_literal(const char *address, char *out, size_t size)
{
	size_t len = strlen(address);

	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (len >= size)
		return false;
	memcpy(out, address, len);
	out[len] = '\0';
	return true;
}

int listen_tcp(const char *address, uint16_t port, struct err *err)
{
	char literal[INET6_ADDRSTRLEN];
	struct in_addr v4;
	struct in6_addr v6;
	int fd;

	if (!address || !address[0])
		fd = listen_all(port);
	else if (!bare_literal(address, literal, sizeof(literal)))
		return err_set(err, ERR_INVALID, "listening on \"%s\": not an IP address", address);
	else if (inet_pton(AF_INET, literal, &v4) == 1)
		fd = listen_v4(v4, port);
	else if (inet_pton(AF_INET6, literal, &v6) == 1)
		fd = listen_v6(v6, port);
	else
		return err_set(err, ERR_INVALID, "listening on \"%s\": not an IP address", address);
	if (fd < 0)
		return err_set(err, ERR_TEMPORARY, "listening on %s port %u: %s",
			address && address[0] ? address : "all addresses", port, strerror(errno));
	return fd;
}

uint16_t listen_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return 0;
	if (sa.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&sa)->sin6_port);
	return ntohs(((struct sockaddr_in *)&sa)->sin_port);
}
