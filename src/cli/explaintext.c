/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explaintext.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "cli/plaintext.h"
#include "cli/table.h"

#define INDENT 10
#define PROMPT_ROWS 1  /* what the shell writes below */
#define CHANGES_LEAST 3
#define HOUR_MS 3600000
#define DAY_MS (24 * HOUR_MS)

struct page {
	const struct asking_screen *screen;
	int64_t now_unix_ms;
	struct buf *out;
};

/* --- values ------------------------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_str_or_empty(object, key);
}

/* A number as people write it: no more digits than needed. */
static const char *number(const json_t *value, char text[32])
{
	if (json_is_integer(value))
		snprintf(text, 32, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, 32, "%.6g", json_real_value(value));
	else
		strcpy(text, "?");
	return text;
}

static int64_t time_of(const json_t *object, const char *key)
{
	int64_t unix_ms = 0;

	if (*text_of(object, key))
		timestamp_parse(text_of(object, key), &unix_ms, NULL);
	return unix_ms;
}

/* "3.2 s", "4 min", "5 h", "6 d" */
static const char *age(double seconds, char text[32])
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 10)
		snprintf(text, 32, "%.1f s", seconds);
	else if (seconds < 120)
		snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else if (seconds < 2 * 86400)
		snprintf(text, 32, "%.0f h", seconds / 3600);
	else
		snprintf(text, 32, "%.0f d", seconds / 86400);
	return text;
}

/* "10:00:05Z"; with its day when that is not today's. */
static const char *clock_of(const struct page *p, int64_t unix_ms, char text[64])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm;

	if (!unix_ms || !gmtime_r(&seconds, &tm))
		return "?";
	strftime(text, 64, unix_ms / DAY_MS == p->now_unix_ms / DAY_MS ? "%H:%M:%SZ" : "%m-%d %H:%M:%SZ", &tm);
	return text;
}

/* Every line through here, so that none is longer than the screen. */
static void field(const struct page *p, const char *label, const char *text)
{
	plaintext_put_field(p->out, label, text, INDENT, p->screen->columns);
}

static void field_of(const struct page *p, const char *label, struct buf *text)
{
	field(p, label, buf_text(text));
	buf_done(text);
}

#define LINE() BUF_INIT(65536)

/* --- the object --------------------------------------------------------------------------------------------------------------- */

static void say_name(const struct page *p, const json_t *answer)
{
	struct buf line = LINE();
	const json_t *conditions = json_object_get(answer, "conditions"), *one;
	size_t i;

	buf_printf(&line, "%s/%s", text_of(answer, "namespace"), text_of(answer, "name"));
	json_array_foreach(conditions, i, one)
		buf_printf(&line, "%s%s=%s", i ? " " : "   ", text_of(one, "type"), text_of(one, "status"));
	field_of(p, "Object", &line);
}

/* Only what is not as it should be; the reason stands with the decision. */
static void say_trouble(const struct page *p, const json_t *answer)
{
	const json_t *conditions = json_object_get(answer, "conditions"), *one;
	size_t i;

	json_array_foreach(conditions, i, one)
		if (strcmp(text_of(one, "type"), "Ready") == 0 && strcmp(text_of(one, "status"), "True") != 0)
			field(p, "Ready", *text_of(one, "message") ? text_of(one, "message") : text_of(one, "reason"));
}

static void say_target(const struct page *p, const json_t *answer)
{
	const json_t *target = json_object_get(answer, "target");
	struct buf line = LINE();
	char a[32], b[32];

	buf_printf(&line, "%s %s: ", text_of(target, "kind"), text_of(target, "name"));
	if (strcmp(text_of(target, "state"), "present") == 0) {
		buf_printf(&line, "%s replicas", number(json_object_get(target, "replicas"), a));
		if (json_is_integer(json_object_get(target, "ready")))
			buf_printf(&line, ", %s ready", number(json_object_get(target, "ready"), a));
	} else if (strcmp(text_of(target, "state"), "missing") == 0) {
		buf_puts(&line, "does not exist");
	} else {
		buf_puts(&line, "not read yet");
	}
	buf_printf(&line, "; %s to %s", number(json_object_get(answer, "min"), a), number(json_object_get(answer, "max"), b));
	if (json_is_integer(json_object_get(answer, "idle")))
		buf_printf(&line, ", idle %s", number(json_object_get(answer, "idle"), a));
	if (*text_of(target, "trouble"))
		buf_printf(&line, "; %s", text_of(target, "trouble"));
	field_of(p, "Target", &line);
}

