/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

/*
 * Which path is whose: by a table (serve/routes.c), from a path's pattern to its handler, its
 * methods, and what it takes to come in. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

struct request;

/* HTTPS for the cluster; plain HTTP for probes and scrapes; a Unix socket for those on this host */
enum route_port { ROUTE_SECURE = 1, ROUTE_STATUS = 2, ROUTE_SOCKET = 4 };
const char *route_port_name(enum route_port port);

enum route_access {
	ROUTE_FREE, /* nobody is asked who they are: probes */
	/*
	 * nor here, as the API server shows no credentials to a webhook; but it is there at paths
	 * only that the API server was told (serve_config.asks_for_reviews_at), and what is shown
	 * of it in logs is the pattern
	 */
	ROUTE_REVIEW,
	ROUTE_PATH,     /* a user who may get this path (nonResourceAttributes) */
	ROUTE_RESOURCE, /* a user who may do this with these resources (resourceAttributes) */
};

/* What the requests are counted under on /metrics. */
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
const char *route_kind_name(enum route_kind kind);

/* What resource attributes are made of, with the namespace and the name that stand in the path. */
struct route_resource {
	const char *group, *version, *verb;
	const char *resource; /* NULL: what the path ends with is the resource, and no name */
};

struct route {
	const char *pattern; /* "/healthz/{check}": {…} stands for one segment that is not empty; also the path that
				access is asked for */
	enum route_kind kind;
	unsigned ports;           /* where it is */
	enum route_access access; /* on the secure port; the others ask nobody */
	const char *methods;      /* "GET, HEAD": as the Allow header says it */
	void (*handle)(struct request *r);
	int of;                                /* which document, probe or kind of object, for its handler */
	const struct route_resource *resource; /* of ROUTE_RESOURCE, whose patterns hold {namespace}, then a name */
};

#define ROUTER_PARTS_MAX 2
struct route_parts { /* what the {…} stand for; not decoded; borrowed from the path */
	struct {
		const char *text;
		size_t len;
	} list[ROUTER_PARTS_MAX];
	size_t count;
};

/*
 * The route of a path as sent (not decoded, no query; one slash at its end does not matter); NULL
 * when there is none on this port.
 */
const struct route *router_find(const struct route *routes, enum route_port port, const char *raw_path, size_t len,
	struct route_parts *parts);
bool router_allows(const struct route *route, const char *method);

#endif
