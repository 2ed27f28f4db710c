/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include "../crd/given.h"
#include "scale_letters.h"

/* With more facts: says and composite are letters, resources are cpu and memory. */
struct wide_row {
	struct scale_row row;
	const char *says;
	char composite;
	size_t resources;
};

#define READY      "True ScaledObjectReady"
#define PARTIAL    "Unknown PartialTriggerError"
#define BROKEN     "False TriggerError"
#define IS_ACTIVE  "True ScalerActive"
#define NOT_ACTIVE "False ScalerNotActive"
#define COOLS      "False ScalerCooldown"

static const struct scale_row rows[] = {
	/* Active: doc/keda.md 3.2, first three rows */
	{ "active at 0, min unset", NONE, NONE, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE,
		NOW, 0, 0 },
	{ "active at 0, min 0", 0, NONE, NONE, NONE, "iA", 0, 0, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE, NOW, 0,
		1 },
	{ "active at 0, min 3", 3, NONE, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE, NOW, 0,
		0 },
	{ "active at 0 is not for idle", 3, 0, NONE, NONE, "A", 0, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE,
		NOW, 0, 0 },
	{ "active while idling at 1 of 3", 3, 1, NONE, NONE, "A", 1, 0, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE,
		NOW, 0, 0 },
	{ "active below min without idle is the HPA's", 3, NONE, NONE, NONE, "A", 1, 0, NOW, SCALE_RULE_ACTIVE, NONE,
		READY, IS_ACTIVE, NOW, 0, 0 },
	{ "active at min with idle", 3, 1, NONE, NONE, "A", 3, 0, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE, NOW,
		0, 0 },
	{ "active and running", NONE, NONE, NONE, NONE, "iiA", 7, T, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE,
		NOW, 0, 2 },
	{ "active, one fails", NONE, NONE, NONE, NONE, "EA", 7, T, NOW, SCALE_RULE_ACTIVE_PARTIAL, NONE, PARTIAL,
		IS_ACTIVE, NOW, 0, 1 },
	{ "activating, one fails", NONE, NONE, NONE, NONE, "AE", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, PARTIAL, IS_ACTIVE,
		NOW, 0, 0 },

	/* Failing and not active: nothing moves, whatever else is set */
	{ "fails at 5", NONE, NONE, NONE, NONE, "E", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T, 0,
		0 },
	{ "fails at 5, another is quiet", NONE, NONE, 0, NONE, "iE", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN,
		NOT_ACTIVE, T, 0, 1 },
	{ "fails at 0", NONE, NONE, NONE, NONE, "E", 0, 0, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, 0, 0,
		0 },
	{ "fails at min", 3, NONE, NONE, NONE, "E", 3, 0, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, 0, 0,
		0 },
	{ "fails above idle", 3, 1, 0, NONE, "E", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T, 0, 0 },
	/* but the minimum, which no source decides about */
	{ "fails below min", 3, NONE, NONE, NONE, "E", 1, 0, NOW, SCALE_RULE_BELOW_MIN, 3, BROKEN, NOT_ACTIVE, 0, 0,
		0 },
	{ "fails at 0 below min, another is quiet", 2, NONE, NONE, NONE, "iE", 0, T, NOW, SCALE_RULE_BELOW_MIN, 2,
		BROKEN, NOT_ACTIVE, T, 0, 1 },
	{ "fails at 0 with idle 0", 2, 0, NONE, NONE, "E", 0, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE,
		T, 0, 0 },
	{ "no trigger could be asked, below min", 2, NONE, 0, NONE, "", 0, T, NOW, SCALE_RULE_BELOW_MIN, 2, NULL, NULL,
		T, 0, -1 },
	{ "no trigger could be asked", NONE, NONE, 0, NONE, "", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, NULL, NULL, T,
		0, -1 },

	/* Not active: to idle or 0 after the cooldown, strictly past its end */
	{ "cooldown ended 1 ms ago", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S - 1, NOW, SCALE_RULE_DEACTIVATE, 0,
		READY, NOT_ACTIVE, NOW - 60 * S - 1, 0, -1 },
	{ "cooldown ends now", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS,
		NOW - 60 * S, NOW + 1, -1 },
	{ "cooldown ends in 1 ms", NONE, NONE, 60, NONE, "i", 5, NOW - 60 * S + 1, NOW, SCALE_RULE_COOLDOWN, NONE,
		READY, COOLS, NOW - 60 * S + 1, NOW + 2, -1 },
	{ "default cooldown of 300 s, over", NONE, NONE, NONE, NONE, "ii", 5, NOW - 300 * S - 1, NOW,
		SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, NOW - 300 * S - 1, 0, -1 },
	{ "default cooldown of 300 s, not over", NONE, NONE, NONE, NONE, "ii", 5, NOW - 300 * S, NOW,
		SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW - 300 * S, NOW + 1, -1 },
	{ "cooldown 0, active 1 ms ago", NONE, NONE, 0, NONE, "i", 5, NOW - 1, NOW, SCALE_RULE_DEACTIVATE, 0, READY,
		NOT_ACTIVE, NOW - 1, 0, -1 },
	{ "min 0 is as unset", 0, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, T, 0,
		-1 },
	{ "to idle", 3, 1, 60, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 1, READY, NOT_ACTIVE, T, 0, -1 },
	{ "to idle 0 from min", 3, 0, 60, NONE, "i", 3, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE, T, 0, -1 },
	{ "idle, cooling", 3, 1, 60, NONE, "i", 5, NOW, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, NOW,
		NOW + 60 * S + 1, -1 },
	{ "idle rests at idle", 3, 1, 60, NONE, "i", 1, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0,
		-1 },
	{ "idle rests below idle", 3, 1, 60, NONE, "i", 0, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0,
		-1 },

	/* Never active: the initial cooldown counts from creation; the cooldown does not count */
	{ "never active, initial unset", NONE, NONE, 100000, NONE, "i", 5, 0, T + 1, SCALE_RULE_DEACTIVATE, 0, READY,
		NOT_ACTIVE, 0, 0, -1 },
	{ "never active, created now", NONE, NONE, NONE, NONE, "i", 5, 0, T, SCALE_RULE_INITIAL_COOLDOWN, NONE, READY,
		COOLS, 0, T + 1, -1 },
	{ "initial cooldown ends now", NONE, NONE, NONE, 1000, "i", 5, 0, NOW, SCALE_RULE_INITIAL_COOLDOWN, NONE, READY,
		COOLS, 0, NOW + 1, -1 },
	{ "initial cooldown ended 1 ms ago", NONE, NONE, NONE, 1000, "i", 5, 0, NOW + 1, SCALE_RULE_DEACTIVATE, 0,
		READY, NOT_ACTIVE, 0, 0, -1 },
	{ "initial cooldown is over once active", NONE, NONE, 60, 100000, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0,
		READY, NOT_ACTIVE, T, 0, -1 },

	/* Not active, min > 0 */
	{ "below min", 3, NONE, NONE, NONE, "i", 1, NOW, NOW, SCALE_RULE_BELOW_MIN, 3, READY, NOT_ACTIVE, NOW, 0, -1 },
	{ "at 0 below min", 3, NONE, NONE, NONE, "i", 0, 0, NOW, SCALE_RULE_BELOW_MIN, 3, READY, NOT_ACTIVE, 0, 0, -1 },
	{ "at min", 3, NONE, 0, NONE, "i", 3, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0, -1 },
	{ "above min is the HPA's", 3, NONE, 0, NONE, "i", 9, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T,
		0, -1 },
	{ "sleeps at 0", NONE, NONE, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_INACTIVE, NONE, READY, NOT_ACTIVE, T, 0,
		-1 },

	/* The replicas are not known */
	{ "unknown, active", NONE, NONE, NONE, NONE, "A", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE,
		"False ErrorGettingCurrentReplicas", NULL, NOW, 0, 0 },
	{ "unknown, not active", NONE, NONE, 0, NONE, "i", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE,
		"False ErrorGettingCurrentReplicas", NULL, T, 0, -1 },
	{ "unknown, none asked", NONE, NONE, 0, NONE, "", -1, T, NOW, SCALE_RULE_REPLICAS_UNKNOWN, NONE, NULL, NULL, T,
		0, -1 },

	/* Time that does not behave */
	{ "active in the future counts as now", NONE, NONE, 60, NONE, "i", 5, NOW + 3600 * S, NOW, SCALE_RULE_COOLDOWN,
		NONE, READY, COOLS, NOW, NOW + 60 * S + 1, -1 },
	{ "active at the end of time", NONE, NONE, 60, NONE, "i", 5, INT64_MAX, NOW, SCALE_RULE_COOLDOWN, NONE, READY,
		COOLS, NOW, NOW + 60 * S + 1, -1 },
	{ "now at the end of time", NONE, NONE, INT32_MAX, NONE, "i", 5, INT64_MAX, INT64_MAX, SCALE_RULE_COOLDOWN,
		NONE, READY, COOLS, INT64_MAX, INT64_MAX, -1 },
	{ "longest cooldown", NONE, NONE, INT32_MAX, NONE, "i", 5, T, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS, T,
		T + (int64_t)INT32_MAX *S + 1, -1 },
	{ "longest initial cooldown", NONE, NONE, NONE, INT32_MAX, "i", 5, 0, NOW, SCALE_RULE_INITIAL_COOLDOWN, NONE,
		READY, COOLS, 0, T + (int64_t)INT32_MAX *S + 1, -1 },
};

