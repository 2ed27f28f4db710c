/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include "decide/annotations.h"
#include "decide/jobs/jobs_parts.h"
#include "decide/sentence.h"

#define NAMED_MAX 5 /* triggers named in a sentence; the rest are counted */

/* "1 Job", "7 Jobs", "no Job" */
static void add_jobs(struct sentence *s, int64_t count)
{
	if (count == 0)
		sentence_add(s, "no Job");
	else
		sentence_add(s, "%lld Job%s", (long long)count, count == 1 ? "" : "s");
}

enum pick { PICK_ACTIVE, PICK_READ, PICK_FAILING };

static bool picked(const struct jobs_share *share, enum pick pick)
{
	switch (pick) {
	case PICK_ACTIVE: return share->active;
	case PICK_READ: return !share->failing;
	case PICK_FAILING: return share->failing;
	}
	return false;
}

static size_t count_picked(const struct jobs_facts *facts, enum pick pick)
{
	struct jobs_share share = { 0 };
	size_t n = 0;

	while (jobs_next_share(facts, &share))
		n += picked(&share, pick);
	return n;
}

/* "s1-redis-mail (connection refused)": the metric of a failing trigger. */
static void add_failing(struct sentence *s, const struct jobs_share *share)
{
	const struct jobs_trigger *t = share->first;

	while (!t->err)
		t++;
	sentence_add(s, "%s (%s)", t->metric_name, t->err->msg);
}

/* "s0-redis-jobs 12 of 5": of 5 for each Job. */
static void add_share(struct sentence *s, const struct jobs_share *share)
{
	sentence_add(s, "%s %.10g", share->first->metric_name, share->queue);
	if (share->target != 1)
		sentence_add(s, " of %.10g", share->target);
}

static void add_triggers(struct sentence *s, const struct jobs_facts *facts, enum pick pick)
{
	struct jobs_share share = { 0 };
	size_t named = 0, more = 0;

	while (jobs_next_share(facts, &share)) {
		if (!picked(&share, pick))
			continue;
		if (named == NAMED_MAX) {
			more++;
			continue;
		}
		sentence_add(s, "%s", named++ > 0 ? ", " : "");
		if (pick == PICK_FAILING)
			add_failing(s, &share);
		else
			add_share(s, &share);
	}
	if (more > 0)
		sentence_add(s, " and %zu more", more);
}

/* ---- Clauses ---- */

/* The number of triggers that the calculation uses: avg counts failing ones, too. */
static size_t counted(const struct jobs_facts *facts)
{
	return count_picked(facts, PICK_ACTIVE) +
		(jobs_calculation(facts->spec) == JOBS_CALCULATION_AVG ? count_picked(facts, PICK_FAILING) : 0);
}

static void add_queue_of_one(struct sentence *s, const struct jobs_facts *facts, const struct jobs_decision *d)
{
	struct jobs_share share = { .next = (size_t)d->trigger };

	jobs_next_share(facts, &share);
	sentence_add(s, "%.10g waiting in %s", share.queue, share.first->metric_name);
	if (share.target == 0)
		sentence_add(s, " (without a target, which asks for no Job)");
	else if (share.target != 1)
		sentence_add(s, " (%.10g for each Job)", share.target);
}

/*
 * "10 waiting in s0-redis-jobs (5 for each Job)"; "sum of 2 triggers 12 for 5 Jobs (s0-redis-jobs
 * 10, s1-redis-mail 2 of 5)"
 */
static void add_queue(struct sentence *s, const struct jobs_facts *facts, const struct jobs_decision *d)
{
	if (counted(facts) == 1) {
		add_queue_of_one(s, facts, d);
		return;
	}
	sentence_add(s, "%s of %zu triggers %.10g for ", jobs_calculations[jobs_calculation(facts->spec)],
		counted(facts), d->queue);
	add_jobs(s, d->max_scale);
	sentence_add(s, " (");
	add_triggers(s, facts, PICK_ACTIVE);
	sentence_add(s, ")");
}

/* "7 Jobs run (2 for minReplicaCount)" */
static void add_running(struct sentence *s, const struct jobs_facts *facts)
{
	int64_t running = jobs_at_work(facts), beyond = jobs_beyond_min(facts);

	add_jobs(s, running);
	sentence_add(s, running > 1 ? " run" : " runs");
	if (running > beyond)
		sentence_add(s, " (%lld for minReplicaCount)", (long long)(running - beyond));
}

