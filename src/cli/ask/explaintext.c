/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/explaintext.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/explaintext_parts.h"
#include "cli/ask/table.h"
#include "cli/fields.h"

#define PROMPT_ROWS   1 /* of the shell, below */
#define CHANGES_LEAST 3
#define DAY_MS        86400000

/* ---- Values ---- */

/* "10:00:05Z"; with the date if it is not today's. */
static const char *clock_of(const struct explaintext_page *p, int64_t unix_ms, char text[64])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm;

	if (!unix_ms || !gmtime_r(&seconds, &tm))
		return "?";
	strftime(text, 64, unix_ms / DAY_MS == p->now_unix_ms / DAY_MS ? "%H:%M:%SZ" : "%m-%d %H:%M:%SZ", &tm);
	return text;
}

/* ---- The object ---- */

static bool is_job(const json_t *answer)
{
	return json_str_is(answer, "kind", "ScaledJob");
}

static void put_name(const struct explaintext_page *p, const json_t *answer)
{
	struct buf line = EXPLAINTEXT_LINE();
	const json_t *conditions = json_object_get(answer, "conditions"), *one;
	size_t i;

	explaintext_fill(&line, is_job(answer) ? "ScaledJob {namespace}/{name}" : "{namespace}/{name}", answer);
	json_array_foreach(conditions, i, one)
		explaintext_fill(&line, i ? " {type}={status}" : "   {type}={status}", one);
	explaintext_field_of(p, "Object", &line);
}

/* No kind was given, and both kinds have the name. */
static void put_other(const struct explaintext_page *p, const json_t *answer)
{
	struct buf line = EXPLAINTEXT_LINE();

	if (*json_str_or_empty(answer, "also"))
		explaintext_fill(&line, "a {also} of this name exists, too: `kscaled explain sj {namespace}/{name}`",
			answer);
	explaintext_field_of(p, "Also", &line);
}

static const json_t *ready_condition(const json_t *answer)
{
	return fields_entry(json_object_get(answer, "conditions"), "type", "Ready");
}

/* Only if it is not ready; the reason is part of the decision. */
static void put_trouble(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *ready = ready_condition(answer);

	if (ready && !json_str_is(ready, "status", "True"))
		explaintext_field(p, "Ready",
			*json_str_or_empty(ready, "message") ? json_str_or_empty(ready, "message")
							     : json_str_or_empty(ready, "reason"));
}

static void put_target(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *target = json_object_get(answer, "target");
	struct buf line = EXPLAINTEXT_LINE();

	explaintext_fill(&line, "{kind} {name}: ", target);
	explaintext_fill(&line,
		json_str_is(target, "state", "present")           ? "{#replicas} replicas"
			: json_str_is(target, "state", "missing") ? "does not exist"
								  : "not read yet",
		target);
	if (json_str_is(target, "state", "present") && json_is_integer(json_object_get(target, "ready")))
		explaintext_fill(&line, ", {#ready} ready", target);
	explaintext_fill(&line, "; {#min} to {#max}", answer);
	if (json_is_integer(json_object_get(answer, "idle")))
		explaintext_fill(&line, ", idle {#idle}", answer);
	if (*json_str_or_empty(target, "trouble"))
		explaintext_fill(&line, "; {trouble}", target);
	explaintext_field_of(p, "Target", &line);
}

/* Minimum and maximum are of running Jobs. The calculation combines several triggers. */
static void put_jobs(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *jobs = json_object_get(answer, "jobs");
	struct buf line = EXPLAINTEXT_LINE();

	explaintext_fill(&line,
		!json_is_object(jobs) ? "known only to the leader"
			: json_is_true(json_object_get(jobs, "known"))
			? "{#running} running, {#complete} complete, {#failed} failed"
			: "not read yet",
		jobs);
	explaintext_fill(&line, "; {#min} to {#max}; strategy {strategy}", answer);
	if (json_array_size(json_object_get(answer, "triggers")) > 1)
		explaintext_fill(&line, ", {calculation} of the triggers", answer);
	if (*json_str_or_empty(jobs, "trouble"))
		explaintext_fill(&line, "; {trouble}", jobs);
	explaintext_field_of(p, "Jobs", &line);
}

