/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INSIGHT_INSIGHT_H
#define SERVE_INSIGHT_INSIGHT_H

/*
 * The insight API, insight.kscaled.io/v1: what kscaled knows of each ScaledObject and ScaledJob and
 * why it scales it so; read-only. On the secure port it is an aggregated API, for those whom
 * Kubernetes' RBAC lets read these resources in this namespace; on the Unix socket it is for
 * everybody who may open that. Asks no source.
 *
 * GET /apis/insight.kscaled.io/v1/scaledobjectinsights, .../namespaces/{namespace}/...: a list
 * GET .../namespaces/{namespace}/scaledobjectinsights/{name}: one
 * and the same of scaledjobinsights. Each object has the name of its ScaledObject or ScaledJob:
 *   apiVersion, kind   insight.kscaled.io/v1, ScaledObjectInsight or ScaledJobInsight
 *   metadata           name, namespace, uid, creationTimestamp and labels of that
 *   summary            serve/explain/explain.h
 *   explanation        the same; only of one that is asked for by its name
 * Lists are sorted by namespace and name; labelSelector, fieldSelector and the form of a Table are
 * as in Kubernetes (insightquery.h, insighttable.h). A watch is answered 405. Before the objects
 * were read the answer is 503 with Retry-After, with the reason when they cannot be read: what is
 * not known must not look as if it did not exist. What was read is served while the API server is
 * away. A 404 names objects of the same kind and namespace with similar names.
 */

#define INSIGHT_GROUP   "insight.kscaled.io"
#define INSIGHT_VERSION "v1"
#define INSIGHT_PATH    "/apis/" INSIGHT_GROUP "/" INSIGHT_VERSION

struct request;

void insight_handle(struct request *r); /* of the kind that the route names (enum scaled_kind) */
void insight_handle_list(struct request *r);

#endif
