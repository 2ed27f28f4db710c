/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GOOGLE_PUBSUBQUERY_H
#define SCALERS_GOOGLE_PUBSUBQUERY_H

/*
 * gcp-pubsub's query to Cloud Monitoring in its query language (MQL), exactly as KEDA writes it
 * (doc/keda.md 8.28). Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pubsubquery {             /* borrowed */
	bool topic;              /* false: a subscription */
	const char *mode;        /* "SubscriptionSize", or a metric in CamelCase */
	const char *id;          /* of the subscription or topic */
	const char *aggregation; /* "mean", ..., "percentile99"; NULL: none */
	int64_t horizon_ms;      /* 0: 2 minutes, or 5 with an aggregation */
};

/*
 * Splits "projects/PROJECT/subscriptions/ID" (or topics); any other name is an id, with *project
 * NULL. The caller owns both. ERR_INVALID: not a valid Pub/Sub name.
 */
int pubsubquery_name(const char *name, char **project, char **id, struct err *err);

/* The metric of a mode; constant, or mode itself. */
const char *pubsubquery_metric(const char *mode);
/* The time window, above 0. */
int64_t pubsubquery_horizon_ms(const struct pubsubquery *q);

/* ERR_INVALID: mode or aggregation is invalid. */
int pubsubquery_check(const struct pubsubquery *q, struct err *err);

/* The query, which the caller owns; after pubsubquery_check. */
char *pubsubquery_text(const struct pubsubquery *q, const char *project);

#endif
