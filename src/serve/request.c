/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/request.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utlist.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/traffic.h"

#define STATUS_MAX         16384 /* bytes of a refusal */
#define STATUS_CLIENT_LEFT 499   /* as other servers log it; never sent */

static int64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- The access log ---- */

/* The part of a log line that comes from the client's request; the caller owns it. */
static char *describe(const struct request *r)
{
	const char *agent = httpd_header(r->http, "User-Agent");

	return mem_printf("%s %.2048s from=%s agent=%.256s", r->method, r->shown ? r->shown : httpd_uri(r->http),
		httpd_peer(r->http), agent ? agent : "-");
}

/* One line per request at debug; costs nothing at other levels. Code 499: the client left. */
static void log_access(const struct request *r, int status, int64_t took_us)
{
	MEM_AUTO char *now = NULL;

	if (!log_enabled(LOG_LEVEL_DEBUG))
		return;
	if (!r->logged && r->http)
		now = describe(r);
	log_debug("access", "%s user=%.256s code=%d latency=%lld.%03lldms",
		r->logged     ? r->logged
			: now ? now
			      : r->method,
		r->user ? r->user->user.name : "-", status, (long long)(took_us / 1000), (long long)(took_us % 1000));
}

/* ---- The reply ---- */

static void finish_request(struct request *r, int status)
{
	int64_t took_us = clock_us() - r->started_us;

	traffic_count(&r->serve->traffic, r->port, r->route ? r->route->kind : ROUTE_KIND_UNKNOWN, r->method, status,
		took_us);
	log_access(r, status, took_us);
	if (r->give_up)
		r->give_up(r->wait);
	if (r->waiting)
		DL_DELETE(r->serve->waiting, r);
	requester_unref(r->user);
	free(r->logged);
	free(r->name);
	free(r);
}

void request_reply(struct request *r, int status, const char *content_type, const void *body, size_t len)
{
	struct httpd_request *http = r->http;

	finish_request(r, status);
	httpd_reply(http, status, content_type, body, len);
}

void request_refuse(struct request *r, enum apistatus what, const char *fmt, ...)
{
	const struct apistatus_terms *terms = apistatus_terms(what);
	struct buf body = BUF_INIT(STATUS_MAX);
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = mem_vprintf(fmt, ap);
	va_end(ap);
	apistatus_write(&body, what, message);
	if (terms->header)
		httpd_add_header(r->http, terms->header, terms->value);
	request_reply(r, terms->code, "application/json", body.data, body.len);
	buf_done(&body);
	free(message);
}

static void on_gone(void *arg)
{
	struct request *r = arg;

	r->http = NULL;
	finish_request(r, STATUS_CLIENT_LEFT);
}

void request_wait(struct request *r, void *wait, void (*give_up)(void *wait))
{
	r->wait = wait;
	r->give_up = give_up;
	if (r->waiting)
		return;
	r->waiting = true;
	if (log_enabled(LOG_LEVEL_DEBUG))
		r->logged = describe(r);
	DL_APPEND(r->serve->waiting, r);
	httpd_on_gone(r->http, on_gone, r);
}

void request_end_all(struct serve *s)
{
	while (s->waiting)
		request_refuse(s->waiting, APISTATUS_UNAVAILABLE, "kscaled is stopping");
}

/* The result of authn or authz; denied: the status for ERR_DENIED. */
static void refuse_user(struct request *r, enum apistatus denied, const struct err *err)
{
	enum apistatus what = err->kind == ERR_DENIED ? denied
		: err->http_status == 429             ? APISTATUS_TOO_MANY_REQUESTS
						      : APISTATUS_UNAVAILABLE;

	request_refuse(r, what, "%s", err->msg);
}

/* ---- The steps, in the order in which they run; request_start begins them ---- */

static bool check_route(struct request *r);
static void authorise(struct request *r);

/* ---- Step 1: authentication ---- */

static void on_authenticated(void *arg, struct requester *user, const struct err *err)
{
	struct request *r = arg;

	r->give_up = NULL;
	if (err) {
		refuse_user(r, APISTATUS_UNAUTHORIZED, err);
		return;
	}
	r->user = requester_ref(user);
	if (check_route(r))
		authorise(r);
}

static void cancel_authn(void *wait)
{
	authn_cancel(wait);
}

static void authenticate(struct request *r)
{
	struct err err;

	switch (authn_peek(r->serve->authn, r->http, &r->user, &err)) {
	case AUTHN_KNOWN:
		if (check_route(r))
			authorise(r);
		return;
	case AUTHN_REFUSED: refuse_user(r, APISTATUS_UNAUTHORIZED, &err); return;
	case AUTHN_UNKNOWN: request_wait(r, authn_ask(r->serve->authn, r->http, on_authenticated, r), cancel_authn);
	}
}

