/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpsockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/descriptors.h"
#include "net/sourcerules.h"

struct httpsocket {
	int fd; /* the key */
	struct descriptors_hold hold;
	UT_hash_handle hh;
};

curl_socket_t httpsockets_open(struct httpsockets *s, const struct curl_sockaddr *address, const char *namespace_,
	struct err *err)
{
	struct descriptors_hold hold = { .namespace_ = namespace_ };
	struct httpsocket *socket_;
	int fd;

	if (sourcerules_judge(loop_source_rules(s->loop), &address->addr, address->addrlen, err) ||
		descriptors_take(loop_descriptors(s->loop), &hold, err))
		return CURL_SOCKET_BAD;
	fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	if (fd < 0) {
		err_set(err, ERR_TEMPORARY, "making a socket: %s", strerror(errno));
		descriptors_give(&hold, 0);
		return CURL_SOCKET_BAD;
	}
	hold.namespace_ = NULL; /* the request's */
	socket_ = mem_zalloc(sizeof(*socket_));
	socket_->fd = fd;
	socket_->hold = hold;
	HASH_ADD_INT(s->open, fd, socket_);
	return fd;
}

void httpsockets_close(struct httpsockets *s, curl_socket_t fd)
{
	struct httpsocket *socket_;

	HASH_FIND_INT(s->open, &fd, socket_);
	if (socket_) {
		descriptors_give(&socket_->hold, 0);
		HASH_DEL(s->open, socket_);
		free(socket_);
	}
	close(fd);
}
