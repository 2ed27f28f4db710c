/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXTERNALMETRICS_H
#define SERVE_EXTERNALMETRICS_H

/*
 * The external metrics API: GET
 * …/namespaces/{namespace}/{metric}?labelSelector=scaledobject.keda.sh/name=<name> (doc/keda.md 5).
 * A reading that is recent enough is answered from memory; else all requests for it share one
 * query, each with its own deadline. A client that leaves ends its request.
 */

struct request;

/* Replies with the value, or a Status that says why there is none. */
void externalmetrics_handle(struct request *r);

#endif