static const struct wide_row wide_rows[] = {
	/*
	 * Annotations (doc/keda.md 1.5). paused: nothing moves or is reported, except the replicas
	 * it is kept at
	 */
	{ { "paused, active at 0", NONE, NONE, NONE, NONE, "A", 0, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T, 0,
		  -1 },
		.says = "P" },
	{ { "paused, cooldown over", NONE, NONE, 0, NONE, "i", 5, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T, 0,
		  -1 },
		.says = "P" },
	{ { "paused, below min", 3, NONE, NONE, NONE, "i", 1, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T, 0, -1 },
		.says = "P" },
	{ { "paused and forced", NONE, NONE, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T, 0,
		  -1 },
		.says = "Pf" },
	{ { "paused, replicas unknown", NONE, NONE, NONE, NONE, "E", -1, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T,
		  0, -1 },
		.says = "P" },
	{ { "paused at 2, has 5", 3, NONE, NONE, NONE, "A", 5, T, NOW, SCALE_RULE_PAUSED, 2, NULL, NULL, T, 0, -1 },
		.says = "P2" },
	{ { "paused at 0, has 5", 3, NONE, NONE, NONE, "E", 5, T, NOW, SCALE_RULE_PAUSED, 0, NULL, NULL, T, 0, -1 },
		.says = "P0" },
	{ { "paused at 2, has 2", 3, NONE, NONE, NONE, "i", 2, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL, T, 0, -1 },
		.says = "P2" },
	{ { "paused at 2, replicas unknown", 3, NONE, NONE, NONE, "i", -1, T, NOW, SCALE_RULE_PAUSED, NONE, NULL, NULL,
		  T, 0, -1 },
		.says = "P2" },
	/* paused-scale-in: not to 0, not to idle, and no cooldown is spoken of; up as ever */
	{ { "scale-in paused, cooldown over", NONE, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_SCALE_IN_PAUSED, NONE,
		  READY, NOT_ACTIVE, T, 0, -1 },
		.says = "I" },
	{ { "scale-in paused, cooling", NONE, NONE, 60, NONE, "i", 5, NOW, NOW, SCALE_RULE_SCALE_IN_PAUSED, NONE, READY,
		  NOT_ACTIVE, NOW, 0, -1 },
		.says = "I" },
	{ { "scale-in paused, above idle", 3, 1, 60, NONE, "i", 5, T, NOW, SCALE_RULE_SCALE_IN_PAUSED, NONE, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = "I" },
	{ { "scale-in paused, active at 0", NONE, NONE, NONE, NONE, "A", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, READY,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = "I" },
	{ { "scale-in paused, below min", 3, NONE, NONE, NONE, "i", 1, T, NOW, SCALE_RULE_BELOW_MIN, 3, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = "I" },
	{ { "scale-in paused, at rest", NONE, NONE, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_INACTIVE, NONE, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = "I" },
	/* paused-scale-out: not from 0, not from idle, not to min; down as ever */
	{ { "scale-out paused, active at 0", NONE, NONE, NONE, NONE, "A", 0, T, NOW, SCALE_RULE_SCALE_OUT_PAUSED, NONE,
		  READY, IS_ACTIVE, NOW, 0, 0 },
		.says = "O" },
	{ { "scale-out paused, active at 0, one fails", NONE, NONE, NONE, NONE, "EA", 0, T, NOW,
		  SCALE_RULE_SCALE_OUT_PAUSED, NONE, PARTIAL, IS_ACTIVE, NOW, 0, 1 },
		.says = "O" },
	{ { "scale-out paused, idling", 3, 1, NONE, NONE, "A", 1, T, NOW, SCALE_RULE_SCALE_OUT_PAUSED, NONE, READY,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = "O" },
	{ { "scale-out paused, below min", 3, NONE, NONE, NONE, "i", 1, T, NOW, SCALE_RULE_SCALE_OUT_PAUSED, NONE,
		  READY, NOT_ACTIVE, T, 0, -1 },
		.says = "O" },
	{ { "scale-out paused, running", NONE, NONE, NONE, NONE, "A", 4, T, NOW, SCALE_RULE_ACTIVE, NONE, READY,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = "O" },
	{ { "scale-out paused, cooldown over", NONE, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = "O" },
	{ { "both paused, cooldown over", NONE, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_SCALE_IN_PAUSED, NONE, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = "IO" },
	/* force-activation: active whatever the triggers say */
	{ { "forced at 0", NONE, NONE, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE, NOW, 0,
		  -1 },
		.says = "f" },
	{ { "forced while idling", 3, 0, NONE, NONE, "i", 0, T, NOW, SCALE_RULE_ACTIVATE, 3, READY, IS_ACTIVE, NOW, 0,
		  -1 },
		.says = "f" },
	{ { "forced, cooldown over", NONE, NONE, 60, NONE, "i", 5, T, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE,
		  NOW, 0, -1 },
		.says = "f" },
	{ { "forced, failing", NONE, NONE, 60, NONE, "E", 5, T, NOW, SCALE_RULE_ACTIVE_PARTIAL, NONE, PARTIAL,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = "f" },
	{ { "forced, failing at 0", NONE, NONE, 60, NONE, "E", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, PARTIAL, IS_ACTIVE,
		  NOW, 0, 0 },
		.says = "f" },
	{ { "forced, nobody could be asked", NONE, NONE, 60, NONE, "", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, NULL,
		  IS_ACTIVE, NOW, 0, -1 },
		.says = "f" },
	{ { "forced, scale-out paused", NONE, NONE, 60, NONE, "i", 0, T, NOW, SCALE_RULE_SCALE_OUT_PAUSED, NONE, READY,
		  IS_ACTIVE, NOW, 0, -1 },
		.says = "fO" },

	/* Fallback: F falls back to some replicas, Z to the 0 that the user wrote */
	{ { "falls back at 0", NONE, NONE, NONE, NONE, "F", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE, NOW, 0,
		  0 },
		.says = NULL },
	{ { "falls back, running", NONE, NONE, 0, NONE, "F", 5, T, NOW, SCALE_RULE_FALLBACK, NONE, READY, IS_ACTIVE,
		  NOW, 0, 0 },
		.says = NULL },
	{ { "falls back, another is quiet", NONE, NONE, 0, NONE, "iF", 5, T, NOW, SCALE_RULE_FALLBACK, NONE, READY,
		  IS_ACTIVE, NOW, 0, 1 },
		.says = NULL },
	{ { "falls back, another is active", NONE, NONE, 0, NONE, "FA", 5, T, NOW, SCALE_RULE_ACTIVE, NONE, READY,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = NULL },
	{ { "falls back, another fails", NONE, NONE, 0, NONE, "FE", 5, T, NOW, SCALE_RULE_ACTIVE_PARTIAL, NONE, PARTIAL,
		  IS_ACTIVE, NOW, 0, 0 },
		.says = NULL },
	{ { "falls back to 0, cooldown over", NONE, NONE, 0, NONE, "Z", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.says = NULL },
	{ { "falls back to 0, cooling", NONE, NONE, 60, NONE, "Z", 5, NOW, NOW, SCALE_RULE_COOLDOWN, NONE, READY, COOLS,
		  NOW, NOW + 60 * S + 1, -1 },
		.says = NULL },
	{ { "falls back to 0, another fails", NONE, NONE, 0, NONE, "ZE", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN,
		  NOT_ACTIVE, T, 0, 1 },
		.says = NULL },
	{ { "falls back to 0, another is active", NONE, NONE, 0, NONE, "ZA", 5, T, NOW, SCALE_RULE_ACTIVE, NONE, READY,
		  IS_ACTIVE, NOW, 0, 1 },
		.says = NULL },

	/* Only the composite decides whether the object is active */
	{ { "composite active at 0", NONE, NONE, NONE, NONE, "ii", 0, T, NOW, SCALE_RULE_ACTIVATE, 1, READY, IS_ACTIVE,
		  NOW, 0, -1 },
		.composite = 'A' },
	{ { "composite active, running", NONE, NONE, NONE, NONE, "ii", 5, T, NOW, SCALE_RULE_ACTIVE, NONE, READY,
		  IS_ACTIVE, NOW, 0, -1 },
		.composite = 'A' },
	{ { "composite quiet, triggers are not", NONE, NONE, 0, NONE, "AA", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.composite = 'i' },
	{ { "composite fails", NONE, NONE, 0, NONE, "AA", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN, NOT_ACTIVE, T,
		  0, -1 },
		.composite = 'E' },
	{ { "composite fails below min", 2, NONE, 0, NONE, "AA", 0, T, NOW, SCALE_RULE_BELOW_MIN, 2, BROKEN, NOT_ACTIVE,
		  T, 0, -1 },
		.composite = 'E' },
	{ { "scale-out paused, fails below min", 3, NONE, NONE, NONE, "E", 1, T, NOW, SCALE_RULE_SCALE_OUT_PAUSED, NONE,
		  BROKEN, NOT_ACTIVE, T, 0, 0 },
		.says = "O" },
	{ { "composite fails by a trigger", NONE, NONE, 0, NONE, "AE", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN,
		  NOT_ACTIVE, T, 0, 1 },
		.composite = 'E' },
	{ { "composite falls back, running", NONE, NONE, 0, NONE, "iF", 5, T, NOW, SCALE_RULE_FALLBACK, NONE, READY,
		  IS_ACTIVE, NOW, 0, -1 },
		.composite = 'F' },
	{ { "composite falls back, another fails", NONE, NONE, 0, NONE, "EF", 5, T, NOW, SCALE_RULE_ACTIVE_PARTIAL,
		  NONE, PARTIAL, IS_ACTIVE, NOW, 0, 0 },
		.composite = 'F' },
	{ { "composite falls back to 0", NONE, NONE, 0, NONE, "iZ", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY,
		  NOT_ACTIVE, T, 0, -1 },
		.composite = 'Z' },
	{ { "composite falls back to 0, another fails", NONE, NONE, 0, NONE, "EZ", 5, T, NOW, SCALE_RULE_ERROR_HOLD,
		  NONE, BROKEN, NOT_ACTIVE, T, 0, 0 },
		.composite = 'Z' },
	{ { "composite fails, forced", NONE, NONE, 0, NONE, "AA", 5, T, NOW, SCALE_RULE_ACTIVE_PARTIAL, NONE, PARTIAL,
		  IS_ACTIVE, NOW, 0, -1 },
		.composite = 'E', .says = "f" },

	/* cpu and memory: alone always active, with others irrelevant (doc/keda.md 3.1, step 6) */
	{ { "cpu alone, running", 1, NONE, NONE, NONE, "", 5, T, NOW, SCALE_RULE_ACTIVE, NONE, READY, IS_ACTIVE, NOW, 0,
		  -1 },
		.resources = 1 },
	{ { "cpu and memory alone, at 0", NONE, NONE, NONE, NONE, "", 0, 0, NOW, SCALE_RULE_ACTIVATE, 1, READY,
		  IS_ACTIVE, NOW, 0, -1 },
		.resources = 2 },
	{ { "cpu beside a quiet one", NONE, NONE, 0, NONE, "i", 5, T, NOW, SCALE_RULE_DEACTIVATE, 0, READY, NOT_ACTIVE,
		  T, 0, -1 },
		.resources = 1 },
	{ { "cpu beside a failing one", NONE, NONE, 0, NONE, "E", 5, T, NOW, SCALE_RULE_ERROR_HOLD, NONE, BROKEN,
		  NOT_ACTIVE, T, 0, 0 },
		.resources = 1 },
};

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

static void check_row(const struct wide_row *wide)
{
	const struct scale_row *r = &wide->row;
	struct scaledobject_spec spec = row_spec(r);
	struct verdict_trigger triggers[TRIGGERS_MAX];
	struct annotations says = lettered_annotations(wide->says);
	struct composite composite = lettered_composite(wide->composite != '\0' ? wide->composite : 'i');
	struct scale_facts facts = {
		.annotations = wide->says != NULL ? &says : NULL,
		.composite = wide->composite != '\0' ? &composite : NULL,
		.resource_count = wide->resources,
		.spec = &spec,
		.created_unix_ms = T,
		.now_unix_ms = r->now,
		.triggers = triggers,
		.trigger_count = lettered_triggers(r->triggers, triggers),
		.replicas_known = r->replicas >= 0,
		.replicas = r->replicas,
		.last_active_unix_ms = r->last_active,
	};
	struct scale_decision d = scale_decide(&facts);

	if (d.rule != r->rule)
		fail_msg("%s: rule %s instead of %s", r->name, scale_rule_name(d.rule), scale_rule_name(r->rule));
	if (d.act != (r->to != NONE) || (d.act && d.replicas != r->to) ||
		(!d.act && r->replicas >= 0 && d.replicas != r->replicas))
		fail_msg("%s: act %d to %d", r->name, d.act, (int)d.replicas);
	if (d.last_active_unix_ms != r->last_active_out || d.until_unix_ms != r->until)
		fail_msg("%s: last active %lld, until %lld", r->name, (long long)d.last_active_unix_ms,
			(long long)d.until_unix_ms);
	if (d.trigger != r->trigger)
		fail_msg("%s: trigger %d instead of %d", r->name, d.trigger, r->trigger);
	if (r->active != NULL && d.active != (strcmp(r->active, IS_ACTIVE) == 0))
		fail_msg("%s: active %d", r->name, d.active);
	if (d.rule != SCALE_RULE_PAUSED &&
		d.failing !=
			(strchr(r->triggers, 'E') != NULL || wide->composite == 'E' ||
				(*r->triggers == '\0' && wide->resources == 0)))
		fail_msg("%s: active %d, failing %d", r->name, d.active, d.failing);
	check_condition(r->name, r->ready, d.ready, d.ready_reason);
	check_condition(r->name, r->active, d.active_status, d.active_reason);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&(const struct wide_row){ .row = rows[i] });
	for (size_t i = 0; i < sizeof(wide_rows) / sizeof(wide_rows[0]); i++)
		check_row(&wide_rows[i]);
}

/* KEDA's words, which people's alerts look for. */
static void test_messages(void **state)
{
	static const struct {
		const char *triggers;
		int32_t replicas;
		int64_t last_active;
		const char *ready, *active;
	} cases[] = {
		{ "A", 1, NOW, "ScaledObject is defined correctly and is ready for scaling",
			"Scaling is performed because triggers are active" },
		{ "AE", 1, NOW, "Some triggers defined in ScaledObject are not working correctly",
			"Scaling is performed because triggers are active" },
		{ "E", 1, NOW, "Triggers defined in ScaledObject are not working correctly",
			"Scaling is not performed because triggers are not active" },
		{ "i", 0, NOW, "ScaledObject is defined correctly and is ready for scaling",
			"Scaling is not performed because triggers are not active" },
		{ "i", 1, NOW, "ScaledObject is defined correctly and is ready for scaling",
			"Scaler cooling down because triggers are not active" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale_row r = { .min = NONE, .idle = NONE, .cooldown_s = NONE, .initial_s = NONE };
		struct scaledobject_spec spec = row_spec(&r);
		struct verdict_trigger triggers[TRIGGERS_MAX];
		struct scale_facts facts = {
			.spec = &spec,
			.created_unix_ms = T,
			.now_unix_ms = NOW,
			.triggers = triggers,
			.trigger_count = lettered_triggers(cases[i].triggers, triggers),
			.replicas_known = true,
			.replicas = cases[i].replicas,
			.last_active_unix_ms = cases[i].last_active,
		};
		struct scale_decision d = scale_decide(&facts);

		assert_string_equal(d.ready_message, cases[i].ready);
		assert_string_equal(d.active_message, cases[i].active);
		facts.annotations = &(const struct annotations){ .force_active = true, .paused_replicas = INT32_UNSET };
		assert_string_equal(scale_decide(&facts).active_message,
			"Scaling is performed because activation is being forced by annotation");
	}
}

static void check_first(const char *triggers, struct scale_failure got, const char *wanted)
{
	if (wanted == NULL) {
		assert_null(got.err);
		return;
	}
	if (got.err != &lettered_failure)
		fail_msg("%s: nothing instead of %s", triggers, wanted);
	assert_string_equal(got.metric_name, wanted);
}

/*
 * The text of Fallback: the first trigger that falls back, and why; and the first failure, which is
 * another.
 */
static void test_first_fallback(void **state)
{
	static const struct {
		const char *triggers, *falls_back, *fails;
	} cases[] = {
		{ "", NULL, NULL },
		{ "Ai", NULL, NULL },
		{ "E", NULL, "s0-redis-a" },
		{ "F", "s0-redis-a", NULL },
		{ "Z", "s0-redis-a", NULL },
		{ "AEF", "s2-redis-c", "s1-redis-b" },
		{ "iFZE", "s1-redis-b", "s3-redis-d" },
		{ "iZFA", "s1-redis-b", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict_trigger triggers[TRIGGERS_MAX];
		struct scale_facts facts = { .triggers = triggers,
			.trigger_count = lettered_triggers(cases[i].triggers, triggers) };

		check_first(cases[i].triggers, scale_fallback(&facts), cases[i].falls_back);
		check_first(cases[i].triggers, scale_failure(&facts), cases[i].fails);
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
	size_t count = (size_t)random_below(TRIGGERS_MAX);

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
	if (failing && !active && d.act)
		assert_true(d.replicas == min && facts->spec->idle_replicas == INT32_UNSET);
	if (facts->replicas_known && facts->spec->idle_replicas == INT32_UNSET && !active)
		assert_true(d.replicas >= min);
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
		struct scale_row r = { .min = random_count(),
			.idle = random_count(),
			.cooldown_s = random_count(),
			.initial_s = random_count() };
		struct scaledobject_spec spec = row_spec(&r);
		struct verdict_trigger triggers[TRIGGERS_MAX];
		char letters[TRIGGERS_MAX + 1], text[64];
		int32_t replicas = random_count();
		struct scale_facts facts = {
			.spec = &spec,
			.created_unix_ms = random_time(),
			.now_unix_ms = random_time(),
			.triggers = triggers,
			.replicas_known = random_below(8) != 0,
			.replicas = replicas == NONE ? 4 : replicas,
			.last_active_unix_ms = random_time(),
		};
		struct scale_decision d;

		if (facts.now_unix_ms < 2)
			facts.now_unix_ms = 2; /* 0 means never */
		random_letters(letters);
		facts.trigger_count = lettered_triggers(letters, triggers);
		check_properties(&facts, letters);
		check_end_of_cooldown(facts);
		d = scale_decide(&facts);
		scale_explain(&facts, &d, text, sizeof(text));
		assert_true(strlen(text) > 0 && strlen(text) < sizeof(text));
	}
}

static void test_rule_names(void **state)
{
	(void)state;
	assert_string_equal(scale_rule_name(SCALE_RULE_COOLDOWN), "cooldown");
	for (int a = SCALE_RULE_REPLICAS_UNKNOWN; a <= SCALE_RULE_SCALE_OUT_PAUSED; a++)
		for (int b = SCALE_RULE_REPLICAS_UNKNOWN; b < a; b++)
			assert_string_not_equal(scale_rule_name((enum scale_rule)a),
				scale_rule_name((enum scale_rule)b));
	assert_string_equal(scale_rule_name((enum scale_rule)99), "unknown");
}

/* True exactly where a decision without triggers acts, whatever the replicas are. */
static void test_needs_no_trigger(void **state)
{
	static const int32_t numbers[] = { NONE, 0, 1, 3 };
	struct annotations says = { .paused_replicas = INT32_UNSET };

	(void)state;
	for (size_t i = 0; i < 4 * 4 * 2; i++) {
		struct scaledobject_spec spec = { .min_replicas = numbers[i % 4],
			.idle_replicas = numbers[i / 4 % 4],
			.cooldown_s = NONE,
			.initial_cooldown_s = NONE,
			.max_replicas = NONE };
		struct scale_facts facts = { .spec = &spec,
			.now_unix_ms = NOW,
			.annotations = &says,
			.replicas_known = true };
		bool acts = false;

		says.force_active = i >= 16;
		for (; facts.replicas < 5; facts.replicas++)
			acts |= scale_decide(&facts).act;
		assert_int_equal(scale_needs_no_trigger(&spec, &says), acts);
		assert_int_equal(scale_needs_no_trigger(&spec, NULL), numbers[i % 4] > 0 && numbers[i / 4 % 4] == NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_first_fallback),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_rule_names),
		cmocka_unit_test(test_needs_no_trigger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
