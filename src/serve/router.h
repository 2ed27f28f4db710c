/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

/*
 * Finds the route of a path in a table (serve/routes.c): pattern, handler, methods and required
 * access. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

struct request;

/* HTTPS for the cluster; plain HTTP for probes and scrapes; a Unix socket for users of this host */
enum route_port { ROUTE_SECURE = 1, ROUTE_STATUS = 2, ROUTE_SOCKET = 4 };

enum route_access {
	ROUTE_FREE, /* no authentication: probes */
	/*
	 * no authentication either, as the API server sends no credentials to a webhook; but the
	 * route exists only at paths that were configured in the API server
	 * (serve_config.asks_for_reviews_at), and logs show its pattern instead of the path
	 */
	ROUTE_REVIEW,
	ROUTE_PATH,     /* a user who may get this path (nonResourceAttributes) */
	ROUTE_RESOURCE, /* a user who may do this with these resources (resourceAttributes) */
};

/* The label `path` of requests on /metrics. */
enum route_kind {
	ROUTE_KIND_METRIC,
	ROUTE_KIND_DISCOVERY,
	ROUTE_KIND_OPENAPI,
	ROUTE_KIND_PROBE,
	ROUTE_KIND_SCRAPE,
	ROUTE_KIND_ADMISSION,
	ROUTE_KIND_INSIGHT,
	ROUTE_KIND_UNKNOWN,
	ROUTE_KINDS
};

/* The resourceAttributes of an access review, besides the namespace and the name in the path. */
struct route_resource {
	const char *group, *version, *verb;
	const char *resource; /* NULL: the last part of the path is the resource, and there is no name */
};

struct route {
	const char *pattern; /* "/healthz/{check}": {…} matches one segment that is not empty; also the path of an
				access review */
	enum route_kind kind;
	unsigned ports;           /* enum route_port, or-ed: where it exists */
	enum route_access access; /* on the secure port; the others have no access control */
	const char *methods;      /* "GET, HEAD": as in the Allow header */
	void (*handle)(struct request *r);
	int of;                                /* which document, probe or kind of object, for its handler */
	const struct route_resource *resource; /* for ROUTE_RESOURCE, whose patterns contain {namespace}, then a name */
};

#define ROUTER_PARTS_MAX 2
struct route_parts { /* the segments that match {…}; not decoded; borrowed from the path */
	struct {
		const char *text;
		size_t len;
	} list[ROUTER_PARTS_MAX];
	size_t count;
};

/*
 * The route of a path as sent (not decoded, without query; a slash at its end is ignored); NULL if
 * this port has none.
 */
const struct route *router_find(const struct route *routes, enum route_port port, const char *raw_path, size_t len,
	struct route_parts *parts);
bool router_allows(const struct route *route, const char *method);

#endif
