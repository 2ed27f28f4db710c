/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgpump.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/pg/pglogin.h"

#define CHUNK_BYTES 16384

struct pgpump {
	struct loop *loop;
	struct bufferevent *server, *libpq;
	ino_t inode; /* of libpq's end of the pair */
	size_t bytes;
	bool ended; /* the server has closed; libpq sees it after the remaining data */
	bool watches_login;
	struct pglogin login;
};

static void end_server(struct pgpump *p)
{
	bufferevent_free(p->server);
	p->server = NULL;
	p->ended = true;
	if (evbuffer_get_length(bufferevent_get_output(p->libpq)) == 0)
		shutdown(bufferevent_getfd(p->libpq), SHUT_WR);
}

/* Passes on what libpq may see. */
static void move_to_libpq(struct pgpump *p)
{
	struct evbuffer *came = bufferevent_get_input(p->server);
	size_t len = evbuffer_get_length(came);

	if (p->watches_login)
		len = pglogin_server(&p->login, evbuffer_pullup(came, -1), len);
	evbuffer_remove_buffer(came, bufferevent_get_output(p->libpq), len);
}

static void on_server_read(struct bufferevent *bev, void *arg)
{
	struct pgpump *p = arg;

	loop_enter(p->loop);
	p->bytes += evbuffer_get_length(bufferevent_get_input(bev));
	/* Stops reading until libpq has read this. */
	bufferevent_disable(bev, EV_READ);
	move_to_libpq(p);
	if (p->login.asks)
		end_server(p);
}

static void on_libpq_written(struct bufferevent *bev, void *arg)
{
	struct pgpump *p = arg;

	if (p->ended)
		shutdown(bufferevent_getfd(bev), SHUT_WR);
	if (p->server)
		bufferevent_enable(p->server, EV_READ);
}

static void on_libpq_read(struct bufferevent *bev, void *arg)
{
	struct pgpump *p = arg;

	loop_enter(p->loop);
	if (!p->server)
		return;
	if (p->watches_login && p->login.state == PGLOGIN_SILENT) {
		struct evbuffer *said = bufferevent_get_input(bev);

		pglogin_client(&p->login, evbuffer_pullup(said, -1), evbuffer_get_length(said));
		move_to_libpq(p); /* data that had to wait */
	}
	bufferevent_write_buffer(p->server, bufferevent_get_input(bev));
	if (p->login.asks)
		end_server(p);
}

/* When one side closes, so does the other; libpq reads the remaining data first. */
static void on_server_event(struct bufferevent *bev, short what, void *arg)
{
	struct pgpump *p = arg;

	(void)what;
	loop_enter(p->loop);
	(void)bev;
	move_to_libpq(p);
	end_server(p);
}

static void on_libpq_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	(void)arg; /* its owner closes both sides */
}

static void go_on(struct pgpump *p)
{
	if (p->server)
		bufferevent_enable(p->server, EV_READ | EV_WRITE);
	bufferevent_enable(p->libpq, EV_READ | EV_WRITE);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

struct pgpump *pgpump_new(struct loop *loop, int fd, bool login, struct err *err)
{
	struct pgpump *p;
	int pair[2], moved = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (moved < 0)
		return err_set(err, ERR_TEMPORARY, "moving a socket: %s", strerror(errno)), NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
		close(moved);
		return err_set(err, ERR_TEMPORARY, "making a pair of sockets: %s", strerror(errno)), NULL;
	}
	dup3(pair[0], fd, O_CLOEXEC);
	close(pair[0]);
	p = mem_zalloc(sizeof(*p));
	p->loop = loop;
	p->watches_login = login;
	p->inode = inode_of(fd);
	p->server = bufferevent_socket_new(loop_base(loop), moved, BEV_OPT_CLOSE_ON_FREE);
	p->libpq = bufferevent_socket_new(loop_base(loop), pair[1], BEV_OPT_CLOSE_ON_FREE);
	bufferevent_set_max_single_read(p->server, CHUNK_BYTES);
	bufferevent_setcb(p->server, on_server_read, NULL, on_server_event, p);
	bufferevent_setcb(p->libpq, on_libpq_read, on_libpq_written, on_libpq_event, p);
	go_on(p);
	return p;
}

void pgpump_free(struct pgpump *p)
{
	if (!p)
		return;
	if (p->server)
		bufferevent_free(p->server);
	bufferevent_free(p->libpq);
	free(p);
}

bool pgpump_is_at(const struct pgpump *p, int fd)
{
	return inode_of(fd) == p->inode;
}

void pgpump_rest(struct pgpump *p)
{
	if (p->server)
		bufferevent_disable(p->server, EV_READ | EV_WRITE);
	bufferevent_disable(p->libpq, EV_READ | EV_WRITE);
}

static bool is_empty(struct bufferevent *bev)
{
	int unread = 1;

	return evbuffer_get_length(bufferevent_get_input(bev)) == 0 &&
		evbuffer_get_length(bufferevent_get_output(bev)) == 0 &&
		ioctl(bufferevent_getfd(bev), FIONREAD, &unread) == 0 && unread == 0;
}

bool pgpump_leave(struct pgpump *p, int fd)
{
	int unread = 1;

	if (!p->server || ioctl(fd, FIONREAD, &unread) < 0 || unread || !is_empty(p->libpq) || !is_empty(p->server)) {
		go_on(p);
		return false;
	}
	dup3(bufferevent_getfd(p->server), fd, O_CLOEXEC);
	pgpump_free(p);
	return true;
}

void pgpump_restart(struct pgpump *p)
{
	if (p)
		p->bytes = 0;
}

size_t pgpump_bytes(const struct pgpump *p)
{
	return p ? p->bytes : 0;
}

const char *pgpump_refused(const struct pgpump *p)
{
	return p && !p->login.complained ? p->login.asks : NULL;
}
