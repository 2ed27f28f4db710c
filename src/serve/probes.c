/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/probes.h"

#include <string.h>

#include "base/mem.h"
#include "kube/client.h"
#include "serve/access/frontproxy.h"
#include "serve/request.h"

#define PAGE_MAX 16384
#define TEXT     "text/plain; charset=utf-8"

/* Each returns NULL, or why the check fails. */

/*
 * Without the API server our data grows old, permissions cannot be checked, and nothing is scaled:
 * another replica should be asked. A restart would not help, so the other probes ignore it.
 */
static const char *api_server_trouble(const struct serve *s)
{
	return kube_trouble(s->kube);
}

static const char *objects_trouble(const struct serve *s)
{
	const char *why = store_trouble(s->cache->store);

	if (store_synced(s->cache->store))
		return NULL;
	return why ? why : "the ScaledObjects were not read yet";
}

static const char *certificate_trouble(const struct serve *s)
{
	return tls_server_has_certificate(s->tls) ? NULL : "there is no serving certificate yet";
}

static const char *front_proxy_trouble(const struct serve *s)
{
	return frontproxy_trouble(s->frontproxy);
}

enum { READY = 1 << PROBES_READY, ALL = READY | 1 << PROBES_LIVE | 1 << PROBES_HEALTH };

static const struct check {
	const char *name;
	unsigned probes;
	const char *(*trouble)(const struct serve *s); /* NULL: it never fails */
} checks[] = {
	{ "ping", ALL, NULL },
	{ "api-server", READY, api_server_trouble },
	{ "objects", READY, objects_trouble },
	{ "certificate", READY, certificate_trouble },
	{ "front-proxy", READY, front_proxy_trouble },
};

static bool wanted(const struct request *r, const struct check *check, unsigned probe)
{
	if (!(check->probes & probe))
		return false;
	return !r->parts.count ||
		(r->parts.list[0].len == strlen(check->name) &&
			!memcmp(r->parts.list[0].text, check->name, r->parts.list[0].len));
}

void probes_handle(struct request *r)
{
	static const char
		*const names[] = { [PROBES_HEALTH] = "healthz", [PROBES_LIVE] = "livez", [PROBES_READY] = "readyz" };
	const char *name = names[r->route->of];
	bool verbose = httpd_query(r->http, "verbose") != NULL;
	struct buf page = BUF_INIT(PAGE_MAX);
	int failed = 0, asked = 0;

	for (size_t i = 0; i < MEM_COUNT(checks); i++) {
		const char *trouble;

		if (!wanted(r, &checks[i], 1u << r->route->of))
			continue;
		trouble = checks[i].trouble ? checks[i].trouble(r->serve) : NULL;
		if (trouble)
			buf_printf(&page, "[-]%s failed: %s\n", checks[i].name, trouble);
		else
			buf_printf(&page, "[+]%s ok\n", checks[i].name);
		asked++;
		failed += trouble != NULL;
	}
	if (failed || verbose)
		buf_printf(&page, "%s check %s\n", name, failed ? "failed" : "passed");
	if (!asked)
		request_refuse(r, APISTATUS_NOT_FOUND, "%s has no such check", name);
	else if (failed || verbose)
		request_reply(r, failed ? 503 : 200, TEXT, page.data, page.len);
	else
		request_reply(r, 200, TEXT, "ok", 2);
	buf_done(&page);
}
