/* SPDX-License-Identifier: Apache-2.0 */
#include "h2server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "net/grpc/grpcframe.h"

#define PREFACE   24
#define HEAD      9
#define BYTES_MAX (16 << 20)

struct connection {
	struct h2server *server;
	struct bufferevent *bytes;
	bool greeted;
	struct buf body; /* of one stream: requests come one after the other here */
	struct connection *prev, *next;
};

struct h2server {
	struct loop *loop;
	struct evconnlistener *listener;
	h2server_fn fn;
	void *arg;
	struct connection *connections, *latest;
	unsigned accepted, requests;
	unsigned char streams; /* at most on a connection; 0: not said */
};

/* ---- Pieces ---- */

void h2server_frame(struct buf *out, unsigned type, unsigned flags, uint32_t stream, const void *payload, size_t len)
{
	const unsigned char head[HEAD] = { (unsigned char)(len >> 16), (unsigned char)(len >> 8), (unsigned char)len,
		(unsigned char)type, (unsigned char)flags, (unsigned char)(stream >> 24), (unsigned char)(stream >> 16),
		(unsigned char)(stream >> 8), (unsigned char)stream };

	buf_append(out, head, sizeof(head));
	buf_append(out, payload, len);
}

/* HPACK: a literal, not indexed, no Huffman code. */
static void put_literal(struct buf *out, const char *name, const char *value)
{
	buf_putc(out, 0);
	buf_putc(out, (char)strlen(name));
	buf_puts(out, name);
	buf_putc(out, (char)strlen(value));
	buf_puts(out, value);
}

static void put_ok(struct buf *block)
{
	buf_putc(block, (char)0x88); /* :status 200 */
	put_literal(block, "content-type", "application/grpc");
}

static void put_status(struct buf *block, const char *code, const char *text)
{
	put_literal(block, "grpc-status", code);
	if (text)
		put_literal(block, "grpc-message", text);
}

static void send_block(struct buf *out, uint32_t stream, struct buf *block, bool last)
{
	h2server_frame(out, H2_HEADERS, H2_END_HEADERS | (last ? H2_END_STREAM : 0), stream, buf_text(block),
		block->len);
	buf_done(block);
}

void h2server_headers(struct buf *out, uint32_t stream)
{
	struct buf block = BUF_INIT(1024);

	put_ok(&block);
	send_block(out, stream, &block, false);
}

void h2server_message(struct buf *out, uint32_t stream, const void *message, size_t len)
{
	struct buf body = BUF_INIT(BYTES_MAX);

	grpcframe_put(&body, message, len);
	h2server_frame(out, H2_DATA, 0, stream, buf_text(&body), body.len);
	buf_done(&body);
}

void h2server_trailers(struct buf *out, uint32_t stream, const char *code, const char *text)
{
	struct buf block = BUF_INIT(1024);

	put_status(&block, code, text);
	send_block(out, stream, &block, true);
}

void h2server_trailers_only(struct buf *out, uint32_t stream, const char *code, const char *text)
{
	struct buf block = BUF_INIT(1024);

	put_ok(&block);
	put_status(&block, code, text);
	send_block(out, stream, &block, true);
}

void h2server_answer(struct buf *out, uint32_t stream, const void *message, size_t len)
{
	h2server_headers(out, stream);
	h2server_message(out, stream, message, len);
	h2server_trailers(out, stream, "0", NULL);
}

/* ---- Connections ---- */

static void connection_free(struct connection *c)
{
	DL_DELETE(c->server->connections, c);
	if (c->server->latest == c)
		c->server->latest = NULL;
	bufferevent_free(c->bytes);
	buf_done(&c->body);
	mem_free_ptr(&c);
}

static void write_bytes(struct connection *c, const struct buf *bytes)
{
	bufferevent_write(c->bytes, buf_text(bytes), bytes->len);
}

static bool answer(struct connection *c, uint32_t stream)
{
	struct h2server *s = c->server;
	struct buf out = BUF_INIT(BYTES_MAX), message = BUF_INIT(BYTES_MAX);
	bool stays;

	if (c->body.len > GRPCFRAME_HEAD)
		buf_append(&message, c->body.data + GRPCFRAME_HEAD, c->body.len - GRPCFRAME_HEAD);
	buf_reset(&c->body);
	s->latest = c;
	stays = s->fn(s->arg, s->requests++, stream, &message, &out);
	write_bytes(c, &out);
	bufferevent_flush(c->bytes, EV_WRITE, BEV_FLUSH);
	buf_done(&out);
	buf_done(&message);
	return stays;
}

