/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GOOGLE_GCPPUBSUB_H
#define SCALERS_GOOGLE_GCPPUBSUB_H

/*
 * Trigger type `gcp-pubsub` (doc/keda.md 8.28): a metric of a subscription or a topic of Google's
 * Pub/Sub, from Cloud Monitoring. Over scalers/http/httpsource; scalers/login/googlelogin logs in,
 * pubsubquery makes the query, timeseriesreply reads the response.
 */

#include "scalers/scaler.h"

extern const struct scaler_type gcppubsub_scaler_type;

#endif
