/* SPDX-License-Identifier: Apache-2.0 */
#include "fakeapi.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define HANG_S 60

struct fakeapi {
	struct loop *loop;
	struct evhttp *http;
	char *url;
	struct fakeapi_request *first, *last, *unread;
};

static char *header(struct evhttp_request *req, const char *name)
{
	const char *value = evhttp_find_header(evhttp_request_get_input_headers(req), name);

	return mem_dup(value ? value : "");
}

static const char *method_name(struct evhttp_request *req)
{
	switch (evhttp_request_get_command(req)) {
	case EVHTTP_REQ_GET: return "GET";
	case EVHTTP_REQ_POST: return "POST";
	case EVHTTP_REQ_PUT: return "PUT";
	case EVHTTP_REQ_PATCH: return "PATCH";
	case EVHTTP_REQ_DELETE: return "DELETE";
	default: return "?";
	}
}

/*
 * A request whose client has gone goes with its connection, or, when its answer was under way, is
 * left to us.
 */
static void forget_requests_of(struct fakeapi *f, struct evhttp_connection *connection)
{
	for (struct fakeapi_request *r = f->first; r; r = r->next) {
		struct evhttp_request *req = r->req;

		if (!req || (evhttp_request_get_connection(req) && evhttp_request_get_connection(req) != connection))
			continue;
		r->req = NULL;
		if (!evhttp_request_get_connection(req))
			evhttp_send_reply_end(req); /* frees it */
	}
}

static void on_close(struct evhttp_connection *connection, void *arg)
{
	forget_requests_of(arg, connection);
}

/* Removes "timeout=123ms", which varies, from the end of the address. */
static int64_t take_timeout(char *uri)
{
	char *at = strstr(uri, "timeout="), *end;
	long long ms;

	if (!at || at == uri || !strchr("?&", at[-1]))
		return 0;
	ms = strtoll(at + strlen("timeout="), &end, 10);
	assert_string_equal(end, "ms");
	assert_true(ms > 0);
	at[-1] = '\0';
	return ms;
}

static void on_request(struct evhttp_request *req, void *arg)
{
	struct fakeapi *f = arg;
	struct fakeapi_request *r = mem_zalloc(sizeof *r);
	struct evbuffer *body = evhttp_request_get_input_buffer(req);

	r->method = mem_dup(method_name(req));
	r->uri = mem_dup(evhttp_request_get_uri(req));
	r->timeout_ms = take_timeout(r->uri);
	r->body = mem_dupn((const char *)evbuffer_pullup(body, -1), evbuffer_get_length(body));
	r->authorization = header(req, "Authorization");
	r->content_type = header(req, "Content-Type");
	r->accept = header(req, "Accept");
	r->user_agent = header(req, "User-Agent");
	r->req = req;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_close, f);
	if (f->last)
		f->last->next = r;
	else
		f->first = r;
	f->last = r;
	if (!f->unread)
		f->unread = r;
}

struct fakeapi *fakeapi_new(struct loop *loop)
{
	struct fakeapi *f = mem_zalloc(sizeof *f);
	struct evhttp_bound_socket *bound;
	struct sockaddr_in address;
	socklen_t len = sizeof address;

	f->loop = loop;
	f->http = evhttp_new(loop_base(loop));
	evhttp_set_gencb(f->http, on_request, f);
	evhttp_set_allowed_methods(f->http,
		EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE);
	bound = evhttp_bind_socket_with_handle(f->http, "127.0.0.1", 0);
	assert_non_null(bound);
	assert_int_equal(getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &len), 0);
	f->url = mem_printf("http://127.0.0.1:%d", ntohs(address.sin_port));
	alarm(HANG_S);
	return f;
}

void fakeapi_free(struct fakeapi *f)
{
	struct fakeapi_request *r, *next;

	alarm(0);
	forget_requests_of(f, NULL);
	evhttp_free(f->http);
	for (r = f->first; r; r = next) {
		next = r->next;
		free(r->method);
		free(r->uri);
		free(r->body);
		free(r->authorization);
		free(r->content_type);
		free(r->accept);
		free(r->user_agent);
		free(r);
	}
	free(f->url);
	free(f);
}