static void put_annotations(const struct explaintext_page *p, const json_t *answer)
{
	const struct {
		bool applies;
		const char *text;
	} rows[] = {
		{ json_is_true(json_object_get(answer, "paused")),
			json_is_integer(fields_at(answer, "pausing.replicas"))
				? "paused at {#pausing.replicas} replicas"
				: "paused" },
		{ json_is_true(fields_at(answer, "pausing.scaleIn")), "scaling in is paused" },
		{ json_is_true(fields_at(answer, "pausing.scaleOut")), "scaling out is paused" },
		{ json_is_true(json_object_get(answer, "forced")), "active by force" },
	};
	struct buf line = EXPLAINTEXT_LINE();

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		if (!rows[i].applies)
			continue;
		buf_puts(&line, line.len ? ", " : "");
		explaintext_fill(&line, rows[i].text, answer);
	}
	explaintext_field_of(p, "By order", &line);
}

static void put_leader(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *leader = json_object_get(answer, "leader");
	const char *holder = json_str_or_empty(leader, "holder"), *why_not = json_str_or_empty(leader, "whyNot");
	struct buf line = EXPLAINTEXT_LINE();

	if (json_is_true(json_object_get(leader, "leading"))) {
		buf_printf(&line, "%s (this process)", *holder ? holder : "this process");
	} else {
		buf_printf(&line, "%s; this process is on standby and knows no decisions%s%s",
			*holder ? holder : "nobody", *why_not ? ": " : "", why_not);
	}
	explaintext_field_of(p, "Leader", &line);
}

/*
 * Since when the object is invalid; 0: it is valid. Decisions may go on meanwhile.
 */
static int64_t failed_check_since(const json_t *answer)
{
	const json_t *ready = ready_condition(answer);
	bool failed = json_str_is(ready, "reason", "ScaledObjectCheckFailed") ||
		json_str_is(ready, "reason", "ScaledJobCheckFailed");

	return failed ? fields_time(ready, "lastTransitionTime") : 0;
}

static void put_decision(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *decision = json_object_get(answer, "decision");
	int64_t failed_unix_ms = failed_check_since(answer);
	struct buf line = EXPLAINTEXT_LINE();
	int64_t decided_unix_ms = fields_time(decision, "decidedAt");
	char a[32];
	bool outdated = failed_unix_ms > 0 && decided_unix_ms < failed_unix_ms + 1000; /* they have whole seconds */

	explaintext_age((double)(p->now_unix_ms - decided_unix_ms) / 1000, a);
	if (!json_is_object(decision)) {
		buf_puts(&line,
			*json_str_or_empty(answer, "reason") ? json_str_or_empty(answer, "reason") : "none yet");
	} else {
		if (outdated)
			buf_printf(&line, "none while that is so; the last one, %s ago, was ", a);
		explaintext_fill(&line, "{rule}: {text}", decision);
		if (!outdated)
			buf_printf(&line, " (%s ago)", a);
	}
	explaintext_field_of(p, "Decision", &line);
}

static void put_hpa(const struct explaintext_page *p, const json_t *answer)
{
	const json_t *hpa = json_object_get(answer, "hpa"), *one;
	struct buf line = EXPLAINTEXT_LINE();
	char when[64];
	size_t i;

	if (!json_is_object(hpa)) {
		explaintext_field(p, "HPA", "none");
		buf_done(&line);
		return;
	}
	explaintext_fill(&line, "{name}: {#min} to {#max}; sees {#current}, wants {#desired}", hpa);
	if (fields_time(hpa, "lastScaleTime"))
		buf_printf(&line, "; last scaled %s", clock_of(p, fields_time(hpa, "lastScaleTime"), when));
	explaintext_field_of(p, "HPA", &line);
	json_array_foreach(json_object_get(hpa, "conditions"), i, one)
	{
		bool limited = json_str_is(one, "type", "ScalingLimited"), yes = json_str_is(one, "status", "True");
		struct buf says = EXPLAINTEXT_LINE();

		/* Only if unusual. */
		if (limited == yes)
			explaintext_fill(&says, "{type}={status} {reason}: {message}", one);
		explaintext_field_of(p, "", &says);
	}
}

/* ---- History ---- */

