/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INSIGHT_INSIGHT_H
#define SERVE_INSIGHT_INSIGHT_H

/*
 * The insight API, insight.kscaled.io/v1: the state of each ScaledObject and ScaledJob, and why it
 * is scaled so; read-only. On the secure port it is an aggregated API, for users whom Kubernetes'
 * RBAC allows to read these resources in the namespace; on the Unix socket it is for everyone who
 * may open that. Asks no source.
 *
 * GET /apis/insight.kscaled.io/v1/scaledobjectinsights, .../namespaces/{namespace}/...: a list
 * GET .../namespaces/{namespace}/scaledobjectinsights/{name}: one
 * and the same for scaledjobinsights. Each object has the name of its ScaledObject or ScaledJob:
 *   apiVersion, kind   insight.kscaled.io/v1, ScaledObjectInsight or ScaledJobInsight
 *   metadata           name, namespace, uid, creationTimestamp and labels of that
 *   summary            serve/explain/explain.h
 *   explanation        the same; only for a single object
 * Lists are sorted by namespace and name; labelSelector, fieldSelector and the form of a Table are
 * as in Kubernetes (insightquery.h, insighttable.h). A watch is answered 405. Before the objects
 * were read the answer is 503 with Retry-After, and the reason if they cannot be read: unknown
 * objects must not look missing. Known objects are served even while the API server is away. A 404
 * names objects of the same kind and namespace with similar names.
 */

#define INSIGHT_GROUP   "insight.kscaled.io"
#define INSIGHT_VERSION "v1"
#define INSIGHT_PATH    "/apis/" INSIGHT_GROUP "/" INSIGHT_VERSION

struct request;

void insight_handle(struct request *r); /* of the kind that the route names (enum scaled_kind) */
void insight_handle_list(struct request *r);

#endif
