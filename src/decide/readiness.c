/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/readiness.h"

#include "decide/statusparts.h"

/* ---- Ready ---- */

static void count_failures(struct readiness *r, const struct readiness_look *look)
{
	if (r->generation != look->generation)
		r->proven = false;
	r->generation = look->generation;
	if (!look->failing) {
		r->proven = true;
		r->failures = 0;
	} else if (r->failures == 0) {
		r->since_ms = look->now_ms;
		r->failures = 1;
	} else if (look->poll && r->failures < INT32_MAX) {
		r->failures++;
	}
}

static bool is_enough(const struct readiness *r, const struct readiness_look *look)
{
	if (look->at_once)
		return true;
	/*
	 * The trigger's own count decides when the fallback is due, and Ready must not be a poll
	 * faster; failures that it does not count (a formula, answers that never come) use ours.
	 */
	if (look->threshold >= 0)
		return look->failures > look->threshold ||
			(look->failures > 0 ? r->failures / 2 : r->failures) > look->threshold;
	return r->failures >= READINESS_POLLS || look->now_ms - r->since_ms >= READINESS_MS;
}

/* Another status or reason is reported at once; the interval between texts begins anew. */
static bool is_news(struct readiness *r, uint64_t state, uint64_t cause, int64_t now_ms)
{
	bool news = r->state != state || (r->cause != cause && now_ms - r->told_ms >= READINESS_APART_MS);

	if (!news)
		return false;
	r->state = state;
	r->cause = cause;
	r->told_ms = now_ms;
	return true;
}

struct readiness_says readiness_judge(struct readiness *r, const struct readiness_look *look)
{
	struct readiness_says says = { .waits = false };
	bool told;

	count_failures(r, look);
	says.waits = look->failing && look->is_ready && r->proven && !is_enough(r, look);
	if (says.waits && look->threshold < 0)
		says.look_in_ms = r->since_ms + READINESS_MS - look->now_ms;
	told = look->failing && !says.waits;
	says.news = is_news(r, (told ? look->state : 0) + 31 * (look->falls_back != 0),
		(told ? look->cause : 0) + 31 * look->falls_back, look->now_ms);
	return says;
}

void readiness_start(struct readiness *r, const struct scaledobject_status *status, int64_t generation)
{
	const struct condition *ready = conditions_get(&status->conditions, STATUSPARTS_READY);
	bool proven = r->proven && r->generation == generation;

	/* KEDA's CRD does not keep the generation. */
	if (ready && ready->status == CONDITION_TRUE &&
		(!ready->observed_generation || ready->observed_generation == generation))
		proven = true;
	*r = (struct readiness){ .proven = proven, .generation = generation };
}

/* ---- The log ---- */

bool readiness_tells(struct readiness_told *t, uint64_t cause, int64_t now_ms)
{
	if (cause == t->cause)
		return false;
	if (cause && t->told_ms && now_ms - t->told_ms < READINESS_APART_MS)
		return false;
	t->cause = cause;
	if (cause)
		t->told_ms = now_ms;
	return cause != 0;
}