static void say_directives(const struct page *p, const json_t *answer)
{
	const json_t *pausing = json_object_get(answer, "pausing"), *replicas = json_object_get(pausing, "replicas");
	struct buf line = LINE();
	char a[32];

	if (json_is_true(json_object_get(answer, "paused")))
		buf_printf(&line, "paused%s%s%s", json_is_integer(replicas) ? " at " : "", json_is_integer(replicas) ? number(replicas, a) : "", json_is_integer(replicas) ? " replicas" : "");
	if (json_is_true(json_object_get(pausing, "scaleIn")))
		buf_printf(&line, "%sscaling in is paused", line.len ? ", " : "");
	if (json_is_true(json_object_get(pausing, "scaleOut")))
		buf_printf(&line, "%sscaling out is paused", line.len ? ", " : "");
	if (json_is_true(json_object_get(answer, "forced")))
		buf_printf(&line, "%sactive by force", line.len ? ", " : "");
	if (line.len)
		field(p, "By order", buf_text(&line));
	buf_done(&line);
}

static void say_leader(const struct page *p, const json_t *answer)
{
	const json_t *leader = json_object_get(answer, "leader");
	const char *holder = text_of(leader, "holder"), *why_not = text_of(leader, "whyNot");
	struct buf line = LINE();

	if (json_is_true(json_object_get(leader, "leading"))) {
		buf_printf(&line, "%s (this process)", *holder ? holder : "this process");
	} else {
		buf_printf(&line, "%s; this process stands by, so it knows no decisions%s%s", *holder ? holder : "nobody", *why_not ? ": " : "", why_not);
	}
	field_of(p, "Leader", &line);
}

/* When the object was last found to be one that cannot be followed; 0 while it can. Such a failure may leave the decisions going on. */
static int64_t failed_check_since(const json_t *answer)
{
	const json_t *conditions = json_object_get(answer, "conditions"), *one;
	size_t i;

	json_array_foreach(conditions, i, one)
		if (strcmp(text_of(one, "type"), "Ready") == 0 && strcmp(text_of(one, "reason"), "ScaledObjectCheckFailed") == 0)
			return time_of(one, "lastTransitionTime");
	return 0;
}

static void say_decision(const struct page *p, const json_t *answer)
{
	const json_t *decision = json_object_get(answer, "decision");
	int64_t failed_unix_ms = failed_check_since(answer);
	struct buf line = LINE();
	char a[32];

	/* Conditions have whole seconds. */
	if (json_is_object(decision) && failed_unix_ms > 0 && time_of(decision, "decidedAt") < failed_unix_ms + 1000)
		buf_printf(&line, "none while that is so; the last one, %s ago, was %s: %s", age((double)(p->now_unix_ms - time_of(decision, "decidedAt")) / 1000, a), text_of(decision, "rule"), text_of(decision, "text"));
	else if (json_is_object(decision))
		buf_printf(&line, "%s: %s (%s ago)", text_of(decision, "rule"), text_of(decision, "text"), age((double)(p->now_unix_ms - time_of(decision, "decidedAt")) / 1000, a));
	else
		buf_puts(&line, *text_of(answer, "reason") ? text_of(answer, "reason") : "none yet");
	field_of(p, "Decision", &line);
}

