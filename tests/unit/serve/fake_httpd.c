/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_httpd.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "net/httpd/httppath.h"

static char *keep(const struct httpd_request *r, size_t size)
{
	struct httpd_request *own = (struct httpd_request *)(uintptr_t)r;
	struct fake_text *t = mem_alloc(sizeof(*t) + size);

	t->next = own->texts;
	own->texts = t;
	return t->bytes;
}

void fake_httpd_done(struct httpd_request *r)
{
	struct fake_text *t;

	while ((t = r->texts)) {
		r->texts = t->next;
		free(t);
	}
}

void fake_httpd_close(struct fake_connection *c)
{
	if (c->data)
		c->data_free(c->data);
	c->data = NULL;
}

void fake_httpd_leave(struct httpd_request *r)
{
	assert(r->gone && !r->status);
	r->gone(r->gone_arg);
}

bool fake_httpd_says(const struct httpd_request *r, const char *key, const char *text)
{
	json_t *body = json_parse(r->body, r->body_len, NULL);
	bool says = body && strstr(json_str_or_empty(body, key), text);

	if (!says)
		fprintf(stderr, "# not \"%s\" in %s of: %s", text, key, r->body);
	json_decref(body);
	return says;
}

const char *httpd_method(const struct httpd_request *r)
{
	return r->method;
}

const char *httpd_body(const struct httpd_request *r, size_t *len)
{
	*len = r->sent ? strlen(r->sent) : 0;
	return r->sent ? r->sent : "";
}

const char *httpd_uri(const struct httpd_request *r)
{
	return r->uri;
}

const char *httpd_raw_path(const struct httpd_request *r, size_t *len)
{
	struct httppath target;

	httppath_split(r->uri, &target);
	*len = target.path_len;
	return target.path;
}

int httpd_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size)
{
	return httppath_decode(text, len, plus_is_space, out, size);
}

const char *httpd_query(const struct httpd_request *r, const char *name)
{
	struct httppath target;
	const char *raw;
	size_t len;
	char *out;

	httppath_split(r->uri, &target);
	raw = httppath_param(target.query, target.query_len, name, &len);
	if (!raw)
		return NULL;
	out = keep(r, len + 1);
	return httppath_decode(raw, len, true, out, len + 1) ? NULL : out;
}

bool httpd_has_query(const struct httpd_request *r, const char *name)
{
	struct httppath target;
	size_t len;

	httppath_split(r->uri, &target);
	return httppath_param(target.query, target.query_len, name, &len) != NULL;
}

const char *httpd_header(const struct httpd_request *r, const char *name)
{
	for (const struct fake_header *h = r->headers; h->name; h++)
		if (!strcasecmp(h->name, name))
			return h->value;
	return NULL;
}

void httpd_each_header(const struct httpd_request *r, httpd_header_fn fn, void *arg)
{
	for (const struct fake_header *h = r->headers; h->name; h++)
		fn(arg, h->name, h->value);
	for (int i = 0; i < r->repeat_count; i++)
		fn(arg, r->repeat.name, r->repeat.value);
}

const char *httpd_peer(const struct httpd_request *r)
{
	(void)r;
	return "192.0.2.7:51234";
}

SSL *httpd_tls(const struct httpd_request *r)
{
	return r->connection->tls;
}

void *httpd_connection_data(const struct httpd_request *r)
{
	return r->connection->data;
}

void httpd_set_connection_data(struct httpd_request *r, void *data, void (*free_fn)(void *))
{
	r->connection->data = data;
	r->connection->data_free = free_fn;
}

void httpd_set_first(struct httpd_request *r, bool first)
{
	r->connection->first = first;
}

void httpd_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg)
{
	r->gone = fn;
	r->gone_arg = arg;
}

void httpd_add_header(struct httpd_request *r, const char *name, const char *value)
{
	size_t len = strlen(r->reply_headers);

	snprintf(r->reply_headers + len, sizeof(r->reply_headers) - len, "%s: %s\n", name, value);
}

void httpd_reply(struct httpd_request *r, int status, const char *content_type, const void *body, size_t len)
{
	assert(!r->status && len < sizeof(r->body));
	r->status = status;
	snprintf(r->content_type, sizeof(r->content_type), "%s", content_type ? content_type : "");
	if (len)
		memcpy(r->body, body, len);
	r->body[len] = '\0';
	r->body_len = len;
}

/* Servers are not listened with here; serve.c is tried with the real ones. */
int httpd_connections(const struct httpd *h)
{
	(void)h;
	return 3;
}