static size_t rows_used(const struct explaintext_page *p)
{
	size_t rows = 0;

	for (size_t i = 0; i < p->out->len; i++)
		rows += p->out->data[i] == '\n';
	return rows;
}

/* How many entries of a list fit on the screen, below an empty line and its heading. */
static size_t room(const struct explaintext_page *p, size_t least)
{
	size_t taken = rows_used(p) + 2 + PROMPT_ROWS;

	if (!p->screen->rows)
		return SIZE_MAX;
	return p->screen->rows >= taken + least ? p->screen->rows - taken : least;
}

/* "HPA keda-hpa-web", to leave more room for why. */
static const char *who_of(const json_t *change, char text[300])
{
	const char *who = json_str_or_empty(change, "who"), *hpa = text_behind(who, "HorizontalPodAutoscaler ");

	snprintf(text, 300, "%s%s", hpa ? "HPA " : "", hpa ? hpa : who);
	return text;
}

static void add_change(const struct explaintext_page *p, struct table *table, const json_t *one)
{
	char when[64], from[32], to[32], who[300];

	table_add(table,
		(const char *const[]){ clock_of(p, fields_time(one, "at"), when), explaintext_number(one, "from", from),
			explaintext_number(one, "to", to), who_of(one, who), json_str_or_empty(one, "why") });
}

/* Without who: only kscaled creates Jobs. */
static void add_creation(const struct explaintext_page *p, struct table *table, const json_t *one)
{
	json_int_t from = json_integer_value(json_object_get(one, "from")),
		   to = json_integer_value(json_object_get(one, "to"));
	char when[64], jobs[32], running[32];

	snprintf(jobs, sizeof(jobs), "%" JSON_INTEGER_FORMAT, to - from);
	table_add(table,
		(const char *const[]){ clock_of(p, fields_time(one, "at"), when), jobs,
			explaintext_number(one, "to", running), json_str_or_empty(one, "why") });
}

static void add_decision(const struct explaintext_page *p, struct table *table, const json_t *one)
{
	char when[64], count[32];

	table_add(table,
		(const char *const[]){ clock_of(p, fields_time(one, "at"), when), json_str_or_empty(one, "rule"),
			explaintext_number(one, json_object_get(one, "create") ? "create" : "replicas", count),
			json_str_or_empty(one, "text") });
}

/* The newest entries, as many as there is room for, but `least` at least. */
static void put_list(const struct explaintext_page *p, const json_t *list, size_t least, const char *const *headings,
	void (*add)(const struct explaintext_page *, struct table *, const json_t *))
{
	size_t most = room(p, least);
	struct table table;

	if (!json_array_size(list) || !most)
		return;
	table_init(&table, headings);
	for (size_t i = 0; i < json_array_size(list) && i < most; i++)
		add(p, &table, json_array_get(list, i));
	buf_putc(p->out, '\n');
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
}

/* The newest decision is not in the list: it is above. */
static void put_lists(const struct explaintext_page *p, const json_t *answer)
{
	static const char *const changes[] = { "CHANGED", "FROM", "TO", "WHO", "WHY", NULL },
				 *const creations[] = { "CREATED", "JOBS", "RUNNING", "WHY", NULL },
				 *const decisions[] = { "DECIDED", "RULE", "REPLICAS", "TEXT", NULL },
				 *const job_decisions[] = { "DECIDED", "RULE", "CREATE", "TEXT", NULL };
	bool job = is_job(answer);

	put_list(p, json_object_get(answer, "changes"), CHANGES_LEAST, job ? creations : changes,
		job ? add_creation : add_change);
	put_list(p, json_object_get(answer, "decisions"), 0, job ? job_decisions : decisions, add_decision);
}

void explaintext_render(const json_t *answer, const struct asking_screen *screen, int64_t now_unix_ms, struct buf *out)
{
	struct explaintext_page p = { screen, now_unix_ms, out };

	put_name(&p, answer);
	put_other(&p, answer);
	put_trouble(&p, answer);
	if (is_job(answer))
		put_jobs(&p, answer);
	else
		put_target(&p, answer);
	put_annotations(&p, answer);
	put_decision(&p, answer);
	if (!is_job(answer))
		put_hpa(&p, answer);
	put_leader(&p, answer);
	explaintext_triggers(&p, answer);
	put_lists(&p, answer);
}
