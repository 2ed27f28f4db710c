/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_serve.h"

#include "serve/access/authn.h"
#include "serve/access/authz.h"
#include "serve/access/frontproxy.h"
#include "serve/discovery.h"
#include "serve/page/kedametrics.h"
#include "serve/routes.h"
#include "serve/webhook.h"

void fake_serve_start(struct serve *s, struct kube *kube, struct cache *cache,
	bool (*asks_for_reviews_at)(const void *arg, const char *path, size_t len))
{
	*s = (struct serve){ .loop = cache->loop,
		.kube = kube,
		.cache = cache,
		.tls = tls_server_new(NULL),
		.routes = routes_all,
		.asks_for_reviews_at = asks_for_reviews_at,
		.metrics_max_age_ms = 1000,
		.metrics_deadline_ms = 3000,
		.version = "9.9.9" };
	s->frontproxy = frontproxy_new(kube);
	s->authn = authn_new(kube, s->frontproxy);
	s->authz = authz_new(kube);
	s->discovery = discovery_new(s->version);
	s->traffic = traffic_declare(cache->counters);
	s->webhook = webhook_new(cache->counters);
	buf_init(&s->reply, 65536);
	kedametrics_declare(s);
}

void fake_serve_end(struct serve *s)
{
	authz_free(s->authz);
	authn_free(s->authn);
	frontproxy_free(s->frontproxy);
	discovery_free(s->discovery);
	webhook_free(s->webhook);
	tls_server_free(s->tls);
	buf_done(&s->reply);
}
