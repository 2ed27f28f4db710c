/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler reads of a request, and the data it keeps with a request or connection. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <utlist.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/httpd/httpd_parts.h"
#include "net/httpd/httppath.h"

static char *keep_decoded(const struct httpd_request *r, const char *text, size_t len, bool plus_is_space)
{
	/* a getter that remembers the texts it handed out */
	struct httpd_request *own = (struct httpd_request *)(uintptr_t)r;
	struct decoded_text *t = mem_alloc(sizeof(*t) + len + 1);

	LL_PREPEND(own->texts, t);
	return httppath_decode(text, len, plus_is_space, t->bytes, len + 1) == 0 ? t->bytes : NULL;
}

const char *httpd_method(const struct httpd_request *r)
{
	switch (evhttp_request_get_command(r->req)) {
	case EVHTTP_REQ_GET: return "GET";
	case EVHTTP_REQ_POST: return "POST";
	case EVHTTP_REQ_HEAD: return "HEAD";
	case EVHTTP_REQ_PUT: return "PUT";
	case EVHTTP_REQ_DELETE: return "DELETE";
	case EVHTTP_REQ_OPTIONS: return "OPTIONS";
	case EVHTTP_REQ_TRACE: return "TRACE";
	case EVHTTP_REQ_CONNECT: return "CONNECT";
	case EVHTTP_REQ_PATCH: return "PATCH";
	}
	return "";
}

const char *httpd_uri(const struct httpd_request *r)
{
	return evhttp_request_get_uri(r->req);
}

const char *httpd_path(const struct httpd_request *r)
{
	const char *path = keep_decoded(r, r->target.path, r->target.path_len, false);

	return path ? path : "";
}

const char *httpd_raw_path(const struct httpd_request *r, size_t *len)
{
	*len = r->target.path_len;
	return r->target.path;
}

int httpd_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size)
{
	return httppath_decode(text, len, plus_is_space, out, size);
}

const char *httpd_query(const struct httpd_request *r, const char *name)
{
	size_t len;
	const char *raw = httppath_param(r->target.query, r->target.query_len, name, &len);

	return raw ? keep_decoded(r, raw, len, true) : NULL;
}

bool httpd_has_query(const struct httpd_request *r, const char *name)
{
	size_t len;

	return httppath_param(r->target.query, r->target.query_len, name, &len) != NULL;
}

const char *httpd_header(const struct httpd_request *r, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(r->req), name);
}

void httpd_each_header(const struct httpd_request *r, httpd_header_fn fn, void *arg)
{
	const struct evkeyval *header;

	TAILQ_FOREACH (header, r->req->input_headers, next)
		fn(arg, header->key, header->value);
}

const char *httpd_body(const struct httpd_request *r, size_t *len)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(r->req);

	*len = evbuffer_get_length(body);
	return *len ? (const char *)evbuffer_pullup(body, -1) : "";
}

const char *httpd_peer(const struct httpd_request *r)
{
	struct httpd_conn *c = r->conn;
	MEM_AUTO char *peer = NULL;
	char *address;
	uint16_t port;

	if (c->h->local)
		return "unix";
	if (c->peer[0])
		return c->peer;
	evhttp_connection_get_peer(c->evcon, &address, &port);
	if (strncmp(address, "::ffff:", 7) == 0 && strchr(address, '.'))
		address += 7;
	peer = hostport_join(address, port);
	snprintf(c->peer, sizeof(c->peer), "%s", peer);
	return c->peer;
}

SSL *httpd_tls(const struct httpd_request *r)
{
	return r->conn->ssl;
}

void *httpd_connection_data(const struct httpd_request *r)
{
	return r->conn->data;
}

void httpd_set_connection_data(struct httpd_request *r, void *data, void (*free_fn)(void *))
{
	struct httpd_conn *c = r->conn;

	if (c->data && c->data_free)
		c->data_free(c->data);
	c->data = data;
	c->data_free = free_fn;
}

void httpd_set_first(struct httpd_request *r, bool first)
{
	struct event_base *base = bufferevent_get_base(r->conn->bev);

	bufferevent_priority_set(r->conn->bev, first ? LOOP_FIRST : event_base_get_npriorities(base) / 2);
}

void httpd_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg)
{
	r->gone_fn = fn;
	r->gone_arg = arg;
}
