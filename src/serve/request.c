/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utlist.h>

#include "base/mem.h"
#include "serve/accesslog.h"
#include "serve/apistatus.h"
#include "serve/traffic.h"
#include "serve/webhook.h"

#define GROUP   "external.metrics.k8s.io"
#define VERSION "v1beta1"

#define STATUS_CLIENT_LEFT 499 /* as others log it; nobody receives it */

static int64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- The end ---- */

static void stop_waiting(struct request *r)
{
	authn_cancel(r->authn);
	authz_cancel(r->authz);
	survey_cancel(r->survey);
	webhook_cancel(r->admission);
	DL_DELETE(r->serve->waiting, r);
}

static void finish(struct request *r, int status)
{
	int64_t took_us = clock_us() - r->started_us;

	traffic_count(&r->serve->traffic, r->port, r->route ? r->route->kind : ROUTE_KIND_UNKNOWN, r->method, status,
		took_us);
	accesslog_write(r, status, took_us);
	if (r->waiting)
		stop_waiting(r);
	identity_unref(r->user);
	free(r->logged);
	free(r);
}

void request_reply(struct request *r, int status, const char *content_type, const void *body, size_t len)
{
	struct httpd_request *http = r->http;

	finish(r, status);
	httpd_reply(http, status, content_type, body, len);
}

static void on_gone(void *arg)
{
	struct request *r = arg;

	r->http = NULL;
	finish(r, STATUS_CLIENT_LEFT);
}

void request_wait(struct request *r)
{
	if (r->waiting)
		return;
	r->waiting = true;
	r->logged = accesslog_describe(r);
	DL_APPEND(r->serve->waiting, r);
	httpd_on_gone(r->http, on_gone, r);
}

void request_end_all(struct serve *s)
{
	while (s->waiting)
		apistatus_reply(s->waiting, APISTATUS_UNAVAILABLE, "kscaled is stopping");
}

/* ---- Step 3: may they? ---- */

static void refuse_access(struct request *r, const struct err *err)
{
	enum apistatus what = err->kind == ERR_DENIED ? APISTATUS_FORBIDDEN
		: err->http_status == 429             ? APISTATUS_TOO_MANY_REQUESTS
						      : APISTATUS_UNAVAILABLE;

	apistatus_reply(r, what, "%s", err->msg);
}

static void on_authorised(void *arg, const struct err *err)
{
	struct request *r = arg;

	r->authz = NULL;
	if (err)
		refuse_access(r, err);
	else
		r->route->handle(r);
}

/* HEAD is asked for as GET: it shows less. */
static struct review_access access_of(const struct request *r)
{
	if (r->route->access == ROUTE_METRIC)
		return (struct review_access){ .verb = "list",
			.group = GROUP,
			.version = VERSION,
			.resource = r->metric,
			.namespace_ = r->namespace_ };
	return (struct review_access){ .verb = "get", .path = r->route->pattern };
}

static int decode_names(struct request *r)
{
	const struct route_parts *p = &r->parts;

	if (r->route->access != ROUTE_METRIC)
		return 0;
	return httpd_decode(p->list[0].text, p->list[0].len, false, r->namespace_, sizeof(r->namespace_)) ||
		httpd_decode(p->list[1].text, p->list[1].len, false, r->metric, sizeof(r->metric));
}

static void authorise(struct request *r)
{
	struct review_access access;
	struct err err;

	if (decode_names(r)) {
		apistatus_reply(r, APISTATUS_BAD_REQUEST,
			"the namespace or the metric's name in the path is too long or badly encoded");
		return;
	}
	access = access_of(r);
	switch (authz_peek(r->serve->authz, r->user, &access, &err)) {
	case AUTHZ_ALLOWED: r->route->handle(r); return;
	case AUTHZ_DENIED: refuse_access(r, &err); return;
	case AUTHZ_UNKNOWN: request_wait(r); r->authz = authz_ask(r->serve->authz, r->user, &access, on_authorised, r);
	}
}

/* ---- Step 2: is there such a thing? (only those who are known get to know) ---- */

static bool check_route(struct request *r)
{
	if (!r->route) {
		size_t len;
		const char *path = httpd_raw_path(r->http, &len);

		apistatus_reply(r, APISTATUS_NOT_FOUND, "the server has nothing at %.*s", len < 512 ? (int)len : 512,
			path);
		return false;
	}
	if (!router_allows(r->route, r->method)) {
		httpd_add_header(r->http, "Allow", r->route->methods);
		apistatus_reply(r, APISTATUS_METHOD_NOT_ALLOWED, "%s is not allowed here; allowed: %s", r->method,
			r->route->methods);
		return false;
	}
	return true;
}

/* ---- Step 1: who asks? ---- */

static void refuse_user(struct request *r, const struct err *err)
{
	enum apistatus what = err->kind == ERR_DENIED ? APISTATUS_UNAUTHORIZED
		: err->http_status == 429             ? APISTATUS_TOO_MANY_REQUESTS
						      : APISTATUS_UNAVAILABLE;

	apistatus_reply(r, what, "%s", err->msg);
}

static void on_authenticated(void *arg, struct identity *user, const struct err *err)
{
	struct request *r = arg;

	r->authn = NULL;
	if (err) {
		refuse_user(r, err);
		return;
	}
	r->user = identity_ref(user);
	if (check_route(r))
		authorise(r);
}

static void authenticate(struct request *r)
{
	struct err err;

	switch (authn_peek(r->serve->authn, r->http, &r->user, &err)) {
	case AUTHN_KNOWN:
		if (check_route(r))
			authorise(r);
		return;
	case AUTHN_REFUSED: refuse_user(r, &err); return;
	case AUTHN_UNKNOWN: request_wait(r); r->authn = authn_ask(r->serve->authn, r->http, on_authenticated, r);
	}
}

static bool is_free(const struct request *r)
{
	return r->port == ROUTE_STATUS || (r->route && r->route->access == ROUTE_FREE);
}

static struct request *request_new(struct serve *s, enum route_port port, struct httpd_request *http)
{
	struct request *r = mem_alloc(sizeof(*r));

	memset(r, 0, offsetof(struct request, namespace_)); /* the names behind are written before they are read */
	r->serve = s;
	r->http = http;
	r->port = port;
	r->method = httpd_method(http);
	r->started_us = clock_us();
	return r;
}

void request_start(struct serve *s, enum route_port port, struct httpd_request *http)
{
	struct request *r = request_new(s, port, http);
	size_t len;
	const char *path = httpd_raw_path(http, &len);

	r->route = router_find(s->routes, port, path, len, &r->parts);
	if (!is_free(r))
		authenticate(r);
	else if (check_route(r))
		r->route->handle(r);
}