const char *fakeapi_url(const struct fakeapi *f)
{
	return f->url;
}

struct kube_config fakeapi_config(const struct fakeapi *f, const char *token)
{
	return (struct kube_config){ .server = mem_dup(f->url), .token = mem_dup(token), .source = mem_dup("a test") };
}

struct fakeapi_request *fakeapi_next(struct fakeapi *f)
{
	struct fakeapi_request *r;

	while (!f->unread)
		loop_turn(f->loop);
	r = f->unread;
	f->unread = r->next;
	return r;
}

struct fakeapi_request *fakeapi_expect(struct fakeapi *f, const char *what)
{
	struct fakeapi_request *r = fakeapi_next(f);
	MEM_AUTO char *got = mem_printf("%s %s", r->method, r->uri);
	size_t len = strlen(what);

	if (what[len - 1] == '*')
		got[strlen(got) < len - 1 ? strlen(got) : len - 1] = '\0';
	if (what[len - 1] != '*' || strncmp(got, what, len - 1) != 0)
		assert_string_equal(got, what);
	return r;
}

size_t fakeapi_waiting(const struct fakeapi *f)
{
	size_t n = 0;

	for (const struct fakeapi_request *r = f->unread; r; r = r->next)
		n++;
	return n;
}

static void reply_with(struct fakeapi_request *r, int status, const char *json, const char *name, const char *value)
{
	struct evhttp_request *req = r->req;

	assert_non_null(req);
	r->req = NULL;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "application/json");
	evhttp_add_header(evhttp_request_get_output_headers(req), name, value);
	evbuffer_add(evhttp_request_get_output_buffer(req), json, strlen(json));
	evhttp_send_reply(req, status, "as the test says", NULL);
}

void fakeapi_reply_retry_after(struct fakeapi_request *r, int status, const char *json, const char *retry_after)
{
	reply_with(r, status, json, "Retry-After", retry_after);
}

void fakeapi_reply(struct fakeapi_request *r, int status, const char *json)
{
	/*
	 * Each request comes on a connection of its own: on one that it used before, libcurl itself
	 * tries again after a cut.
	 */
	reply_with(r, status, json, "Connection", "close");
}

void fakeapi_stream_start(struct fakeapi_request *r)
{
	assert_non_null(r->req);
	evhttp_add_header(evhttp_request_get_output_headers(r->req), "Content-Type", "application/json");
	evhttp_send_reply_start(r->req, 200, "OK");
}

void fakeapi_stream_send(struct fakeapi_request *r, const char *text)
{
	struct evbuffer *chunk = evbuffer_new();

	assert_non_null(r->req);
	evbuffer_add(chunk, text, strlen(text));
	evhttp_send_reply_chunk(r->req, chunk);
	evbuffer_free(chunk);
}

void fakeapi_stream_end(struct fakeapi_request *r)
{
	struct evhttp_request *req = r->req;

	assert_non_null(req);
	r->req = NULL;
	evhttp_send_reply_end(req);
}

void fakeapi_cut(struct fakeapi_request *r)
{
	struct evhttp_connection *connection;

	assert_non_null(r->req);
	connection = evhttp_request_get_connection(r->req);
	r->req = NULL;
	evhttp_connection_free(connection);
}

void fakeapi_turn_until(struct fakeapi *f, const bool *flag)
{
	while (!*flag)
		loop_turn(f->loop);
}

static void on_time(void *arg)
{
	*(bool *)arg = true;
}

void fakeapi_turn_for(struct fakeapi *f, int64_t ms)
{
	bool over = false;
	struct loop_timer timer;

	loop_timer_init(&timer, f->loop, on_time, &over);
	loop_timer_set(&timer, ms);
	fakeapi_turn_until(f, &over);
	loop_timer_done(&timer);
}
