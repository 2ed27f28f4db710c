/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include "../crd/given.h"

/* Times of the table: the object is created at 0 s of T, all in milliseconds. */
#define T 1700000000000
#define S 1000
#define NONE INT32_UNSET
#define TRIGGERS_MAX 8

static const struct err source_down = { .kind = ERR_TEMPORARY, .msg = "connecting to 10.0.0.7:6379: timed out" };

struct row {
	const char *name;
	/* spec; 0 stands for itself, NONE for absent */
	int32_t min, idle, cooldown_s, initial_s;
	/* facts: one letter per trigger: A active, i inactive, E failing, and the replicas (-1: unknown) */
	const char *triggers;
	int32_t replicas;
	int64_t last_active, now;
	/* wanted */
	enum scale_rule rule;
	int32_t to; /* NONE: nothing is written */
	const char *ready, *active;
	int64_t last_active_out, until;
	int trigger;
};

#define READY "True ScaledObjectReady"
#define PARTIAL "Unknown PartialTriggerError"
#define BROKEN "False TriggerError"
#define IS_ACTIVE "True ScalerActive"
#define NOT_ACTIVE "False ScalerNotActive"
#define COOLS "False ScalerCooldown"
#define NOW (T + 1000 * S)

static const struct row rows[] = {
	/* Active: keda-core.md 3.4, first three rows */
	{ "active at 0, min unset", NONE, NONE, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active at 0, min 0", 0, NONE, NONE, NONE, "iA", 0, 0, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE, NOW, 0, 1 },
	{ "active at 0, min 3", 3, NONE, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active at 0 is not for idle", 3, 0, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active while idling at 1 of 3", 3, 1, NONE, NONE, "A", 1, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active below min without idle is the HPA's", 3, NONE, NONE, NONE, "A", 1, 0, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active at min with idle", 3, 1, NONE, NONE, "A", 3, 0, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active and running", NONE, NONE, NONE, NONE, "iiA", 7, T, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE, NOW, 0, 2 },
	{ "active, one fails", NONE, NONE, NONE, NONE, "EA", 7, T, NOW, SCALE_RULE_ACTIVE_PARTIAL, NONE, PARTIAL, IS_ACTIVE, NOW, 0, 1 },
	{ "activating, one fails", NONE, NONE, NONE, NONE, "AE", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, PARTIAL, IS_ACTIVE, NOW, 0, 0 },

	/* Failing and not active: nothing moves, whatever else is set */
	{ "fails at 5", NONE, NONE, NONE, NONE, "E", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T, 0, 0 },
	{ "fails at 5, another is quiet", NONE, NONE, 0, NONE, "iE", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T, 0, 1 },
	{ "fails at 0", NONE, NONE, NONE, NONE, "E", 0, 0, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, 0, 0, 0 },
	{ "fails below min", 3, NONE, NONE, NONE, "E", 1, 0, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, 0, 0, 0 },
	{ "fails above idle", 3, 1, 0, NONE, "E", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T, 0, 0 },
	{ "no trigger could be asked", NONE, NONE, 0, NONE, "", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, NULL, NULL, T, 0, -1 },

	/* Not active: to idle or 0 after the cooldown, strictly past its end */
	{ "cooldown ended 1 ms ago", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S - 1, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, NOW - 60 * S - 1, 0, -1 },
	{ "cooldown ends now", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW - 60 * S, NOW + 1, -1 },
	{ "cooldown ends in 1 ms", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S + 1, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW - 60 * S + 1, NOW + 2, -1 },
	{ "default cooldown of 300 s, over", NONE, NONE, NONE, NONE, "ii", 5, NOW - 300 * S - 1, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, NOW - 300 * S - 1, 0, -1 },
	{ "default cooldown of 300 s, not over", NONE, NONE, NONE, NONE, "ii", 5, NOW - 300 * S, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW - 300 * S, NOW + 1, -1 },
	{ "cooldown 0, active 1 ms ago", NONE, NONE, 0, NONE, "i", 5, NOW - 1, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, NOW - 1, 0, -1 },
	{ "min 0 is as unset", 0, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, T, 0, -1 },
	{ "to idle", 3, 1, 60, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 1, READY, NOT_ACTIVE, T, 0, -1 },
	{ "to idle 0 from min", 3, 0, 60, NONE, "i", 3, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, T, 0, -1 },
	{ "idle, cooling", 3, 1, 60, NONE, "i", 5, NOW, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW, NOW + 60 * S + 1, -1 },
	{ "idle rests at idle", 3, 1, 60, NONE, "i", 1, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },
	{ "idle rests below idle", 3, 1, 60, NONE, "i", 0, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },

	/* Never active: the initial cooldown counts from creation; the cooldown does not count */
	{ "never active, initial unset", NONE, NONE, 100000, NONE, "i", 5, 0, T + 1, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, 0, 0, -1 },
	{ "never active, created now", NONE, NONE, NONE, NONE, "i", 5, 0, T, SCALE_RULE_INITIAL_COOLDOWN, NONE, READY, COOLS, 0, T + 1, -1 },
	{ "initial cooldown ends now", NONE, NONE, NONE, 1000, "i", 5, 0, NOW, SCALE_RULE_INITIAL_COOLDOWN, NONE, READY, COOLS, 0, NOW + 1, -1 },
	{ "initial cooldown ended 1 ms ago", NONE, NONE, NONE, 1000, "i", 5, 0, NOW + 1, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, 0, 0, -1 },
	{ "initial cooldown is over once active", NONE, NONE, 60, 100000, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, T, 0, -1 },

	/* Not active, min > 0 */
	{ "below min", 3, NONE, NONE, NONE, "i", 1, NOW, NOW, SCALE_RULE_BELOW_MIN, 3, READY, NOT_ACTIVE, NOW, 0, -1 },
	{ "at 0 below min", 3, NONE, NONE, NONE, "i", 0, 0, NOW, SCALE_RULE_BELOW_MIN, 3, READY, NOT_ACTIVE, 0, 0, -1 },
	{ "at min", 3, NONE, 0, NONE, "i", 3, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },
	{ "above min is the HPA's", 3, NONE, 0, NONE, "i", 9, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },
	{ "sleeps at 0", NONE, NONE, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },

	/* The replicas are not known */
	{ "unknown, active", NONE, NONE, NONE, NONE, "A", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE, "False ErrorGettingCurrentReplicas", NULL, NOW, 0, 0 },
	{ "unknown, not active", NONE, NONE, 0, NONE, "i", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE, "False ErrorGettingCurrentReplicas", NULL, T, 0, -1 },
	{ "unknown, none asked", NONE, NONE, 0, NONE, "", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE, NULL, NULL, T, 0, -1 },

	/* Time that does not behave */
	{ "active in the future counts as now", NONE, NONE, 60, NONE, "i", 5, NOW + 3600 * S, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW, NOW + 60 * S + 1, -1 },
	{ "active at the end of time", NONE, NONE, 60, NONE, "i", 5, INT64_MAX, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW, NOW + 60 * S + 1, -1 },
	{ "now at the end of time", NONE, NONE, INT32_MAX, NONE, "i", 5, INT64_MAX, INT64_MAX, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, INT64_MAX, INT64_MAX, -1 },
	{ "longest cooldown", NONE, NONE, INT32_MAX, NONE, "i", 5, T, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, T, T + (int64_t)INT32_MAX * S + 1, -1 },
	{ "longest initial cooldown", NONE, NONE, NONE, INT32_MAX, "i", 5, 0, NOW, SCALE_RULE_INITIAL_COOLDOWN, NONE, READY, COOLS, 0, T + (int64_t)INT32_MAX * S + 1, -1 },
};

static struct scaledobject_spec spec_of(const struct row *r)
{
	return (struct scaledobject_spec){
		.polling_interval_s = NONE, .cooldown_s = r->cooldown_s, .initial_cooldown_s = r->initial_s,
		.idle_replicas = r->idle, .min_replicas = r->min, .max_replicas = NONE,
	};
}

static size_t make_triggers(const char *letters, struct scale_trigger *out)
{
	static const char *const names[TRIGGERS_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c", "s3-redis-d", "s4-redis-e", "s5-redis-f", "s6-redis-g", "s7-redis-h" };
	size_t count = strlen(letters);

	for (size_t i = 0; i < count; i++)
		out[i] = (struct scale_trigger){
			.metric_name = names[i],
			.reading = { .value = letters[i] == 'A' ? 12 : 0, .active = letters[i] != 'i' }, /* a failing one's reading must not count */
			.err = letters[i] == 'E' ? &source_down : NULL,
		};
	return count;
}

static void check_condition(const char *row, const char *wanted, enum condition_status status, const char *reason)
{
	char got[100];

	if (wanted == NULL) {
		if (reason != NULL)
			fail_msg("%s: %s is set", row, reason);
		return;
	}
	snprintf(got, sizeof(got), "%s %s", condition_status_name(status), reason != NULL ? reason : "(none)");
	if (strcmp(got, wanted) != 0)
		fail_msg("%s: %s instead of %s", row, got, wanted);
}

static void check_row(const struct row *r)
{
	struct scaledobject_spec spec = spec_of(r);
	struct scale_trigger triggers[TRIGGERS_MAX];
	struct scale_facts facts = {
		.spec = &spec, .created_unix_ms = T, .now_unix_ms = r->now, .triggers = triggers, .trigger_count = make_triggers(r->triggers, triggers),
		.replicas_known = r->replicas >= 0, .replicas = r->replicas, .last_active_unix_ms = r->last_active,
	};
	struct scale_decision d = scale_decide(&facts);

	if (d.rule != r->rule)
		fail_msg("%s: rule %s instead of %s", r->name, scale_rule_name(d.rule), scale_rule_name(r->rule));
	if (d.act != (r->to != NONE) || (d.act && d.replicas != r->to) || (!d.act && r->replicas >= 0 && d.replicas != r->replicas))
		fail_msg("%s: act %d to %d", r->name, d.act, (int)d.replicas);
	if (d.last_active_unix_ms != r->last_active_out || d.until_unix_ms != r->until)
		fail_msg("%s: last active %lld, until %lld", r->name, (long long)d.last_active_unix_ms, (long long)d.until_unix_ms);
	if (d.trigger != r->trigger)
		fail_msg("%s: trigger %d instead of %d", r->name, d.trigger, r->trigger);
	if (d.active != (strchr(r->triggers, 'A') != NULL) || d.failing != (strchr(r->triggers, 'E') != NULL || *r->triggers == '\0'))
		fail_msg("%s: active %d, failing %d", r->name, d.active, d.failing);
	check_condition(r->name, r->ready, d.ready, d.ready_reason);
	check_condition(r->name, r->active, d.active_status, d.active_reason);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

/* KEDA's words, which people's alerts look for. */
static void test_messages(void **state)
{
	static const struct { const char *triggers; int32_t replicas; int64_t last_active; const char *ready, *active; } cases[] = {
		{ "A", 1, NOW, "ScaledObject is defined correctly and is ready for scaling", "Scaling is performed because triggers are active" },
		{ "AE", 1, NOW, "Some triggers defined in ScaledObject are not working correctly", "Scaling is performed because triggers are active" },
		{ "E", 1, NOW, "Triggers defined in ScaledObject are not working correctly", "Scaling is not performed because triggers are not active" },
		{ "i", 0, NOW, "ScaledObject is defined correctly and is ready for scaling", "Scaling is not performed because triggers are not active" },
		{ "i", 1, NOW, "ScaledObject is defined correctly and is ready for scaling", "Scaler cooling down because triggers are not active" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct row r = { .min = NONE, .idle = NONE, .cooldown_s = NONE, .initial_s = NONE };
		struct scaledobject_spec spec = spec_of(&r);
		struct scale_trigger triggers[TRIGGERS_MAX];
		struct scale_facts facts = {
			.spec = &spec, .created_unix_ms = T, .now_unix_ms = NOW, .triggers = triggers, .trigger_count = make_triggers(cases[i].triggers, triggers),
			.replicas_known = true, .replicas = cases[i].replicas, .last_active_unix_ms = cases[i].last_active,
		};
		struct scale_decision d = scale_decide(&facts);

		assert_string_equal(d.ready_message, cases[i].ready);
		assert_string_equal(d.active_message, cases[i].active);
	}
}

/* ---- Whatever the facts are ---- */

static uint64_t seed;

static uint64_t random_below(uint64_t limit) /* xorshift: the same numbers in every run */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static int32_t random_count(void)
{
	static const int32_t edges[] = { INT32_UNSET, 0, 1, 2, 3, 5, 100, INT32_MAX };

	return edges[random_below(sizeof(edges) / sizeof(edges[0]))];
}

static int64_t random_time(void)
{
	static const int64_t edges[] = { 0, 1, T - 1, T, T + 1, NOW, NOW + 300 * S, INT64_MAX - 1, INT64_MAX };

	return edges[random_below(sizeof(edges) / sizeof(edges[0]))];
}

static void random_letters(char *letters)
{
	size_t count = random_below(TRIGGERS_MAX);

	for (size_t i = 0; i < count; i++)
		letters[i] = "AiE"[random_below(3)];
	letters[count] = '\0';
}

static void check_properties(const struct scale_facts *facts, const char *letters)
{
	struct scale_decision d = scale_decide(facts);
	int32_t min = facts->spec->min_replicas > 0 ? facts->spec->min_replicas : 0;
	bool active = strchr(letters, 'A') != NULL, failing = strchr(letters, 'E') != NULL || *letters == '\0';

	assert_int_equal(d.active, active);
	assert_int_equal(d.failing, failing);
	assert_true(d.replicas >= 0);
	if (d.act)
		assert_true(facts->replicas_known && d.replicas != facts->replicas);
	else
		assert_int_equal(d.replicas, facts->replicas);
	if (failing)
		assert_true(d.replicas >= facts->replicas);
	if (active)
		assert_true(d.replicas >= facts->replicas && d.last_active_unix_ms == facts->now_unix_ms);
	if (active && d.act)
		assert_int_equal(d.replicas, min > 0 ? min : 1);
	if (failing && !active)
		assert_false(d.act);
	if (active && facts->replicas_known)
		assert_true(d.replicas > 0);
	assert_true(d.last_active_unix_ms <= facts->now_unix_ms);
	assert_int_equal(d.until_unix_ms != 0, d.rule == SCALE_RULE_COOLDOWN || d.rule == SCALE_RULE_INITIAL_COOLDOWN);
	if (d.until_unix_ms != 0)
		assert_true(d.until_unix_ms > facts->now_unix_ms || facts->now_unix_ms == INT64_MAX);
	assert_int_equal(d.trigger >= 0, active || strchr(letters, 'E') != NULL);
}

/* A look at the time that a cooldown names must act; one a moment earlier must not. */
static void check_end_of_cooldown(struct scale_facts facts)
{
	struct scale_decision d = scale_decide(&facts);

	if (d.until_unix_ms == 0 || d.until_unix_ms == INT64_MAX)
		return;
	facts.last_active_unix_ms = d.last_active_unix_ms;
	facts.now_unix_ms = d.until_unix_ms - 1;
	assert_false(scale_decide(&facts).act);
	facts.now_unix_ms = d.until_unix_ms;
	assert_int_equal(scale_decide(&facts).rule, SCALE_RULE_DEACTIVATE);
}

static void test_properties(void **state)
{
	(void)state;
	seed = 88172645463325252u;
	for (int i = 0; i < 200000; i++) {
		struct row r = { .min = random_count(), .idle = random_count(), .cooldown_s = random_count(), .initial_s = random_count() };
		struct scaledobject_spec spec = spec_of(&r);
		struct scale_trigger triggers[TRIGGERS_MAX];
		char letters[TRIGGERS_MAX + 1], text[64];
		int32_t replicas = random_count();
		struct scale_facts facts = {
			.spec = &spec, .created_unix_ms = random_time(), .now_unix_ms = random_time(), .triggers = triggers,
			.replicas_known = random_below(8) != 0, .replicas = replicas == NONE ? 4 : replicas, .last_active_unix_ms = random_time(),
		};
		struct scale_decision d;

		if (facts.now_unix_ms < 2)
			facts.now_unix_ms = 2; /* 0 means never */
		random_letters(letters);
		facts.trigger_count = make_triggers(letters, triggers);
		check_properties(&facts, letters);
		check_end_of_cooldown(facts);
		d = scale_decide(&facts);
		scale_explain(&facts, &d, text, sizeof(text));
		assert_true(strlen(text) > 0 && strlen(text) < sizeof(text));
	}
}

/* ---- Words ---- */

static void explain(const char *letters, int32_t min, int32_t replicas, int64_t last_active, char *out, size_t size)
{
	struct row r = { .min = min, .idle = NONE, .cooldown_s = NONE, .initial_s = 7200 };
	struct scaledobject_spec spec = spec_of(&r);
	struct scale_trigger triggers[TRIGGERS_MAX];
	struct scale_facts facts = {
		.spec = &spec, .created_unix_ms = T, .now_unix_ms = NOW, .triggers = triggers, .trigger_count = make_triggers(letters, triggers),
		.replicas_known = replicas >= 0, .replicas = replicas, .last_active_unix_ms = last_active,
	};
	struct scale_decision d = scale_decide(&facts);

	assert_ptr_equal(scale_explain(&facts, &d, out, size), out);
}

static void test_explain(void **state)
{
	/* NOW is 2023-11-14T22:30:00Z. */
	static const struct { const char *triggers; int32_t min, replicas; int64_t last_active; const char *text; } cases[] = {
		{ "iA", NONE, 0, 0, "scaling from 0 to 1: active by s1-redis-b 12" },
		{ "AA", NONE, 4, 0, "the HPA scales: active by s0-redis-a 12, s1-redis-b 12" },
		{ "AE", NONE, 4, 0, "the HPA scales: active by s0-redis-a 12; failing: s1-redis-b (connecting to 10.0.0.7:6379: timed out)" },
		{ "iE", NONE, 4, 0, "held at 4: no trigger is active, but failing: s1-redis-b (connecting to 10.0.0.7:6379: timed out)" },
		{ "", NONE, 4, 0, "held at 4: no trigger could be asked" },
		{ "i", NONE, 4, NOW, "cooling down until 22:35:00: no trigger is active (s0-redis-a 0)" },
		{ "i", NONE, 4, 0, "in the initial cooldown until 2023-11-15T00:13:20Z: no trigger is active (s0-redis-a 0)" },
		{ "i", NONE, 4, T, "scaling from 4 to 0: no trigger is active (s0-redis-a 0) and the cooldown of 300 s is over" },
		{ "i", 2, 1, T, "scaling from 1 to 2: fewer than minReplicaCount, and no trigger is active (s0-redis-a 0)" },
		{ "i", NONE, 0, T, "at rest with 0: no trigger is active (s0-redis-a 0)" },
		{ "i", NONE, -1, T, "the replicas of the target cannot be read" },
		{ "AAAAAAA", NONE, 4, 0, "the HPA scales: active by s0-redis-a 12, s1-redis-b 12, s2-redis-c 12, s3-redis-d 12, s4-redis-e 12 and 2 more" },
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		explain(cases[i].triggers, cases[i].min, cases[i].replicas, cases[i].last_active, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

/* However little room there is, the text ends with a whole character. */
static void test_explain_cut(void **state)
{
	struct scaledobject_spec spec = { .min_replicas = NONE, .idle_replicas = NONE, .cooldown_s = NONE, .initial_cooldown_s = NONE };
	struct scale_trigger trigger = { .metric_name = "s0-\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x98", .reading = { 1, true } };
	struct scale_facts facts = { .spec = &spec, .now_unix_ms = NOW, .triggers = &trigger, .trigger_count = 1, .replicas_known = true, .replicas = 1 };
	struct scale_decision d = scale_decide(&facts);
	char whole[100], text[100];

	(void)state;
	scale_explain(&facts, &d, whole, sizeof(whole));
	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		size_t len;

		memset(text, 'x', sizeof(text));
		scale_explain(&facts, &d, text, size);
		len = strlen(text);
		assert_true(len < size && len + 4 > size - 1);
		assert_memory_equal(text, whole, len);
		assert_false(((unsigned char)whole[len] & 0xC0) == 0x80);
	}
	assert_string_equal(text, whole);
}

static void test_active_names(void **state)
{
	struct scale_trigger triggers[TRIGGERS_MAX];
	struct scale_facts facts = { .triggers = triggers, .trigger_count = make_triggers("AiEA", triggers) };
	char text[64];

	(void)state;
	assert_string_equal(scale_active_names(&facts, text, sizeof(text)), "s0-redis-a;s3-redis-d");
	assert_string_equal(scale_active_names(&facts, text, 13), "s0-redis-a;s");
	facts.trigger_count = make_triggers("iE", triggers);
	assert_string_equal(scale_active_names(&facts, text, sizeof(text)), "");
}

static void test_rule_names(void **state)
{
	(void)state;
	assert_string_equal(scale_rule_name(SCALE_RULE_COOLDOWN), "cooldown");
	for (int a = SCALE_RULE_REPLICAS_UNKNOWN; a <= SCALE_RULE_INACTIVE; a++)
		for (int b = SCALE_RULE_REPLICAS_UNKNOWN; b < a; b++)
			assert_string_not_equal(scale_rule_name((enum scale_rule)a), scale_rule_name((enum scale_rule)b));
	assert_string_equal(scale_rule_name((enum scale_rule)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_cut),
		cmocka_unit_test(test_active_names),
		cmocka_unit_test(test_rule_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
