/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_DISCOVERY_H
#define SERVE_DISCOVERY_H

/*
 * Discovery for the aggregator and other clients: groups, resources, version and OpenAPI documents
 * (doc/keda.md 5.1). Fixed texts made once at start, each with an ETag, so that a client that has
 * one already gets 304. The aggregator reads /apis as APIGroupDiscoveryList, /openapi/v2 as JSON,
 * and /openapi/v3 with the document it points to (k8s.io/kube-aggregator
 * pkg/apiserver/handler_discovery.go, pkg/controllers/openapi, pkg/controllers/openapiv3).
 */

struct discovery;
struct request;

struct discovery *discovery_new(const char *version);
void discovery_free(struct discovery *d);

void discovery_handle_paths(struct request *r);  /* / */
void discovery_handle_groups(struct request *r); /* /apis: plain, or aggregated discovery */
/*
 * The document that the route names; /apis/external.metrics.k8s.io/v1beta1, and the insight API's
 * likewise, are also the aggregator's availability probes.
 */
void discovery_handle(struct request *r);

#endif
