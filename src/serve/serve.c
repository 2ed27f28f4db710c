/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#include <stdlib.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "serve/access/authn.h"
#include "serve/access/authz.h"
#include "serve/access/frontproxy.h"
#include "serve/discovery.h"
#include "serve/page/kedametrics.h"
#include "serve/parts.h"
#include "serve/request.h"
#include "serve/routes.h"
#include "serve/traffic.h"
#include "serve/webhook.h"

#define REPLY_MAX          65536
#define SOCKET_CONNECTIONS 16 /* they fit into the reserve of net/descriptors */

static void on_secure(void *arg, struct httpd_request *http)
{
	request_start(arg, ROUTE_SECURE, http);
}

static void on_status(void *arg, struct httpd_request *http)
{
	request_start(arg, ROUTE_STATUS, http);
}

static void on_socket(void *arg, struct httpd_request *http)
{
	request_start(arg, ROUTE_SOCKET, http);
}

static int listen_secure(struct serve *s, const struct serve_config *config, struct httpd_config http, struct err *err)
{
	http.address = config->bind_address;
	http.port = config->secure_port;
	http.tls = s->tls;
	s->secure = httpd_new(s->loop, &http, on_secure, s, err);
	return s->secure ? 0 : err_wrap(err, "HTTPS port");
}

static int listen_status(struct serve *s, const struct serve_config *config, struct httpd_config http, struct err *err)
{
	struct hostport at;

	if (!config->status_address || !*config->status_address)
		return 0;
	if (hostport_parse_listen(config->status_address, &at, err))
		return err_wrap(err, "status address");
	http.address = at.host;
	http.port = at.port;
	s->status = httpd_new(s->loop, &http, on_status, s, err);
	return s->status ? 0 : err_wrap(err, "status address");
}

static int listen_socket(struct serve *s, const struct serve_config *config, struct httpd_config http, struct err *err)
{
	if (!config->insight_socket)
		return 0;
	http.max_connections = SOCKET_CONNECTIONS;
	http.path = config->insight_socket;
	http.group = config->insight_socket_group;
	s->socket = httpd_new(s->loop, &http, on_socket, s, err);
	return s->socket ? 0 : err_wrap(err, "insight socket");
}

struct serve *serve_new(struct cache *cache, struct kube *kube, struct tls_server *tls,
	const struct serve_config *config, struct err *err)
{
	struct serve *s = mem_zalloc(sizeof(*s));
	struct httpd_config http;

	s->loop = cache->loop;
	s->cache = cache;
	s->tls = tls;
	s->routes = routes_all;
	s->asks_for_reviews_at = config->asks_for_reviews_at;
	s->asks_arg = config->asks_arg;
	s->metrics_max_age_ms = config->metrics_max_age_ms;
	s->metrics_deadline_ms = config->metrics_deadline_ms;
	s->version = config->version;
	buf_init(&s->reply, REPLY_MAX);
	s->traffic = traffic_declare(cache->counters);
	s->webhook = webhook_new(cache->counters);
	s->discovery = discovery_new(config->version);
	httpd_config_defaults(&http);
	if (config->max_connections > 0)
		http.max_connections = config->max_connections;
	if (listen_secure(s, config, http, err) || listen_status(s, config, http, err) ||
		listen_socket(s, config, http, err)) {
		serve_free(s);
		return NULL;
	}
	s->kube = kube;
	s->frontproxy = frontproxy_new(kube);
	s->authn = authn_new(kube, s->frontproxy);
	s->authz = authz_new(kube);
	kedametrics_declare(s);
	return s;
}

void serve_free(struct serve *s)
{
	if (!s)
		return;
	request_end_all(s);
	httpd_free(s->socket);
	httpd_free(s->status);
	httpd_free(s->secure);
	authz_free(s->authz);
	authn_free(s->authn);
	frontproxy_free(s->frontproxy);
	discovery_free(s->discovery);
	webhook_free(s->webhook);
	buf_done(&s->reply);
	free(s);
}

uint16_t serve_secure_port(const struct serve *s)
{
	return httpd_port(s->secure);
}

uint16_t serve_status_port(const struct serve *s)
{
	return s->status ? httpd_port(s->status) : 0;
}