static void say_hpa(const struct page *p, const json_t *answer)
{
	const json_t *hpa = json_object_get(answer, "hpa"), *one;
	struct buf line = LINE();
	char a[32], b[32], c[32], d[32], when[64];
	size_t i;

	if (!json_is_object(hpa)) {
		field(p, "HPA", "none");
		buf_done(&line);
		return;
	}
	buf_printf(&line, "%s: %s to %s; sees %s, wants %s", text_of(hpa, "name"), number(json_object_get(hpa, "min"), a), number(json_object_get(hpa, "max"), b),
		   number(json_object_get(hpa, "current"), c), number(json_object_get(hpa, "desired"), d));
	if (time_of(hpa, "lastScaleTime"))
		buf_printf(&line, "; last scaled %s", clock_of(p, time_of(hpa, "lastScaleTime"), when));
	field_of(p, "HPA", &line);
	json_array_foreach(json_object_get(hpa, "conditions"), i, one) {
		bool limited = strcmp(text_of(one, "type"), "ScalingLimited") == 0, yes = strcmp(text_of(one, "status"), "True") == 0;
		struct buf says = LINE();

		/* Said where it is not as usual. */
		if (limited == yes) {
			buf_printf(&says, "%s=%s %s: %s", text_of(one, "type"), text_of(one, "status"), text_of(one, "reason"), text_of(one, "message"));
			field(p, "", buf_text(&says));
		}
		buf_done(&says);
	}
}

/* --- triggers ----------------------------------------------------------------------------------------------------------------- */

static const char *yes_no(const json_t *value)
{
	return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "";
}

static void add_trigger(struct table *t, const json_t *one, const char *type)
{
	char value[32] = "", activation[32] = "", seconds[32] = "", failures[32] = "", index[32] = "";
	bool indexed = json_is_integer(json_object_get(one, "index"));
	MEM_AUTO char *name = mem_printf("%s%s%s%s%s", indexed ? number(json_object_get(one, "index"), index) : "", indexed ? " " : "", type, *text_of(one, "name") ? " " : "", text_of(one, "name"));
	MEM_AUTO char *target = *text_of(one, "target") ? mem_printf("%s %s", text_of(one, "target"), text_of(one, "metricType")) : NULL;
	const char *cells[TABLE_COLUMNS_MAX] = { name, "", target, "", "", "", "", text_of(one, "metric") };

	if (json_is_number(json_object_get(one, "value")))
		cells[1] = number(json_object_get(one, "value"), value);
	else if (json_is_true(json_object_get(one, "fallingBack")))
		cells[1] = "nil";
	if (json_is_number(json_object_get(one, "activation")))
		cells[3] = number(json_object_get(one, "activation"), activation);
	cells[4] = json_is_true(json_object_get(one, "fallingBack")) ? "fallback" : yes_no(json_object_get(one, "active"));
	if (json_is_number(json_object_get(one, "ageSeconds")))
		cells[5] = age(json_number_value(json_object_get(one, "ageSeconds")), seconds);
	if (json_is_integer(json_object_get(one, "failures")))
		cells[6] = number(json_object_get(one, "failures"), failures);
	table_add(t, cells);
}

static void say_error(const struct page *p, const json_t *one)
{
	struct buf line = LINE();

	if (*text_of(one, "error"))
		buf_printf(&line, "%s: %s", text_of(one, "metric"), text_of(one, "error"));
	if (*text_of(one, "noFallback"))
		buf_printf(&line, "%s no fallback: %s", line.len ? ";" : text_of(one, "metric"), text_of(one, "noFallback"));
	if (line.len)
		field(p, "  error", buf_text(&line));
	buf_done(&line);
}

/* An "unwatched" source is said nothing of: it is the leader that watches. */
static void say_push(const struct page *p, const json_t *one)
{
	const json_t *push = json_object_get(one, "push");
	struct buf line = LINE();

	if (json_is_object(push) && strcmp(text_of(push, "state"), "unwatched") != 0) {
		buf_printf(&line, "%s: %s%s%s", text_of(one, "metric"), text_of(push, "state"), *text_of(push, "why") ? ": " : "", text_of(push, "why"));
		field(p, "  push", buf_text(&line));
	}
	buf_done(&line);
}

static void say_unknown(const struct page *p, const json_t *one)
{
	struct buf line = LINE();

	if (*text_of(one, "unknownKeys")) {
		buf_printf(&line, "%s: no parameter has this name: %s", text_of(one, "metric"), text_of(one, "unknownKeys"));
		field(p, "  metadata", buf_text(&line));
	}
	buf_done(&line);
}

