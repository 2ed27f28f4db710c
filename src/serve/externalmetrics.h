/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXTERNALMETRICS_H
#define SERVE_EXTERNALMETRICS_H

/*
 * The external metrics API: GET
 * …/namespaces/{namespace}/{metric}?labelSelector=scaledobject.keda.sh/name=<name> (keda-core.md
 * 5). A reading young enough is answered from memory, else all who ask join one query, each with a
 * deadline; a client that leaves waits no longer.
 */

struct request;

void externalmetrics_handle(struct request *r);

#endif