/* ---- Step 2: the route; only known users learn whether it exists ---- */

static bool decode_part(const struct route_parts *parts, size_t i, char *out, size_t size)
{
	*out = '\0';
	return i >= parts->count || httpd_decode(parts->list[i].text, parts->list[i].len, false, out, size) == 0;
}

/* The buffer of the name is only as long as needed: most are short. */
static bool decode_parts(struct request *r)
{
	size_t len = r->parts.count > 1 ? r->parts.list[1].len : 0, size = (len < REQUEST_NAME_MAX ? len : 0) + 1;

	r->name = mem_alloc(size);
	return decode_part(&r->parts, 0, r->namespace_, sizeof(r->namespace_)) &&
		decode_part(&r->parts, 1, r->name, size);
}

static bool check_route(struct request *r)
{
	if (!r->route) {
		size_t len;
		const char *path = httpd_raw_path(r->http, &len);

		request_refuse(r, APISTATUS_NOT_FOUND, "the server has nothing at %.*s", len < 512 ? (int)len : 512,
			path);
		return false;
	}
	if (!router_allows(r->route, r->method)) {
		httpd_add_header(r->http, "Allow", r->route->methods);
		request_refuse(r, APISTATUS_METHOD_NOT_ALLOWED, "%s is not allowed here; allowed: %s", r->method,
			r->route->methods);
		return false;
	}
	if (r->route->access != ROUTE_RESOURCE || decode_parts(r))
		return true;
	request_refuse(r, APISTATUS_BAD_REQUEST, "the namespace or the name in the path is too long or badly encoded");
	return false;
}

/* ---- Step 3: authorization ---- */

static void on_authorised(void *arg, const struct err *err)
{
	struct request *r = arg;

	r->give_up = NULL;
	if (err)
		refuse_user(r, APISTATUS_FORBIDDEN, err);
	else
		r->route->handle(r);
}

static void cancel_authz(void *wait)
{
	authz_cancel(wait);
}

/* HEAD is authorized as GET: it shows less. */
static struct review_access access_of(const struct request *r)
{
	const struct route_resource *of = r->route->resource;

	if (r->route->access != ROUTE_RESOURCE)
		return (struct review_access){ .verb = "get", .path = r->route->pattern };
	return (struct review_access){ .verb = of->verb,
		.group = of->group,
		.version = of->version,
		.resource = of->resource ? of->resource : r->name,
		.namespace_ = *r->namespace_ ? r->namespace_ : NULL,
		.name = of->resource && *r->name ? r->name : NULL };
}

static void authorise(struct request *r)
{
	struct review_access access = access_of(r);
	struct err err;

	switch (authz_peek(r->serve->authz, r->user, &access, &err)) {
	case AUTHZ_ALLOWED: r->route->handle(r); return;
	case AUTHZ_DENIED: refuse_user(r, APISTATUS_FORBIDDEN, &err); return;
	case AUTHZ_UNKNOWN:
		request_wait(r, authz_ask(r->serve->authz, r->user, &access, on_authorised, r), cancel_authz);
	}
}

/* ---- The start ---- */

static bool is_free(const struct request *r)
{
	return r->port != ROUTE_SECURE ||
		(r->route && (r->route->access == ROUTE_FREE || r->route->access == ROUTE_REVIEW));
}

/*
 * If the API server does not ask for reviews there, no route exists, for anyone; the path tried may
 * have been a secret a moment ago, so it is not logged either.
 */
static void find_route(struct request *r, const char *path, size_t len)
{
	const struct serve *s = r->serve;

	r->route = router_find(s->routes, r->port, path, len, &r->parts);
	if (!r->route || r->route->access != ROUTE_REVIEW)
		return;
	r->shown = r->route->pattern;
	if (!s->asks_for_reviews_at || !s->asks_for_reviews_at(s->asks_arg, path, len))
		r->route = NULL;
}

void request_start(struct serve *s, enum route_port port, struct httpd_request *http)
{
	struct request *r = mem_alloc(sizeof(*r));
	size_t len;
	const char *path = httpd_raw_path(http, &len);

	memset(r, 0, offsetof(struct request, namespace_)); /* the names after this are written before they are read */
	r->serve = s;
	r->http = http;
	r->port = port;
	r->method = httpd_method(http);
	r->started_us = clock_us();
	find_route(r, path, len);
	if (!is_free(r))
		authenticate(r);
	else if (check_route(r))
		r->route->handle(r);
}
