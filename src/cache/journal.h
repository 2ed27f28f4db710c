/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_JOURNAL_H
#define CACHE_JOURNAL_H

/*
 * Records decisions for `kscaled explain`: the newest decision of each object with its reason,
 * previous different decisions, and changes of its replicas (of a ScaledJob: running Jobs) with
 * their author. In memory with caps; written by control on the leader, read by serve. Texts are
 * those of scale_explain and the Events. Contains no secrets.
 *
 * Changes of replicas are observed in cache/objects/targets, whoever made them; control reports its
 * own changes before or after that, and both become one entry. An object with only decisions takes
 * about half a KiB, and a decision equal to the last costs a comparison (journal_stands).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/objects/store.h"
#include "cache/objects/targets.h"
#include "decide/scale.h"

#define JOURNAL_CHANGES_MAX   10
#define JOURNAL_DECISIONS_MAX 10
#define JOURNAL_TEXT_MAX      300 /* bytes of a text; longer ones are cut */

struct journal_verdict {  /* a decision about either kind of object */
	const char *rule; /* a constant: scale_rule_name, jobs_rule_name */
	bool act;
	int32_t replicas; /* wanted; of a ScaledJob: Jobs to create now */
	bool active, forced, failing;
	int64_t until_unix_ms; /* latest time until which it holds, such as the end of a cooldown; 0: unknown */
};

struct journal_facts { /* the inputs of the decision; borrowed */
	int64_t now_unix_ms;
	const struct verdict_trigger *triggers;
	size_t trigger_count;
	const struct composite *composite; /* NULL: there is none */
};

struct journal_trigger { /* of the newest decision */
	char *metric;    /* "s0-redis-jobs" */
	double value;
	bool active, failing, falling_back;
	int32_t failures;
	char *trouble; /* the source's error; NULL */
};

struct journal_decision { /* newest last; only when the rule or the wanted replicas changed */
	int64_t at_unix_ms;
	const char *rule;
	int32_t replicas;
	char *text; /* scale_explain's, jobs_explain's */
};

struct journal_change {
	int64_t at_unix_ms;
	int32_t from, to;
	char *who; /* "kscaled", "HorizontalPodAutoscaler keda-hpa-web", "kubectl-edit", from the target's
		      managedFields or the HPA; "unknown" */
	char *why; /* "" when nothing is known */
};

struct journal_object { /* borrowed until the loop turns */
	bool decided;
	int64_t decided_at_unix_ms;
	uint64_t mark; /* of it */
	struct journal_verdict decision;
	char *text; /* of the newest decision */
	struct journal_trigger *triggers;
	size_t trigger_count;
	bool has_composite;
	double composite;
	char *composite_trouble;
	struct journal_decision *decisions;
	size_t decision_count; /* at most JOURNAL_DECISIONS_MAX, newest last */
	struct journal_change *changes;
	size_t change_count; /* at most JOURNAL_CHANGES_MAX, newest last */
};

/* Handles changes of the target or the HPA, and deletion. The HPA is looked up in the store. */
void journal_follow(const struct store *store, struct object *o, unsigned changes);

/*
 * Whether the last decision noted has this mark (scale_mark, jobs_mark). If so, records that it
 * still holds at this time, and no text needs to be made; this is the case in nearly every poll.
 */
bool journal_stands(struct object *o, uint64_t mark, int64_t at_unix_ms);

/*
 * Records the decision of one poll and its mark. text: scale_explain's or jobs_explain's, copied.
 * Deleted objects are ignored.
 */
void journal_decided(struct object *o, uint64_t mark, const struct journal_facts *facts,
	const struct journal_verdict *d, const char *text);

/*
 * Records that we changed the replicas (of a ScaledJob: running Jobs) and why, after the API
 * server's answer. Changes by others are detected from the target.
 */
void journal_scaled(struct object *o, int64_t at_unix_ms, int32_t from, int32_t to, const char *why);

const struct journal_object *journal_get(const struct object *o); /* NULL: nothing is known */

#endif
