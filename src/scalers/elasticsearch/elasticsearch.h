/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_ELASTICSEARCH_H
#define SCALERS_ELASTICSEARCH_ELASTICSEARCH_H

/*
 * Trigger types `elasticsearch` and `opensearch` (doc/keda.md 8.9): a number in the answer to a
 * search, which is given as a query or as the name of a search template. The types send the same
 * requests and differ in the login. scalers/elasticsearch/searchrequest makes the request,
 * searchreply reads the answer.
 *
 * Requests go to the address that answered last. If it does not answer, or is a proxy that reports
 * its server as down (502, 503, 504), the next one is tried.
 */

#include "scalers/scaler.h"

extern const struct scaler_type elasticsearch_scaler_type, opensearch_scaler_type;

#endif
