/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INSIGHT_INSIGHT_H
#define SERVE_INSIGHT_INSIGHT_H

/*
 * The insight API, insight.kscaled.io/v1: what kscaled knows of each ScaledObject and ScaledJob and
 * why it scales it so, to be read and nothing else. Over the secure port as any aggregated API, by
 * those whom Kubernetes' RBAC lets read these resources in this namespace; over the Unix socket by
 * whoever may open it. Asks no source.
 *
 * GET /apis/insight.kscaled.io/v1/scaledobjectinsights, .../namespaces/{namespace}/...: a list
 * GET .../namespaces/{namespace}/scaledobjectinsights/{name}: one
 * and the same of scaledjobinsights. Each object has the name of the ScaledObject or ScaledJob that
 * it is about:
 *   apiVersion, kind   insight.kscaled.io/v1, ScaledObjectInsight or ScaledJobInsight
 *   metadata           name, namespace, uid, creationTimestamp and labels: those of the other
 *   summary            serve/explain/explain.h
 *   explanation        the same; only of one that is asked for by its name
 * Lists are sorted by namespace and name; labelSelector, fieldSelector and the form of a Table are
 * as in Kubernetes (insightquery.h, insighttable.h). Nothing is watched: 405. 503 with Retry-After
 * before the objects were read, with the reason while they cannot be: what is not known must not
 * look as if it were not there. What was read once is told on while the API server is away. 404
 * names near objects of the same kind and namespace.
 */

#define INSIGHT_GROUP   "insight.kscaled.io"
#define INSIGHT_VERSION "v1"
#define INSIGHT_PATH    "/apis/" INSIGHT_GROUP "/" INSIGHT_VERSION

struct request;

void insight_handle(struct request *r); /* of the kind that the route names (enum scaled_kind) */
void insight_handle_list(struct request *r);

#endif
