/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_ELASTICSEARCH_H
#define SCALERS_ELASTICSEARCH_ELASTICSEARCH_H

/*
 * Trigger types `elasticsearch` and `opensearch` (doc/keda.md 8.9): a number in the answer to a
 * search, which the trigger has as a text or as the name of a search template. Both are asked the
 * same, and differ in how one logs in. What is sent is scalers/elasticsearch/searchrequest, what
 * comes back searchreply.
 *
 * Of several addresses the one that answered last is asked; one that does not answer, or is only a
 * proxy whose server is away, hands over to the next.
 */

#include "scalers/scaler.h"

extern const struct scaler_type elasticsearch_scaler_type, opensearch_scaler_type;

#endif
