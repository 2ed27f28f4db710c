/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a stranger's request says before anybody knows who asks: its path and its Accept header. The
 * first line is the path, the rest the header: whatever they are, what is found is a route of that
 * port, whose parts lie in the path, and one of the offers.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "serve/accept.h"
#include "serve/router.h"
#include "serve/routes.h"

static void check_route(enum route_port port, const char *path, size_t len)
{
	struct route_parts parts;
	const struct route *route = router_find(routes_all, port, path, len, &parts);

	if (!route)
		return;
	must((route->ports & port) != 0 && parts.count <= ROUTER_PARTS_MAX);
	must(!route->resource || route->resource->resource || parts.count == 2);
	for (size_t i = 0; i < parts.count; i++) {
		must(parts.list[i].len > 0 && !memchr(parts.list[i].text, '/', parts.list[i].len));
		must(parts.list[i].text >= path && parts.list[i].text + parts.list[i].len <= path + len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const offers[] = { "application/json",
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
		"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", NULL };
	MEM_AUTO char *path = mem_dupn((const char *)data, size);
	char *header = path;
	int chosen;

	strsep(&header, "\n");
	check_route(ROUTE_SECURE, path, strlen(path));
	check_route(ROUTE_STATUS, path, strlen(path));
	check_route(ROUTE_SOCKET, path, strlen(path));
	chosen = accept_choose(header, offers);
	must(chosen >= -1 && chosen < 3);
	must((header && *header) || chosen == 0);
	return 0;
}
