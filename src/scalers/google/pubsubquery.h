/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GOOGLE_PUBSUBQUERY_H
#define SCALERS_GOOGLE_PUBSUBQUERY_H

/*
 * What gcp-pubsub asks Cloud Monitoring, in its query language (MQL), letter for letter as KEDA
 * writes it (doc/keda.md 8.28). Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pubsubquery {             /* borrowed */
	bool topic;              /* else a subscription */
	const char *mode;        /* "SubscriptionSize", or a metric in CamelCase */
	const char *id;          /* of the subscription, of the topic */
	const char *aggregation; /* "mean", ..., "percentile99"; NULL: none */
	int64_t horizon_ms;      /* 0: 2 minutes, with an aggregation 5 */
};

/*
 * Takes "projects/PROJECT/subscriptions/ID" (or topics) apart; any other name is an id. *project is
 * NULL then; the caller owns both. ERR_INVALID: what Pub/Sub does not take for a name.
 */
int pubsubquery_name(const char *name, char **project, char **id, struct err *err);

/* The metric that a mode asks for; constant, or mode itself. */
const char *pubsubquery_metric(const char *mode);
/* How far is looked back, above 0. */
int64_t pubsubquery_horizon_ms(const struct pubsubquery *q);

/* ERR_INVALID: mode or aggregation is none. */
int pubsubquery_check(const struct pubsubquery *q, struct err *err);

/* The query, which the caller owns, of what was checked. */
char *pubsubquery_text(const struct pubsubquery *q, const char *project);

#endif
