/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/routes.h"

#define API     "/apis/external.metrics.k8s.io/v1beta1"
#define INSIGHT "/apis/insight.kscaled.io/v1"

static const struct route *find(enum route_port port, const char *path, struct route_parts *parts)
{
	return router_find(routes_all, port, path, strlen(path), parts);
}

static void paths_find_their_route(void **state)
{
	static const struct {
		enum route_port port;
		const char *path, *pattern;
	} cases[] = {
		{ ROUTE_SECURE, API "/namespaces/shop/s0-redis-jobs", API "/namespaces/{namespace}/{metric}" },
		{ ROUTE_SECURE, API "/namespaces/shop/a%2Fb", API "/namespaces/{namespace}/{metric}" },
		{ ROUTE_SECURE, API "/namespaces/shop/s0/", API "/namespaces/{namespace}/{metric}" },
		{ ROUTE_SECURE, API, API },
		{ ROUTE_SECURE, API "/", API },
		{ ROUTE_SECURE, "/apis", "/apis" },
		{ ROUTE_SECURE, "/apis/external.metrics.k8s.io", "/apis/external.metrics.k8s.io" },
		{ ROUTE_SECURE, "/", "/" },
		{ ROUTE_SECURE, "/openapi/v3", "/openapi/v3" },
		{ ROUTE_SECURE, "/openapi/v3" API, "/openapi/v3" API },
		{ ROUTE_SECURE, "/readyz", "/readyz" },
		{ ROUTE_SECURE, "/readyz/ping", "/readyz/{check}" },
		{ ROUTE_SECURE, "/validate-keda-sh-v1alpha1-scaledobject", "/validate-keda-sh-v1alpha1-scaledobject" },
		{ ROUTE_SECURE, "/validate-keda-sh-v1alpha1-clustertriggerauthentication",
			"/validate-keda-sh-v1alpha1-clustertriggerauthentication" },
		{ ROUTE_SECURE, "/validate-keda-sh-v1alpha1-scaledobjects", NULL },
		{ ROUTE_SECURE, "/admission/6f1d0c2b", "/admission/{secret}" },
		{ ROUTE_SECURE, "/admission/", NULL },
		{ ROUTE_STATUS, "/admission/6f1d0c2b", NULL },
		{ ROUTE_STATUS, "/validate-keda-sh-v1alpha1-scaledobject", NULL },
		{ ROUTE_STATUS, "/readyz/ping", "/readyz/{check}" },
		{ ROUTE_STATUS, "/metrics", "/metrics" },
		{ ROUTE_SECURE, INSIGHT, INSIGHT },
		{ ROUTE_SECURE, "/apis/insight.kscaled.io", "/apis/insight.kscaled.io" },
		{ ROUTE_SECURE, "/openapi/v3" INSIGHT, "/openapi/v3" INSIGHT },
		{ ROUTE_SECURE, INSIGHT "/scaledobjectinsights", INSIGHT "/scaledobjectinsights" },
		{ ROUTE_SECURE, INSIGHT "/namespaces/shop/scaledjobinsights",
			INSIGHT "/namespaces/{namespace}/scaledjobinsights" },
		{ ROUTE_SOCKET, INSIGHT "/namespaces/shop/scaledobjectinsights/web",
			INSIGHT "/namespaces/{namespace}/scaledobjectinsights/{name}" },
		/* a namespace may be called so */
		{ ROUTE_SOCKET, INSIGHT "/namespaces/scaledjobinsights/scaledjobinsights/web",
			INSIGHT "/namespaces/{namespace}/scaledjobinsights/{name}" },
		{ ROUTE_SOCKET, INSIGHT, INSIGHT },
		/* unknown */
		{ ROUTE_SECURE, "", NULL },
		{ ROUTE_SECURE, "///", NULL },
		{ ROUTE_SECURE, "/api", NULL },
		{ ROUTE_SECURE, "/apisx", NULL },
		{ ROUTE_SECURE, "/apis//", NULL },
		{ ROUTE_SECURE, "/readyz/a/b", NULL },
		{ ROUTE_SECURE, API "/namespaces", NULL },
		{ ROUTE_SECURE, API "/namespaces/shop", NULL },
		{ ROUTE_SECURE, API "/namespaces/shop/", NULL },
		{ ROUTE_SECURE, API "/namespaces//metric", NULL },
		{ ROUTE_SECURE, API "/namespaces/shop/a/b", NULL },
		{ ROUTE_SECURE, API "/namespaces/shop/a//", NULL },
		{ ROUTE_SECURE, "/apis/external.metrics.k8s.io/v1/namespaces/shop/a", NULL },
		{ ROUTE_SECURE, INSIGHT "/namespaces/shop/deploymentinsights", NULL },
		{ ROUTE_SECURE, INSIGHT "/namespaces/shop/scaledjobinsights/web/status", NULL },
		{ ROUTE_SECURE, INSIGHT "/scaledjobinsights/web", NULL },
		/* anyone who reaches the status port would read about every tenant */
		{ ROUTE_STATUS, INSIGHT "/scaledobjectinsights", NULL },
		{ ROUTE_STATUS, INSIGHT, NULL },
		{ ROUTE_STATUS, "/objects", NULL },
		{ ROUTE_STATUS, "/explain/shop/web", NULL },
		{ ROUTE_SECURE, "/explain/shop/web", NULL },
		/* the socket has the insight API and nothing else */
		{ ROUTE_SOCKET, API "/namespaces/shop/s0-redis-jobs", NULL },
		{ ROUTE_SOCKET, "/metrics", NULL },
		{ ROUTE_SOCKET, "/healthz", NULL },
		{ ROUTE_SOCKET, "/", NULL },
		{ ROUTE_SOCKET, "/validate-keda-sh-v1alpha1-scaledobject", NULL },
		/* paths that need a user stay on the secure port */
		{ ROUTE_STATUS, API "/namespaces/shop/s0-redis-jobs", NULL },
		{ ROUTE_STATUS, "/apis", NULL },
		{ ROUTE_STATUS, "/", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct route_parts parts;
		const struct route *route = find(cases[i].port, cases[i].path, &parts);

		if (!route != !cases[i].pattern || (route && strcmp(route->pattern, cases[i].pattern)))
			fail_msg("%s: %s instead of %s", cases[i].path, route ? route->pattern : "nothing",
				cases[i].pattern ? cases[i].pattern : "nothing");
	}
}

static void parts_are_cut_out_as_sent(void **state)
{
	struct route_parts parts;

	(void)state;
	assert_non_null(find(ROUTE_SECURE, API "/namespaces/sh%6Fp/s0-redis-a%2Fb/", &parts));
	assert_int_equal(parts.count, 2);
	assert_int_equal(parts.list[0].len, strlen("sh%6Fp"));
	assert_memory_equal(parts.list[0].text, "sh%6Fp", parts.list[0].len);
	assert_int_equal(parts.list[1].len, strlen("s0-redis-a%2Fb"));
	assert_memory_equal(parts.list[1].text, "s0-redis-a%2Fb", parts.list[1].len);
	assert_non_null(find(ROUTE_SECURE, "/readyz", &parts));
	assert_int_equal(parts.count, 0);
}

static void bytes_behind_the_path_are_not_read(void **state)
{
	struct route_parts parts;

	(void)state;
	assert_string_equal(router_find(routes_all, ROUTE_SECURE, "/readyz/ping", 7, &parts)->pattern, "/readyz");
	assert_string_equal(router_find(routes_all, ROUTE_SECURE, "/readyz/ping", 8, &parts)->pattern, "/readyz");
	assert_string_equal(router_find(routes_all, ROUTE_SECURE, "/readyz/ping?x/y", 12, &parts)->pattern,
		"/readyz/{check}");
	assert_int_equal(parts.list[0].len, 4);
	assert_null(router_find(routes_all, ROUTE_SECURE, "/readyz", 0, &parts));
	assert_null(router_find(routes_all, ROUTE_SECURE, "/readyz", 6, &parts));
}

static void methods_are_whole_words(void **state)
{
	struct route_parts parts;
	const struct route *route = find(ROUTE_SECURE, "/apis", &parts);

	(void)state;
	assert_true(router_allows(route, "GET"));
	assert_true(router_allows(route, "HEAD"));
	assert_false(router_allows(route, "POST"));
	assert_false(router_allows(route, "GE"));
	assert_false(router_allows(route, "get"));
	assert_false(router_allows(route, ""));
	assert_false(router_allows(route, "GET, HEAD"));
}

/* Routes without authentication are added on purpose: also to this list. */
static void check_access(const struct route *route)
{
	if (route->access == ROUTE_FREE && strncmp(route->pattern, "/healthz", 8) &&
		strncmp(route->pattern, "/livez", 6) && strncmp(route->pattern, "/readyz", 7))
		fail_msg("%s is open to everybody", route->pattern);
	if ((route->access == ROUTE_REVIEW) != (route->kind == ROUTE_KIND_ADMISSION))
		fail_msg("%s: only reviews are open to whoever knows the path", route->pattern);
}

static void only_probes_are_free(void **state)
{
	(void)state;
	for (const struct route *route = routes_all; route->pattern; route++)
		if (route->ports & ROUTE_SECURE)
			check_access(route);
}

/* The handlers of ROUTE_RESOURCE get what their patterns contain. */
static void check_resource(const struct route *route, size_t *count)
{
	if ((route->access == ROUTE_RESOURCE) != (route->resource != NULL))
		fail_msg("%s: resource attributes go with their access", route->pattern);
	if (!route->resource)
		return;
	++*count;
	if (!strcmp(route->resource->verb, "get") != !!strstr(route->pattern, "{name}"))
		fail_msg("%s is asked for as %s", route->pattern, route->resource->verb);
	if (route->resource->resource && !strstr(route->pattern, route->resource->resource))
		fail_msg("%s is asked for as %s", route->pattern, route->resource->resource);
	if (strncmp(route->pattern + strlen("/apis/"), route->resource->group, strlen(route->resource->group)))
		fail_msg("%s is asked for as %s", route->pattern, route->resource->group);
}

static void resources_are_authorized_by_their_row(void **state)
{
	size_t count = 0;

	(void)state;
	for (const struct route *route = routes_all; route->pattern; route++)
		if (route->ports & ROUTE_SECURE)
			check_resource(route, &count);
	assert_int_equal(count, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_find_their_route),
		cmocka_unit_test(parts_are_cut_out_as_sent),
		cmocka_unit_test(bytes_behind_the_path_are_not_read),
		cmocka_unit_test(methods_are_whole_words),
		cmocka_unit_test(only_probes_are_free),
		cmocka_unit_test(resources_are_authorized_by_their_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
