/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpsockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/descriptors.h"
#include "net/http/httpproxies.h"
#include "net/network.h"
#include "net/sourcerules.h"

struct httpsocket {
	int fd;    /* the key */
	ino_t ino; /* inode: detects that the descriptor has been reused */
	struct descriptors_hold hold;
	struct httpsockets_made *made; /* NULL: its request has ended */
	struct httpsocket *prev, *next;
	UT_hash_handle hh;
};

static ino_t ino_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void part(struct httpsocket *socket_)
{
	if (socket_->made)
		DL_DELETE(socket_->made->first, socket_);
	socket_->made = NULL;
}

static void forget_socket(struct httpsockets *s, struct httpsocket *socket_)
{
	part(socket_);
	descriptors_give(&socket_->hold, 0);
	HASH_DEL(s->open, socket_);
	free(socket_);
}

static void forget_closed(struct httpsockets *s, struct httpsockets_made *made)
{
	struct httpsocket *socket_, *next;

	DL_FOREACH_SAFE (made->first, socket_, next)
		if (ino_of(socket_->fd) != socket_->ino)
			forget_socket(s, socket_);
}

static struct httpsocket *socket_of(struct httpsockets *s, int fd)
{
	struct httpsocket *socket_;

	HASH_FIND_INT(s->open, &fd, socket_);
	return socket_;
}

curl_socket_t httpsockets_open(struct httpsockets *s, struct httpsockets_made *made,
	const struct curl_sockaddr *address, const char *namespace_, struct err *err)
{
	struct descriptors_hold hold = { .namespace_ = namespace_ };
	struct httpsocket *socket_;
	int fd;

	forget_closed(s, made);
	if ((sourcerules_judge(&network_of(s->loop)->rules, &address->addr, address->addrlen, err) &&
		    !httpproxies_have(&address->addr)) ||
		descriptors_take(&network_of(s->loop)->descriptors, &hold, err))
		return CURL_SOCKET_BAD;
	fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	if (fd < 0) {
		err_set(err, ERR_TEMPORARY, "making a socket: %s", strerror(errno));
		descriptors_give(&hold, 0);
		return CURL_SOCKET_BAD;
	}
	socket_ = socket_of(s, fd);
	if (socket_) /* libcurl closed it silently: otherwise its number would not be free */
		forget_socket(s, socket_);
	hold.namespace_ = NULL; /* the request's */
	socket_ = mem_zalloc(sizeof(*socket_));
	socket_->fd = fd;
	socket_->ino = ino_of(fd);
	socket_->hold = hold;
	socket_->made = made;
	DL_APPEND(made->first, socket_);
	HASH_ADD_INT(s->open, fd, socket_);
	return fd;
}

void httpsockets_close(struct httpsockets *s, curl_socket_t fd)
{
	struct httpsocket *socket_ = socket_of(s, fd);

	if (socket_)
		forget_socket(s, socket_);
	close(fd);
}

void httpsockets_let_go(struct httpsockets *s, struct httpsockets_made *made)
{
	forget_closed(s, made);
	while (made->first)
		part(made->first);
}

void httpsockets_done(struct httpsockets *s)
{
	struct httpsocket *socket_, *next;

	HASH_ITER (hh, s->open, socket_, next)
		forget_socket(s, socket_);
}