/* What strategies other than default subtract. */
static void add_strategy(struct sentence *s, const struct jobs_facts *facts)
{
	int64_t pending = jobs_pending(facts);
	enum jobs_strategy strategy = jobs_strategy(facts->spec);

	switch (strategy) {
	case JOBS_STRATEGY_DEFAULT: break;
	case JOBS_STRATEGY_CUSTOM:
		sentence_add(s, ", custom: less %d and less %lld for Jobs that run", (int)jobs_deduction(facts->spec),
			(long long)jobs_running_share(facts));
		break;
	case JOBS_STRATEGY_ACCURATE:
	case JOBS_STRATEGY_EAGER:
		sentence_add(s, ", %s: ", jobs_strategies[strategy]);
		add_jobs(s, pending);
		sentence_add(s, pending > 1 ? " are pending" : " is pending");
		break;
	}
}

static void add_troubles(struct sentence *s, const struct jobs_facts *facts)
{
	if (count_picked(facts, PICK_FAILING) > 0) {
		sentence_add(s, "; failing: ");
		add_triggers(s, facts, PICK_FAILING);
	}
	if (facts->create_trouble)
		sentence_add(s, "; the last Job could not be created: %s", facts->create_trouble);
}

/* Known readings that do not make it active. */
static void add_readings(struct sentence *s, const struct jobs_facts *facts)
{
	sentence_add(s, "no trigger is active");
	if (count_picked(facts, PICK_READ) > 0) {
		sentence_add(s, " (");
		add_triggers(s, facts, PICK_READ);
		sentence_add(s, ")");
	}
}

static void add_hold(struct sentence *s, const struct jobs_facts *facts, const struct jobs_decision *d)
{
	if (facts->trigger_count == 0) {
		sentence_add(s, "no trigger could be asked");
	} else if (!facts->triggers[d->trigger].err) {
		sentence_add(s, "without all triggers their min is not known (");
		add_triggers(s, facts, PICK_ACTIVE);
		sentence_add(s, ")");
	} else {
		add_readings(s, facts);
	}
}

static void add_reason(struct sentence *s, const struct jobs_facts *facts, const struct jobs_decision *d)
{
	switch (d->rule) {
	case JOBS_RULE_PAUSED: break;
	case JOBS_RULE_JOBS_UNKNOWN: sentence_add(s, "which Jobs run is not known (%s)", facts->jobs_err->msg); break;
	case JOBS_RULE_PODS_UNKNOWN:
		add_queue(s, facts, d);
		sentence_add(s, ", but which Jobs are pending is not known (%s)", facts->pods_err->msg);
		break;
	case JOBS_RULE_BELOW_MIN:
		add_running(s, facts);
		sentence_add(s, ", of at least %d", (int)scaledjob_min(facts->spec));
		break;
	case JOBS_RULE_CREATE:
	case JOBS_RULE_AT_MAX:
	case JOBS_RULE_ENOUGH:
		add_queue(s, facts, d);
		sentence_add(s, ", ");
		add_running(s, facts);
		add_strategy(s, facts);
		sentence_add(s, ", at most %lld", (long long)scaledjob_max(facts->spec) + scaledjob_min(facts->spec));
		if (d->rule == JOBS_RULE_ENOUGH && jobs_is_answered(facts))
			sentence_add(s, "; Jobs were created for that already, and the source was not asked again");
		break;
	case JOBS_RULE_ERROR_HOLD: add_hold(s, facts, d); break;
	case JOBS_RULE_INACTIVE:
		add_readings(s, facts);
		sentence_add(s, ", ");
		add_running(s, facts);
		break;
	}
}

char *jobs_explain(const struct jobs_facts *facts, const struct jobs_decision *d, char *out, size_t size)
{
	struct sentence s = sentence_in(out, size);

	if (d->rule == JOBS_RULE_PAUSED) {
		sentence_add(&s, "paused by annotation " ANNOTATION_PAUSED);
		return out;
	}
	sentence_add(&s, "creates ");
	add_jobs(&s, d->create);
	if (d->rule == JOBS_RULE_AT_MAX)
		sentence_add(&s, d->create > 0 ? ", as many as maxReplicaCount allows" : ", held by maxReplicaCount");
	sentence_add(&s, ": ");
	add_reason(&s, facts, d);
	add_troubles(&s, facts);
	return out;
}

bool jobs_failure(const struct jobs_facts *facts, char *out, size_t size)
{
	struct jobs_cause cause = jobs_first_cause(facts);
	struct sentence s = sentence_in(out, size);

	if (!cause.text)
		return false;
	if (cause.name)
		sentence_add(&s, "%s: ", cause.name);
	sentence_add(&s, "%s", cause.text);
	return true;
}
