/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgpump.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/pg/pgguard.h"
#include "net/pg/pgscram.h"
#include "net/pg/pgtls.h"
#include "net/stream.h"

#define CHUNK_BYTES 16384
/* libpq reads at least so many bytes in one call (pqReadData), and the socket pair holds more. */
#define PIECE_BYTES ((size_t)8192)
#define MOVE_BYTES  ((size_t)4096)

struct pgpump {
	struct loop *loop;
	struct pgpump_config config;
	const struct pgpump_handler *handler;
	void *arg;
	int fd;               /* the server's, until it is the bufferevent's; else -1 */
	int pair;             /* our end */
	ino_t inode;          /* of libpq's end */
	struct event *answer; /* waits for the answer to the request for TLS; NULL */
	struct loop_task begin;
	struct bufferevent *server; /* NULL: not yet, or no more */
	SSL *ssl;                   /* the bufferevent's; NULL: in the clear */
	bool shaking, freed;
	struct pgguard guard;
	struct pgscram *scram; /* during our SCRAM login; else NULL */
};

static void end(struct pgpump *p, enum err_kind kind, const char *text)
{
	struct err err;

	err_set(&err, kind, "%s", text);
	p->handler->ended(p->arg, &err);
}

/* ---- From the server ---- */

/* False: the pump has ended. */
static bool pass(struct pgpump *p, const unsigned char *bytes, size_t len)
{
	if (len == 0)
		return true;
	if (send(p->pair, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len)
		p->handler->came(p->arg);
	else
		end(p, ERR_BUG, "libpq does not read its data");
	return !p->freed;
}

static void put(struct pgpump *p, const unsigned char *bytes, size_t len);

static void on_scram_say(void *arg, const unsigned char *bytes, size_t len)
{
	struct pgpump *p = arg;

	if (p->server)
		put(p, bytes, len);
}

static void on_scram_failed(void *arg, const struct err *why)
{
	end(arg, why->kind, why->msg);
}

/* False: the login has failed. */
static bool log_in(struct pgpump *p)
{
	static const struct pgscram_handler handler = { .say = on_scram_say, .failed = on_scram_failed };
	const struct pgscram_config config = { .salter = p->config.salter,
		.password = p->config.password,
		.memory = p->config.memory,
		.namespace_ = p->config.namespace_ };
	struct err err;

	if (!p->scram)
		p->scram = pgscram_new(&config, &handler, p);
	if (pgscram_take(p->scram, p->guard.said_code, (const char *)p->guard.said, p->guard.said_len, &err) == 0)
		return true;
	end(p, err.kind, err.msg);
	return false;
}

/* Passes on the valid messages before an invalid one: they may contain the server's reason. */
static void on_server_read(struct bufferevent *bev, void *arg)
{
	struct pgpump *p = arg;
	struct evbuffer *came = bufferevent_get_input(bev);
	size_t len, used, kept;

	loop_enter(p->loop);
	while (p->server && (len = evbuffer_get_length(came)) > 0) {
		unsigned char piece[PIECE_BYTES];

		len = len < PIECE_BYTES ? len : PIECE_BYTES;
		evbuffer_copyout(came, piece, len);
		used = pgguard_take(&p->guard, piece, len, &kept);
		evbuffer_drain(came, used);
		if (!pass(p, piece, kept))
			return;
		if (p->guard.err.kind != ERR_NONE) {
			p->handler->ended(p->arg, &p->guard.err);
			return;
		}
		if (p->guard.said && !log_in(p))
			return;
		if (used == 0)
			return; /* the rest of a message must arrive first */
	}
}

/* Whether the stream ended due to TLS: in TLS 1.3 certificates are refused after the handshake. */
static bool is_end_of_tls(struct pgpump *p, short what, int error, struct err *err)
{
	unsigned long code = p->ssl ? bufferevent_get_openssl_error(p->server) : 0;

	if (code < 16) /* libevent returns OpenSSL's result codes in the same list as its errors */
		code = 0;
	if (!p->shaking && !code)
		return false;
	pgtls_explain(p->ssl, p->config.host, code, what & BEV_EVENT_EOF ? 0 : error, err);
	return true;
}

static void on_server_event(struct bufferevent *bev, short what, void *arg)
{
	struct pgpump *p = arg;
	int error = errno;
	bool of_tls;
	struct err err;

	loop_enter(p->loop);
	if (what & BEV_EVENT_CONNECTED) {
		p->shaking = false;
		p->handler->ready(p->arg);
		return;
	}
	of_tls = is_end_of_tls(p, what, error, &err);
	on_server_read(bev, p);
	if (p->freed)
		return;
	if (of_tls) {
		p->handler->ended(p->arg, &err);
		return;
	}
	shutdown(p->pair, SHUT_WR);
	p->handler->came(p->arg);
}

/* ---- Starting ---- */

static void serve(struct pgpump *p)
{
	p->fd = -1;
	bufferevent_set_max_single_read(p->server, CHUNK_BYTES);
	bufferevent_setcb(p->server, on_server_read, NULL, on_server_event, p);
	bufferevent_enable(p->server, EV_READ | EV_WRITE);
}

static void begin_clear(struct pgpump *p)
{
	p->server = bufferevent_socket_new(loop_base(p->loop), p->fd, BEV_OPT_CLOSE_ON_FREE);
	serve(p);
	p->handler->ready(p->arg);
}

static void begin_tls(struct pgpump *p)
{
	struct err err;

	p->ssl = pgtls_session(p->config.endpoint, p->config.host, &err);
	p->server = p->ssl ? stream_tls(p->loop, p->fd, p->ssl, &err) : NULL;
	p->shaking = true;
	if (p->server) {
		serve(p);
		return;
	}
	p->ssl = NULL;
	p->handler->ended(p->arg, &err);
}

static void on_tls_answer(evutil_socket_t fd, short what, void *arg)
{
	struct pgpump *p = arg;
	char byte, text[80];
	ssize_t n = recv(fd, &byte, 1, 0);

	(void)what;
	loop_enter(p->loop);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	event_free(p->answer);
	p->answer = NULL;
	if (n == 1 && byte == 'S') {
		begin_tls(p);
	} else if (n == 1 && byte == 'N' && !pgtls_is_required(p->config.endpoint)) {
		begin_clear(p);
	} else if (n == 1) {
		snprintf(text, sizeof(text),
			byte == 'N'           ? "server does not support SSL, but SSL was required"
				: byte == 'E' ? "server sent an error response during SSL exchange"
					      : "received invalid response to SSL negotiation: %c",
			byte >= ' ' && byte < 0x7f ? byte : '?');
		end(p, ERR_TEMPORARY, text);
	} else {
		end(p, ERR_TEMPORARY, n == 0 ? "server closed the connection unexpectedly" : strerror(errno));
	}
}

static void ask_for_tls(struct pgpump *p)
{
	static const unsigned char request[] = { 0, 0, 0, 8, 4, 210, 22, 47 };

	if (send(p->fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request)) {
		end(p, ERR_TEMPORARY, strerror(errno));
		return;
	}
	p->answer = event_new(loop_base(p->loop), p->fd, EV_READ | EV_PERSIST, on_tls_answer, p);
	event_add(p->answer, NULL);
}

static void on_begin(void *arg)
{
	struct pgpump *p = arg;

	if (!p->config.tls)
		begin_clear(p);
	else if (pgtls_is_direct(p->config.endpoint))
		begin_tls(p);
	else
		ask_for_tls(p);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

bool pgpump_is_at(const struct pgpump *p, int fd)
{
	return inode_of(fd) == p->inode;
}

struct pgpump *pgpump_new(struct loop *loop, int fd, const struct pgpump_config *config,
	const struct pgpump_handler *handler, void *arg, struct err *err)
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
	p->config = *config;
	p->handler = handler;
	p->arg = arg;
	p->fd = moved;
	p->pair = pair[1];
	p->inode = inode_of(fd);
	p->guard.listens = config->listens;
	p->guard.channel = config->endpoint->binds_channel;
	p->guard.logs_in = config->salter && pgscram_may_use(config->password);
	loop_task_init(&p->begin, on_begin, p);
	loop_task_queue(loop, &p->begin);
	return p;
}

/* ---- To the server ---- */

/* Writes at once if possible, as the loop would call epoll first. */
static void put(struct pgpump *p, const unsigned char *bytes, size_t len)
{
	ssize_t sent = 0;

	if (!p->ssl && evbuffer_get_length(bufferevent_get_output(p->server)) == 0)
		sent = send(bufferevent_getfd(p->server), bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	sent = sent < 0 ? 0 : sent; /* reading will report the error */
	if ((size_t)sent < len)
		bufferevent_write(p->server, bytes + sent, len - (size_t)sent);
}

/* Sends all that libpq has written, followed by the tail. */
static void move_to_server(struct pgpump *p, const char *tail, size_t tail_len)
{
	unsigned char bytes[MOVE_BYTES + sizeof(PGGUARD_RESET)];
	bool more = true;

	while (more) {
		ssize_t n = recv(p->pair, bytes, MOVE_BYTES, MSG_DONTWAIT);
		size_t len = n > 0 ? (size_t)n : 0;

		more = len == MOVE_BYTES;
		if (!more && tail_len > 0)
			memcpy(bytes + len, tail, tail_len);
		len += more ? 0 : tail_len;
		if (len > 0 && p->server)
			put(p, bytes, len);
		mem_wipe(bytes, len); /* it may be the password */
	}
}

void pgpump_send(struct pgpump *p)
{
	move_to_server(p, NULL, 0);
}

void pgpump_opened(struct pgpump *p)
{
	pgguard_opened(&p->guard);
	pgscram_free(p->scram);
	p->scram = NULL;
}

void pgpump_ask(struct pgpump *p)
{
	pgguard_asked(&p->guard);
}

void pgpump_asked(struct pgpump *p)
{
	move_to_server(p, PGGUARD_RESET, p->config.listens ? 0 : sizeof(PGGUARD_RESET));
}

/* ---- The end ---- */

/* Sends Terminate: without it the server would log a lost connection. */
static void take_leave(struct pgpump *p)
{
	static const unsigned char terminate[] = { 'X', 0, 0, 0, 4 };

	if (p->guard.phase != PGGUARD_OPEN || evbuffer_get_length(bufferevent_get_output(p->server)) > 0)
		return;
	if (p->ssl && SSL_write(p->ssl, terminate, sizeof(terminate)) > 0)
		SSL_shutdown(p->ssl);
	else if (!p->ssl)
		send(bufferevent_getfd(p->server), terminate, sizeof(terminate), MSG_NOSIGNAL | MSG_DONTWAIT);
	ERR_clear_error();
}

void pgpump_free(struct pgpump *p)
{
	if (!p)
		return;
	p->freed = true;
	pgscram_free(p->scram);
	p->scram = NULL;
	loop_task_cancel(p->loop, &p->begin);
	if (p->answer)
		event_free(p->answer);
	if (p->server) {
		take_leave(p);
		bufferevent_free(p->server);
		p->server = NULL;
	}
	if (p->fd >= 0)
		close(p->fd);
	close(p->pair);
	p->fd = p->pair = -1;
	loop_free_later(p->loop, p, free); /* its own functions may be on the stack */
}

bool pgpump_has_tls(const struct pgpump *p)
{
	return p && p->ssl;
}

bool pgpump_is_shaking(const struct pgpump *p)
{
	return p->shaking;
}

bool pgpump_is_refused(const struct pgpump *p)
{
	return p->guard.err.kind != ERR_NONE;
}

bool pgpump_complained(const struct pgpump *p)
{
	return p && p->guard.complained;
}

bool pgpump_is_worn(const struct pgpump *p)
{
	return p->guard.worn;
}

size_t pgpump_bytes(const struct pgpump *p)
{
	return p ? p->guard.bytes : 0;
}
