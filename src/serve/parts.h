/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

/* The state of one server, for the files of this room; other rooms include serve.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cache/cache.h"
#include "net/httpd/httpd.h"
#include "net/tls/tls.h"
#include "serve/traffic.h"

struct authn;
struct authz;
struct discovery;
struct frontproxy;
struct kube;
struct request;
struct route;
struct webhook;

struct serve {
	struct loop *loop; /* borrowed, like kube, cache and tls */
	struct kube *kube;
	struct cache *cache;
	struct tls_server *tls;
	const struct route *routes;                                                 /* serve/routes.h */
	bool (*asks_for_reviews_at)(const void *arg, const char *path, size_t len); /* from serve_config */
	const void *asks_arg;
	int64_t metrics_max_age_ms;
	int64_t metrics_deadline_ms;
	const char *version;                    /* borrowed from serve_config */
	struct httpd *secure, *status, *socket; /* the latter two NULL when off */
	struct frontproxy *frontproxy;
	struct authn *authn;
	struct authz *authz;
	struct discovery *discovery;
	struct traffic traffic;
	struct webhook *webhook;
	struct request *waiting; /* requests whose answer will come later */
	struct buf reply;        /* scratch for replies sent at once; keeps its memory */
	struct counters_family *metric_errors, *object_errors, *job_errors;
};

#endif
