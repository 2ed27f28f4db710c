/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINPARTS_H
#define SERVE_EXPLAIN_EXPLAINPARTS_H

/*
 * What serve/explain tells of ScaledObjects and of ScaledJobs alike: pieces of JSON, as
 * explain.h has them.
 */

#include "cache/cache.h"
#include "serve/jsonout.h"

void explainparts_leader(struct jsonout *j, const struct leadership *l);

/* The value, or null while it is not known. */
void explainparts_number(struct jsonout *j, const char *key, bool known, int64_t value);

/* The condition's status as text; null when there is none of this type yet. */
void explainparts_condition(struct jsonout *j, const char *key, const struct conditions *all, const char *type);

/*
 * What the leader that answers decided of the object last; NULL on a standby, where it was
 * overtaken long ago: it is history, and stands among the decisions.
 */
const struct journal_object *explainparts_decided(const struct cache *cache, const struct journal_object *o);

/*
 * Members rule and reason: what is wrong (Ready refused with this reason) goes before what was
 * decided; a standby, which decides nothing, repeats what the conditions say. paused: the sentence
 * of an object that is paused and of which nothing was decided; NULL when it is not.
 */
void explainparts_reason(struct jsonout *j, const struct conditions *all, const struct journal_object *decided,
	const char *refusal, const char *paused);

/*
 * Members conditions, changes and decisions. number: what decisions call their number, "replicas".
 * o NULL: none are known.
 */
void explainparts_history(struct jsonout *j, const struct conditions *all, const struct journal_object *o,
	const char *number);

#endif
