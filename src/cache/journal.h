/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_JOURNAL_H
#define CACHE_JOURNAL_H

/*
 * Why things are as they are: the newest decision of each object with its reason, the decisions
 * before it that were different, and the changes of its replicas (a ScaledJob's: how many Jobs run)
 * with who made them. Kept in memory with caps, written by control on the leader, read by serve for
 * `kscaled explain`. Says nothing that scale_explain and the Events do not say: one text, one
 * place. Holds no secret.
 *
 * Changes of replicas are seen in cache/objects/targets, whoever made them; what control tells of
 * its own comes before or after that, and the two are one. An object with nothing but decisions
 * costs about half a KiB, and a decision that is like the last one costs a comparison
 * (journal_stands).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/objects/store.h"
#include "cache/objects/targets.h"
#include "decide/scale.h"

#define JOURNAL_CHANGES_MAX   10
#define JOURNAL_DECISIONS_MAX 10
#define JOURNAL_TEXT_MAX      300 /* bytes of a text; the rest is cut off */

struct journal_verdict {  /* what was decided, of either kind of object */
	const char *rule; /* a constant: scale_rule_name, jobs_rule_name */
	bool act;
	int32_t replicas; /* wanted; of a ScaledJob: Jobs to create now */
	bool active, forced, failing;
	int64_t until_unix_ms; /* until when it stands at the most, as a cooldown; 0: it is not known */
};

struct journal_facts { /* what it was decided on; borrowed */
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
	char *who; /* "kscaled", "HorizontalPodAutoscaler keda-hpa-web", "kubectl-edit", as the target's managedFields,
		      or else the HPA, tell it; "unknown" */
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

/* Its target or its HPA changed, or it is gone. The store is asked for the HPA. */
void journal_follow(const struct store *store, struct object *o, unsigned changes);

/*
 * Whether a decision of this mark (scale_mark, jobs_mark) is the one that was noted last. If so it
 * is noted that it stands at this time, and nothing else need be told of it: that is what nearly
 * every poll finds, so no text is made for it.
 */
bool journal_stands(struct object *o, uint64_t mark, int64_t at_unix_ms);

/*
 * What one tick decided, and its mark. text: scale_explain's or jobs_explain's, copied. Objects
 * that are gone are passed over.
 */
void journal_decided(struct object *o, uint64_t mark, const struct journal_facts *facts,
	const struct journal_verdict *d, const char *text);

/*
 * We changed the replicas (of a ScaledJob: from the Jobs that ran to those that run now), and why:
 * the API server has answered. Changes by others are noted by the journal itself, which sees the
 * target change.
 */
void journal_scaled(struct object *o, int64_t at_unix_ms, int32_t from, int32_t to, const char *why);

const struct journal_object *journal_get(const struct object *o); /* NULL: nothing is known */

#endif
