/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

/*
 * The server of all requests: the HTTPS endpoint of external.metrics.k8s.io, of insight.kscaled.io
 * and of the admission webhook, the plain HTTP endpoint for probes and /metrics, and a Unix socket
 * with the insight API for users of this host. Started by the daemon; uses cache, never control.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/cache.h"
#include "kube/client.h"
#include "net/tls/tls.h"

struct serve;

struct serve_config {
	const char *bind_address;   /* "": all, IPv6 and IPv4 */
	uint16_t secure_port;       /* 0: any */
	const char *status_address; /* "127.0.0.1:8080", ":8080" (all), "[::1]:8080"; "" turns it off */
	const char *insight_socket, *insight_socket_group; /* as net/listen.h has them; NULL: none */
	int64_t metrics_max_age_ms;                        /* of a reading that is served from memory */
	int64_t metrics_deadline_ms;                       /* of a query for a metric */
	int max_connections; /* per port; 0: the default of net/httpd/httpd. The socket has a few */
	const char *version; /* outlives the server */
	/*
	 * Whether the API server asks for reviews at this path, as sent and without the query;
	 * NULL: at none. Both outlive the server.
	 */
	bool (*asks_for_reviews_at)(const void *arg, const char *path, size_t len);
	const void *asks_arg;
};

/*
 * Listens at once; borrows cache, kube and tls. NULL and err, which names the listener, if an
 * address is wrong or in use.
 */
struct serve *serve_new(struct cache *cache, struct kube *kube, struct tls_server *tls,
	const struct serve_config *config, struct err *err);
void serve_free(struct serve *s); /* answers waiting requests with 503; NULL is fine */
uint16_t serve_secure_port(const struct serve *s);
uint16_t serve_status_port(const struct serve *s); /* 0: it is off */

#endif