static void on_written(struct bufferevent *bytes, void *arg)
{
	(void)bytes;
	connection_free(arg);
}

static void on_event(struct bufferevent *bytes, short what, void *arg)
{
	(void)bytes;
	(void)what;
	connection_free(arg);
}

/* One frame of the client's; false: there is none whole. */
static bool take_frame(struct connection *c, struct evbuffer *in)
{
	unsigned char head[HEAD];
	size_t len;
	uint32_t stream;
	char *payload;

	if (evbuffer_copyout(in, head, HEAD) < HEAD)
		return false;
	len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
	stream = (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8];
	if (evbuffer_get_length(in) < HEAD + len)
		return false;
	evbuffer_drain(in, HEAD);
	payload = mem_alloc(len + 1);
	evbuffer_remove(in, payload, len);
	if (head[3] == H2_DATA)
		buf_append(&c->body, payload, len);
	mem_free_ptr(&payload);
	if (head[3] == H2_DATA && (head[4] & H2_END_STREAM) && !answer(c, stream)) {
		bufferevent_setcb(c->bytes, NULL, on_written, on_event, c);
		bufferevent_disable(c->bytes, EV_READ);
		return false;
	}
	return true;
}

static void on_read(struct bufferevent *bytes, void *arg)
{
	struct connection *c = arg;
	struct evbuffer *in = bufferevent_get_input(bytes);
	const char limit[] = { 0, 3, 0, 0, 0, (char)c->server->streams }; /* SETTINGS_MAX_CONCURRENT_STREAMS */
	struct buf hello = BUF_INIT(64);

	loop_enter(c->server->loop);
	if (!c->greeted) {
		if (evbuffer_get_length(in) < PREFACE)
			return;
		evbuffer_drain(in, PREFACE);
		c->greeted = true;
		h2server_frame(&hello, 4, 0, 0, limit, c->server->streams ? sizeof(limit) : 0);
		h2server_frame(&hello, 4, 1, 0, "", 0);
		write_bytes(c, &hello);
		buf_done(&hello);
	}
	while (take_frame(c, in))
		;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int len, void *arg)
{
	struct h2server *s = arg;
	struct connection *c = mem_zalloc(sizeof(*c));

	(void)listener;
	(void)address;
	(void)len;
	loop_enter(s->loop);
	s->accepted++;
	c->server = s;
	buf_init(&c->body, BYTES_MAX);
	c->bytes = bufferevent_socket_new(loop_base(s->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(c->bytes, on_read, NULL, on_event, c);
	bufferevent_enable(c->bytes, EV_READ | EV_WRITE);
	DL_APPEND(s->connections, c);
}

struct h2server *h2server_start(struct loop *loop, h2server_fn fn, void *arg)
{
	struct h2server *s = mem_zalloc(sizeof(*s));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	s->loop = loop;
	s->fn = fn;
	s->arg = arg;
	s->listener = evconnlistener_new_bind(loop_base(loop), on_accept, s,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 16, (const struct sockaddr *)&address, sizeof(address));
	return s;
}

void h2server_end(struct h2server *s)
{
	h2server_close(s);
	evconnlistener_free(s->listener);
	mem_free_ptr(&s);
}

void h2server_limit_streams(struct h2server *s, unsigned char streams)
{
	s->streams = streams;
}

uint16_t h2server_port(const struct h2server *s)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&address, &len);
	return ntohs(address.sin_port);
}

unsigned h2server_connections(const struct h2server *s)
{
	return s->accepted;
}

unsigned h2server_requests(const struct h2server *s)
{
	return s->requests;
}

void h2server_send(struct h2server *s, const struct buf *bytes)
{
	if (s->latest)
		write_bytes(s->latest, bytes);
}

void h2server_close(struct h2server *s)
{
	struct connection *c, *next;

	DL_FOREACH_SAFE (s->connections, c, next)
		connection_free(c);
}
