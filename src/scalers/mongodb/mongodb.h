/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_MONGODB_MONGODB_H
#define SCALERS_MONGODB_MONGODB_H

/*
 * Trigger type mongodb (doc/keda.md 8.4): the number of documents of a collection that match a
 * query. Uses the connections of net/mongo. There is no push: a change stream needs a replica set
 * and an extra permission, and does not tell which documents match.
 */

#include "scalers/scaler.h"

extern const struct scaler_type mongodb_scaler_type;

#endif
