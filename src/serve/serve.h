/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

/*
 * Everything that answers others: the HTTPS endpoint of external.metrics.k8s.io, of
 * insight.kscaled.io and of the admission webhook, the plain HTTP one for probes and /metrics, and
 * a Unix socket with the insight API for those on this host. Started by the daemon; stands on
 * cache, never on control.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/cache.h"
#include "kube/client.h"
#include "net/tls.h"

struct serve;

struct serve_config {
	const char *bind_address; /* "" : all, IPv6 and IPv4 */
	uint16_t secure_port;
	const char *status_address; /* "127.0.0.1:8080", ":8080" (all), "[::1]:8080"; "" turns it off */
	const char *insight_socket, *insight_socket_group; /* as net/listen.h has them; NULL: there is none */
	int64_t metrics_max_age_ms;
	int64_t metrics_deadline_ms;
	int max_connections; /* of each port; the socket has a few */
	const char *version; /* outlives the server */
	/*
	 * Whether the API server asks for reviews at this path, as sent and without the query;
	 * NULL: at none. Both outlive.
	 */
	bool (*asks_for_reviews_at)(const void *arg, const char *path, size_t len);
	const void *asks_arg;
};

struct serve *serve_new(struct cache *cache, struct kube *kube, struct tls_server *tls,
	const struct serve_config *config, struct err *err);
void serve_free(struct serve *s);
uint16_t serve_secure_port(const struct serve *s);
uint16_t serve_status_port(const struct serve *s);

#endif
