/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/timestamp.h"
#include "base/utf8.h"

#define NAMED_MAX 5 /* triggers named in a sentence; the rest is counted */

/* A text that is cut where the room ends, never inside a character. */
struct sentence {
	char *out;
	size_t size, len;
	bool full;
};

static void cut_at_character(struct sentence *s)
{
	size_t start = s->len;

	while (start > 0 && ((unsigned char)s->out[start - 1] & 0xC0) == 0x80)
		start--;
	if (start > 0 && utf8_step(s->out + start - 1, s->len - (start - 1)) == 0)
		s->len = start - 1;
	s->out[s->len] = '\0';
}

static void add(struct sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct sentence *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (s->full || s->size == 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(s->out + s->len, s->size - s->len, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	s->full = (size_t)n >= s->size - s->len;
	s->len = s->full ? s->size - 1 : s->len + (size_t)n;
	if (s->full)
		cut_at_character(s);
}

static struct sentence sentence_in(char *out, size_t size)
{
	if (size > 0)
		out[0] = '\0';
	return (struct sentence){ .out = out, .size = size };
}

enum pick { PICK_ACTIVE, PICK_READ, PICK_FAILING };

static bool picked(const struct scale_trigger *t, enum pick pick)
{
	if (pick == PICK_FAILING)
		return t->err != NULL;
	return t->err == NULL && (pick == PICK_READ || t->reading.active);
}

/* "s0-redis-jobs 12, s1-redis-mail 3 and 4 more" */
static void add_triggers(struct sentence *s, const struct scale_facts *facts, enum pick pick)
{
	size_t named = 0, more = 0;

	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct scale_trigger *t = &facts->triggers[i];

		if (!picked(t, pick))
			continue;
		if (named == NAMED_MAX) {
			more++;
			continue;
		}
		add(s, "%s%s ", named++ > 0 ? ", " : "", t->metric_name);
		if (pick == PICK_FAILING)
			add(s, "(%s)", t->err->msg);
		else
			add(s, "%.10g", t->reading.value);
	}
	if (more > 0)
		add(s, " and %zu more", more);
}

/* The time of day while it is today's, else all of it. UTC. */
static void add_time(struct sentence *s, int64_t unix_ms, int64_t now_unix_ms)
{
	char at[TIMESTAMP_TEXT_MAX], now[TIMESTAMP_TEXT_MAX];

	timestamp_format(unix_ms, at);
	timestamp_format(now_unix_ms, now);
	if (strlen(at) == strlen("2026-01-02T03:04:05Z") && strncmp(at, now, strlen("2026-01-02T")) == 0)
		add(s, "%.8s", at + strlen("2026-01-02T"));
	else
		add(s, "%s", at);
}

static void add_quiet(struct sentence *s, const struct scale_facts *facts)
{
	add(s, "no trigger is active (");
	add_triggers(s, facts, PICK_READ);
	add(s, ")");
}

static void explain_active(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	if (d->rule == SCALE_RULE_ACTIVATE)
		add(s, "scaling from %d to %d: active by ", (int)facts->replicas, (int)d->replicas);
	else
		add(s, "the HPA scales: active by ");
	add_triggers(s, facts, PICK_ACTIVE);
	if (d->failing) {
		add(s, "; failing: ");
		add_triggers(s, facts, PICK_FAILING);
	}
}

static void explain_hold(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	add(s, "held at %d: ", (int)d->replicas);
	if (facts->trigger_count == 0) {
		add(s, "no trigger could be asked");
		return;
	}
	add(s, "no trigger is active, but failing: ");
	add_triggers(s, facts, PICK_FAILING);
}

static void explain_deactivate(struct sentence *s, const struct scale_facts *facts, const struct scale_decision *d)
{
	add(s, "scaling from %d to %d: ", (int)facts->replicas, (int)d->replicas);
	add_quiet(s, facts);
	if (d->last_active_unix_ms == 0)
		add(s, " or ever was");
	else
		add(s, " and the cooldown of %d s is over", (int)scaledobject_cooldown_s(facts->spec));
}

char *scale_explain(const struct scale_facts *facts, const struct scale_decision *d, char *out, size_t size)
{
	struct sentence s = sentence_in(out, size);

	switch (d->rule) {
	case SCALE_RULE_REPLICAS_UNKNOWN:
		add(&s, "the replicas of the target cannot be read");
		break;
	case SCALE_RULE_ACTIVATE:
	case SCALE_RULE_ACTIVE:
	case SCALE_RULE_ACTIVE_PARTIAL:
		explain_active(&s, facts, d);
		break;
	case SCALE_RULE_ERROR_HOLD:
		explain_hold(&s, facts, d);
		break;
	case SCALE_RULE_COOLDOWN:
	case SCALE_RULE_INITIAL_COOLDOWN:
		add(&s, d->rule == SCALE_RULE_COOLDOWN ? "cooling down until " : "in the initial cooldown until ");
		add_time(&s, d->until_unix_ms, facts->now_unix_ms);
		add(&s, ": ");
		add_quiet(&s, facts);
		break;
	case SCALE_RULE_DEACTIVATE:
		explain_deactivate(&s, facts, d);
		break;
	case SCALE_RULE_BELOW_MIN:
		add(&s, "scaling from %d to %d: fewer than minReplicaCount, and ", (int)facts->replicas, (int)d->replicas);
		add_quiet(&s, facts);
		break;
	case SCALE_RULE_INACTIVE:
		add(&s, "at rest with %d: ", (int)d->replicas);
		add_quiet(&s, facts);
		break;
	}
	return out;
}

char *scale_active_names(const struct scale_facts *facts, char *out, size_t size)
{
	struct sentence s = sentence_in(out, size);
	const char *separator = "";

	for (size_t i = 0; i < facts->trigger_count; i++) {
		if (!picked(&facts->triggers[i], PICK_ACTIVE))
			continue;
		add(&s, "%s%s", separator, facts->triggers[i].metric_name);
		separator = ";";
	}
	return out;
}
