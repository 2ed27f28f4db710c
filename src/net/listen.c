/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

/* Copies the address without brackets. False: too long. */
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

/* ---- Unix sockets ---- */

static int address_of(const char *path, struct sockaddr_un *address, struct err *err)
{
	size_t len = strlen(path);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len >= sizeof(address->sun_path))
		return err_set(err, ERR_INVALID, "%.160s: a Unix socket's path has at most %zu bytes, this one %zu",
			path, sizeof(address->sun_path) - 1, len);
	memcpy(address->sun_path, path, len);
	return 0;
}

static int find_group(const char *group, gid_t *gid, struct err *err)
{
	const struct group *found;
	char *end;
	unsigned long number = strtoul(group, &end, 10);

	if (*group >= '0' && *group <= '9' && !*end && number < UINT32_MAX) {
		*gid = (gid_t)number;
		return 0;
	}
	found = getgrnam(group);
	if (!found)
		return err_set(err, ERR_INVALID, "there is no group \"%.64s\" on this host", group);
	*gid = found->gr_gid;
	return 0;
}

/* 0 if a process listens at the address; otherwise errno. */
static int try_to_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), failure = 0;

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		failure = errno;
	if (fd >= 0)
		close(fd);
	return failure == EAGAIN ? 0 : failure; /* its queue is full */
}

/* Removes the socket of a process that has ended, and nothing else. */
static int make_way(const struct sockaddr_un *address, struct err *err)
{
	const char *path = address->sun_path;
	struct stat st;
	int failure;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_INVALID, "%s: exists and is not a socket; it is not removed", path);
	failure = try_to_connect(address);
	if (failure == 0)
		return err_set(err, ERR_CONFLICT, "%s: another process answers there", path);
	if (failure != ECONNREFUSED)
		return err_set(err, ERR_INVALID, "%s: %s", path, strerror(failure));
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, ERR_INVALID, "%s: left by a process that has ended, and cannot be removed: %s",
			path, strerror(errno));
	return 0;
}

/*
 * On Linux the file gets the mode of the socket (net/unix/af_unix.c, unix_bind), so it is never
 * open to all.
 */
static int bind_unix(int fd, const struct sockaddr_un *address, struct err *err)
{
	if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return 0;
	return err_set(err, errno == EADDRINUSE ? ERR_CONFLICT : ERR_INVALID, "%s: %s", address->sun_path,
		strerror(errno));
}

/* If the file has the group already, no right to change it is needed. */
static int give_to_group(const char *path, const char *group, struct err *err)
{
	struct stat st;
	gid_t gid = 0;

	if (find_group(group, &gid, err) < 0)
		return -1;
	if ((lstat(path, &st) == 0 && st.st_gid == gid) || lchown(path, (uid_t)-1, gid) == 0)
		if (chmod(path, 0660) == 0)
			return 0;
	return err_set(err, ERR_INVALID, "%s: cannot be given to group %.64s: %s", path, group, strerror(errno));
}

int listen_unix(const char *path, const char *group, struct err *err)
{
	struct sockaddr_un address;
	int fd;

	if (address_of(path, &address, err) < 0 || make_way(&address, err) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(err, ERR_TEMPORARY, "%s: %s", path, strerror(errno));
	if (bind_unix(fd, &address, err) < 0) {
		close(fd);
		return -1;
	}
	if (group && *group && give_to_group(path, group, err) < 0) {
		unlink(path);
		close(fd);
		return -1;
	}
	if (listen(fd, BACKLOG) == 0)
		return fd;
	err_set(err, ERR_TEMPORARY, "%s: %s", path, strerror(errno));
	unlink(path);
	close(fd);
	return -1;
}

void listen_unlink(int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	socklen_t len = sizeof(address);
	struct stat st;

	if (getsockname(fd, (struct sockaddr *)&address, &len) < 0 || address.sun_family != AF_UNIX)
		return;
	/* If another process listens there by now, it answers; our own listener no longer does. */
	shutdown(fd, SHUT_RDWR);
	if (lstat(address.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) && try_to_connect(&address) == ECONNREFUSED)
		unlink(address.sun_path);
}

uint16_t listen_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
		return 0;
	if (sa.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&sa)->sin6_port);
	return sa.ss_family == AF_INET ? ntohs(((struct sockaddr_in *)&sa)->sin_port) : 0;
}
