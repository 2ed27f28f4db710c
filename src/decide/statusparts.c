/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/statusparts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "crd/intern.h"

#define TYPES_TEXT_MAX 65536 /* triggersTypes: at most SCALEDOBJECT_TRIGGERS_MAX short words */

/* ---- Conditions ---- */

void statusparts_say(const struct statusparts *p, const char *type, enum condition_status status, const char *reason,
	const char *message)
{
	conditions_set(&p->status->conditions, type, status, reason, message, p->now_unix_ms, p->generation);
}

void statusparts_say_once(const struct statusparts *p, const char *type, enum condition_status status,
	const char *reason, const char *message, bool stands)
{
	const struct condition *told = conditions_get(&p->status->conditions, type);
	bool same = stands && told && told->status == status && strcmp(told->reason, reason) == 0;
	/* A copy: conditions_set may free the text that conditions_get returned. */
	MEM_AUTO char *kept = same ? mem_dup(told->message) : NULL;

	statusparts_say(p, type, status, reason, same ? kept : message);
}

void statusparts_first_sight(const struct statusparts *p, const char *type, enum condition_status status)
{
	if (!conditions_get(&p->status->conditions, type))
		statusparts_say(p, type, status, "", "");
}

void statusparts_pause(const struct statusparts *p, bool paused)
{
	const struct statusparts_words *w = p->words;

	if (paused)
		statusparts_say(p, STATUSPARTS_PAUSED, CONDITION_TRUE, w->paused, w->paused_message);
	else if (conditions_get(&p->status->conditions, STATUSPARTS_PAUSED)->status != CONDITION_FALSE)
		statusparts_say(p, STATUSPARTS_PAUSED, CONDITION_FALSE, w->unpaused, w->unpaused_message);
}

void statusparts_reconciled(const struct statusparts *p, const struct err *err, bool paused)
{
	const struct statusparts_words *w = p->words;
	const struct condition *ready = conditions_get(&p->status->conditions, STATUSPARTS_READY);

	if (err) {
		statusparts_say(p, STATUSPARTS_READY, CONDITION_FALSE, w->refused, err->msg);
		statusparts_say(p, STATUSPARTS_ACTIVE, CONDITION_UNKNOWN, "UnknownState", w->refused_message);
	} else if (text_is_one_of(ready->reason, w->lowered) && !paused) {
		statusparts_say_once(p, STATUSPARTS_READY, ready->status, ready->reason, "", true);
	} else {
		statusparts_say(p, STATUSPARTS_READY, CONDITION_TRUE, w->ready,
			paused ? w->ready_paused_message : w->ready_message);
	}
}

bool statusparts_is_refused(const struct statusparts *p)
{
	const struct condition *ready = conditions_get(&p->status->conditions, STATUSPARTS_READY);

	return ready && ready->status == CONDITION_FALSE && strcmp(ready->reason, p->words->refused) == 0;
}

/* ---- Triggers and their metrics ---- */

/*
 * The distinct types of the triggers, or the names of their authentications, in the order of the
 * triggers, joined by commas; NULL if there are none. The caller owns it.
 */
static char *distinct(const struct trigger *triggers, size_t count, bool authentications)
{
	struct strmap seen = { 0 };
	struct buf out = BUF_INIT(TYPES_TEXT_MAX);

	for (size_t i = 0; i < count; i++) {
		const char *text = authentications ? triggers[i].auth_name : triggers[i].type;

		if (!text || !*text || strmap_get(&seen, text))
			continue;
		if (out.len > 0)
			buf_putc(&out, ',');
		buf_puts(&out, text);
		strmap_set(&seen, text, "");
	}
	strmap_done(&seen);
	if (out.len == 0) {
		buf_done(&out);
		return NULL;
	}
	return buf_take(&out);
}

void statusparts_triggers(const struct trigger *triggers, size_t count, struct scaledobject_status *status)
{
	intern_take(&status->triggers_types, distinct(triggers, count, false));
	intern_take(&status->authentications_types, distinct(triggers, count, true));
}

bool statusparts_has_metric(const struct scaledobject_status *status, const char *name, size_t *at)
{
	size_t count = status->external_metric_count;

	for (size_t i = 0; i < count; i++, ++*at)
		if (strcmp(status->external_metric_names[*at % count], name) == 0)
			return true;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* names: sorted. */
static size_t prune(char *const *names, size_t name_count, struct metric_state *states, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (bsearch(&states[i].metric, names, name_count, sizeof(*names), by_text))
			states[kept++] = states[i];
		else
			free(states[i].metric);
	}
	return kept;
}

void statusparts_prune(struct scaledobject_status *status)
{
	size_t count = status->external_metric_count;
	char **sorted;

	if (status->health_count == 0 && status->activity_count == 0)
		return;
	sorted = mem_array(count + 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[i] = status->external_metric_names[i];
	qsort(sorted, count, sizeof(*sorted), by_text);
	status->health_count = prune(sorted, count, status->health, status->health_count);
	status->activity_count = prune(sorted, count, status->activity, status->activity_count);
	free(sorted);
}

static bool activity_is_of_all_metrics(const struct scaledobject_status *status)
{
	if (status->activity_count != status->external_metric_count)
		return false;
	for (size_t i = 0; i < status->activity_count; i++)
		if (strcmp(status->activity[i].metric, status->external_metric_names[i]) != 0)
			return false;
	return true;
}

static void list_activity(struct scaledobject_status *status)
{
	struct metric_state *list = mem_array(status->external_metric_count, sizeof(*list));

	for (size_t i = 0; i < status->external_metric_count; i++)
		list[i].metric = mem_dup(status->external_metric_names[i]);
	scaledobject_free_states(&status->activity, &status->activity_count);
	status->activity = list;
	status->activity_count = status->external_metric_count;
}

void statusparts_activity(statusparts_active_fn active, const void *arg, struct scaledobject_status *status)
{
	size_t at = 0;

	if (!activity_is_of_all_metrics(status))
		list_activity(status);
	for (size_t i = 0; i < status->activity_count; i++)
		status->activity[i].active = active(arg, status->activity[i].metric, status->activity[i].active, &at);
}

void statusparts_last_active(const struct statusparts *p, bool active, bool says_active, int64_t last_unix_ms)
{
	struct scaledobject_status *status = p->status;
	const struct condition *told = conditions_get(&status->conditions, STATUSPARTS_ACTIVE);
	bool edge = says_active && !(told && told->status == CONDITION_TRUE);

	if (active && (edge || status->last_active_unix_ms == 0))
		status->last_active_unix_ms = p->now_unix_ms;
	/* From a clock that was set back, or another replica's. */
	if (status->last_active_unix_ms > p->now_unix_ms)
		status->last_active_unix_ms = p->now_unix_ms;
	if (!active && last_unix_ms > status->last_active_unix_ms)
		status->last_active_unix_ms = last_unix_ms;
}