static void say_triggers(const struct page *p, const json_t *answer)
{
	static const char *const headings[] = { "TRIGGER", "VALUE", "TARGET", "ABOVE", "ACTIVE", "AGE", "FAILURES", "METRIC", NULL };
	const json_t *triggers = json_object_get(answer, "triggers"), *composite = json_object_get(answer, "composite"), *one;
	struct table table;
	size_t i;

	buf_putc(p->out, '\n');
	if (*text_of(answer, "trouble")) {
		field(p, "Triggers", text_of(answer, "trouble"));
		return;
	}
	table_init(&table, headings);
	json_array_foreach(triggers, i, one)
		add_trigger(&table, one, text_of(one, "type"));
	if (json_is_object(composite))
		add_trigger(&table, composite, "formula");
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
	json_array_foreach(triggers, i, one)
		say_error(p, one);
	if (json_is_object(composite))
		say_error(p, composite);
	json_array_foreach(triggers, i, one)
		say_push(p, one);
	json_array_foreach(triggers, i, one)
		say_unknown(p, one);
}

/* --- what was before ---------------------------------------------------------------------------------------------------------- */

static size_t rows_used(const struct page *p)
{
	size_t rows = 0;

	for (size_t i = 0; i < p->out->len; i++)
		rows += p->out->data[i] == '\n';
	return rows;
}

/* How many entries of a list fit below an empty line and its heading. */
static size_t room(const struct page *p, size_t least)
{
	size_t taken = rows_used(p) + 2 + PROMPT_ROWS;

	if (!p->screen->rows)
		return SIZE_MAX;
	return p->screen->rows >= taken + least ? p->screen->rows - taken : least;
}

/* "HPA keda-hpa-web": there is little room for why. */
static const char *who_of(const json_t *change, char text[300])
{
	static const char kind[] = "HorizontalPodAutoscaler ";
	const char *who = text_of(change, "who");
	bool by_hpa = strncmp(who, kind, sizeof(kind) - 1) == 0;

	snprintf(text, 300, "%s%s", by_hpa ? "HPA " : "", by_hpa ? who + sizeof(kind) - 1 : who);
	return text;
}

static void say_changes(const struct page *p, const json_t *answer)
{
	static const char *const headings[] = { "CHANGED", "FROM", "TO", "WHO", "WHY", NULL };
	const json_t *changes = json_object_get(answer, "changes"), *one;
	size_t most = room(p, CHANGES_LEAST), i;
	char when[64], from[32], to[32], who[300];
	struct table table;

	if (!json_array_size(changes))
		return;
	table_init(&table, headings);
	json_array_foreach(changes, i, one) {
		if (i >= most)
			break;
		table_add(&table, (const char *const[]){ clock_of(p, time_of(one, "at"), when), number(json_object_get(one, "from"), from), number(json_object_get(one, "to"), to), who_of(one, who), text_of(one, "why") });
	}
	buf_putc(p->out, '\n');
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
}

/* The newest one is the decision above. */
static void say_decisions(const struct page *p, const json_t *answer)
{
	static const char *const headings[] = { "DECIDED", "RULE", "REPLICAS", "TEXT", NULL };
	const json_t *decisions = json_object_get(answer, "decisions"), *one;
	size_t most = room(p, 0), i;
	char when[64], replicas[32];
	struct table table;

	if (!json_array_size(decisions) || !most)
		return;
	table_init(&table, headings);
	json_array_foreach(decisions, i, one) {
		if (i >= most)
			break;
		table_add(&table, (const char *const[]){ clock_of(p, time_of(one, "at"), when), text_of(one, "rule"), number(json_object_get(one, "replicas"), replicas), text_of(one, "text") });
	}
	buf_putc(p->out, '\n');
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
}

void explaintext_render(const json_t *answer, const struct asking_screen *screen, const void *now_unix_ms, struct buf *out)
{
	struct page p = { screen, *(const int64_t *)now_unix_ms, out };

	say_name(&p, answer);
	say_trouble(&p, answer);
	say_target(&p, answer);
	say_directives(&p, answer);
	say_decision(&p, answer);
	say_hpa(&p, answer);
	say_leader(&p, answer);
	say_triggers(&p, answer);
	say_changes(&p, answer);
	say_decisions(&p, answer);
}
