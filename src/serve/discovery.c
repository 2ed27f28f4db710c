/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "serve/accept.h"
#include "serve/discoverydocs.h"
#include "serve/machine.h"
#include "serve/request.h"

#define DOCUMENT_MAX 65536
#define ETAG_LEN     16

struct ready {
	char *text;
	size_t len;
	char etag[ETAG_LEN + 3]; /* a hash of the text, in quotes */
};

struct discovery {
	struct ready documents[DOCUMENTS];
};

/* ---- Made at start ---- */

static void put_expanded(struct buf *out, const char *text, const char *version, const struct ready *made)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_putc(out, '"');
		else if (*text != '@')
			buf_putc(out, *text);
		else if (*++text == 'V')
			buf_puts(out, version);
		else if (*text == 'A')
			buf_puts(out, MACHINE_ARCHITECTURE);
		else if (*text == 'H')
			buf_append(out, made[DOCUMENT_OPENAPI_V3_GROUP].etag + 1, ETAG_LEN);
		else
			buf_append(out, made[DOCUMENT_OPENAPI_V3_INSIGHT].etag + 1, ETAG_LEN);
	}
}

static void make_document(struct ready *doc, const char *text, const char *version, const struct ready *made)
{
	struct buf out = BUF_INIT(DOCUMENT_MAX);

	put_expanded(&out, text, version, made);
	buf_putc(&out, '\n');
	doc->len = out.len;
	doc->text = buf_take(&out);
	snprintf(doc->etag, sizeof(doc->etag), "\"%016llX\"",
		(unsigned long long)fingerprint_fast(doc->text, doc->len));
}

struct discovery *discovery_new(const char *version)
{
	struct discovery *d = mem_zalloc(sizeof(*d));

	for (int i = 0; i < DOCUMENTS; i++)
		make_document(&d->documents[i], discoverydocs_all[i].text, version, d->documents);
	return d;
}

void discovery_free(struct discovery *d)
{
	if (!d)
		return;
	for (int i = 0; i < DOCUMENTS; i++)
		free(d->documents[i].text);
	free(d);
}

/* ---- Replies ---- */

static void reply_document(struct request *r, enum document which)
{
	const struct ready *doc = &r->serve->discovery->documents[which];
	const char *content_type = discoverydocs_all[which].content_type,
		   *known = httpd_header(r->http, "If-None-Match");

	httpd_add_header(r->http, "ETag", doc->etag);
	httpd_add_header(r->http, "Vary", "Accept");
	if (known && strstr(known, doc->etag))
		request_reply(r, 304, content_type, NULL, 0);
	else
		request_reply(r, 200, content_type, doc->text, doc->len);
}

/* Clients that accept anything else get the plain list, as before aggregated discovery. */
void discovery_handle_groups(struct request *r)
{
	const char *const offers[] = { [DOCUMENT_GROUPS] = discoverydocs_all[DOCUMENT_GROUPS].content_type,
		[DOCUMENT_GROUPS_V2] = discoverydocs_all[DOCUMENT_GROUPS_V2].content_type,
		[DOCUMENT_GROUPS_V2BETA1] = discoverydocs_all[DOCUMENT_GROUPS_V2BETA1].content_type,
		NULL };
	int chosen = accept_choose(httpd_header(r->http, "Accept"), offers);

	reply_document(r, chosen < 0 ? DOCUMENT_GROUPS : (enum document)chosen);
}

/* OpenAPI is JSON only: a client that accepts only protobuf is refused. */
void discovery_handle(struct request *r)
{
	static const char *const offers[] = { "application/json", NULL };

	if (r->route->kind == ROUTE_KIND_OPENAPI && accept_choose(httpd_header(r->http, "Accept"), offers) < 0)
		request_refuse(r, APISTATUS_NOT_ACCEPTABLE, "only application/json is available here");
	else
		reply_document(r, (enum document)r->route->of);
}

void discovery_handle_paths(struct request *r)
{
	struct buf out = BUF_INIT(DOCUMENT_MAX);

	buf_puts(&out, "{\"paths\":[");
	for (const struct route *route = r->serve->routes; route->pattern; route++)
		if (route->ports & r->port && !strchr(route->pattern, '{') && route->access != ROUTE_RESOURCE)
			buf_printf(&out, "%s\"%s\"", out.data[out.len - 1] == '[' ? "" : ",", route->pattern);
	buf_puts(&out, "]}\n");
	request_reply(r, 200, "application/json", out.data, out.len);
	buf_done(&out);
}
