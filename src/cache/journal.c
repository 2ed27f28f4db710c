/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/utf8.h"
#include "decide/verdict.h"

#define KSCALED        "kscaled" /* our field manager: the part of our User-Agent before the slash */
#define UNKNOWN        "unknown"
#define HPA_APART_MS   5000  /* maximum between a change and the HPA's lastScaleTime, which has whole seconds */
#define ANSWER_LATE_MS 60000 /* maximum from a change to the answer of its call */

struct journal_entry {
	struct journal_object object;
	bool seen; /* replicas are the target's */
	int32_t replicas;
	uint64_t target; /* hash of its uid: replicas of another target are not a change */
};

/* ---- Texts ---- */

/* Sets *slot, truncated; reuses the memory of the old text if it fits. NULL empties it. */
static void set_text(char **slot, const char *text)
{
	size_t len;

	if (!text) {
		free(*slot);
		*slot = NULL;
		return;
	}
	len = utf8_cut(text, strlen(text), JOURNAL_TEXT_MAX);
	if (*slot && strlen(*slot) >= len) {
		memcpy(*slot, text, len);
		(*slot)[len] = '\0';
		return;
	}
	free(*slot);
	*slot = mem_dupn(text, len);
}

/* ---- Entries ---- */

/* NULL for an object that no longer exists. */
static struct journal_entry *entry_get(struct object *o)
{
	if (!o->journal && !o->gone)
		o->journal = mem_zalloc(sizeof(*o->journal));
	return o->journal;
}

static void triggers_free(struct journal_object *o)
{
	for (size_t i = 0; i < o->trigger_count; i++) {
		free(o->triggers[i].metric);
		free(o->triggers[i].trouble);
	}
	free(o->triggers);
	o->triggers = NULL;
	o->trigger_count = 0;
}

static void change_done(struct journal_change *c)
{
	free(c->who);
	free(c->why);
}

static void entry_free(struct journal_entry *e)
{
	struct journal_object *o = &e->object;

	triggers_free(o);
	for (size_t i = 0; i < o->decision_count; i++)
		free(o->decisions[i].text);
	for (size_t i = 0; i < o->change_count; i++)
		change_done(&o->changes[i]);
	free(o->decisions);
	free(o->changes);
	free(o->composite_trouble);
	free(o->text);
	free(e);
}

/* ---- Decisions ---- */

static void take_triggers(struct journal_object *o, const struct journal_facts *facts)
{
	if (o->trigger_count != facts->trigger_count) {
		triggers_free(o);
		o->trigger_count = facts->trigger_count;
		o->triggers = o->trigger_count > 0 ? mem_array(o->trigger_count, sizeof(*o->triggers)) : NULL;
	}
	for (size_t i = 0; i < o->trigger_count; i++) {
		const struct verdict_trigger *from = &facts->triggers[i];
		const struct err *trouble = from->source_err ? from->source_err : from->err;
		struct journal_trigger *to = &o->triggers[i];

		set_text(&to->metric, from->metric_name);
		set_text(&to->trouble, trouble ? trouble->msg : NULL);
		to->value = from->reading.value;
		to->active = from->reading.active;
		to->failing = from->err != NULL;
		to->falling_back = from->falling_back;
		to->failures = from->failures;
	}
}

static void add_decision(struct journal_object *o, int64_t at_unix_ms, const struct journal_verdict *d,
	const char *text)
{
	const struct journal_decision *last = o->decision_count > 0 ? &o->decisions[o->decision_count - 1] : NULL;
	struct journal_decision *added;

	if (last && strcmp(last->rule, d->rule) == 0 && last->replicas == d->replicas)
		return;
	if (o->decision_count == JOURNAL_DECISIONS_MAX) {
		free(o->decisions[0].text);
		memmove(o->decisions, o->decisions + 1, --o->decision_count * sizeof(*o->decisions));
	} else {
		o->decisions = mem_resize(o->decisions, o->decision_count + 1, sizeof(*o->decisions));
	}
	added = &o->decisions[o->decision_count++];
	*added = (struct journal_decision){ .at_unix_ms = at_unix_ms, .rule = d->rule, .replicas = d->replicas };
	set_text(&added->text, text);
}

bool journal_stands(struct object *o, uint64_t mark, int64_t at_unix_ms)
{
	struct journal_entry *e = o->journal;

	if (!e || !e->object.decided || e->object.mark != mark)
		return false;
	e->object.decided_at_unix_ms = at_unix_ms;
	return true;
}

void journal_decided(struct object *o, uint64_t mark, const struct journal_facts *facts,
	const struct journal_verdict *d, const char *text)
{
	struct journal_entry *e = entry_get(o);
	struct journal_object *told;
	const struct composite *composite = facts->composite;

	if (!e)
		return;
	told = &e->object;
	told->decided = true;
	told->decided_at_unix_ms = facts->now_unix_ms;
	told->mark = mark;
	told->decision = *d;
	set_text(&told->text, text);
	take_triggers(told, facts);
	told->has_composite = composite != NULL;
	told->composite = composite && !composite->failing ? composite->value : 0;
	set_text(&told->composite_trouble, composite && composite->failing ? composite->err.msg : NULL);
	add_decision(told, facts->now_unix_ms, d, text);
}

/* ---- Changes ---- */

static void add_change(struct journal_object *o, int64_t at_unix_ms, int32_t from, int32_t to, const char *who,
	const char *why)
{
	struct journal_change *added;

	if (o->change_count == JOURNAL_CHANGES_MAX) {
		change_done(&o->changes[0]);
		memmove(o->changes, o->changes + 1, --o->change_count * sizeof(*o->changes));
	} else {
		o->changes = mem_resize(o->changes, o->change_count + 1, sizeof(*o->changes));
	}
	added = &o->changes[o->change_count++];
	*added = (struct journal_change){ .at_unix_ms = at_unix_ms, .from = from, .to = to };
	set_text(&added->who, who);
	set_text(&added->why, why ? why : "");
}

/* The object's HPA; NULL if there is none, as for a ScaledJob. */
static const struct hpa *hpa_of(const struct store *store, const struct object *o)
{
	return o->of.so ? store_hpa_named(store, o->of.so) : NULL;
}

static void name_hpa(struct journal_change *c, const struct hpa *hpa)
{
	free(c->who);
	c->who = mem_printf("HorizontalPodAutoscaler %s", hpa->meta.name);
	set_text(&c->why, "desired by the HPA");
}

/*
 * After /scale has set a workload to 0, the API server no longer records who sets its replicas. The
 * HPA's desired replicas and last scaling time, which usually follow the change, identify the HPA;
 * so this is checked when either changes.
 */
static void name_unknown(struct journal_entry *e, const struct hpa *hpa)
{
	for (size_t i = e->object.change_count; hpa && i > 0; i--) {
		struct journal_change *c = &e->object.changes[i - 1];
		int64_t apart_ms = c->at_unix_ms - hpa->last_scale_unix_ms;

		if (strcmp(c->who, UNKNOWN) != 0 || c->to != hpa->desired_replicas || apart_ms > HPA_APART_MS ||
			apart_ms < -HPA_APART_MS)
			continue;
		name_hpa(c, hpa);
		return;
	}
}

static void note_change(struct journal_entry *e, const struct workload *w, const struct hpa *hpa)
{
	/* Names of the process that contains the HPA controller. */
	static const char *const controllers[] = { "kube-controller-manager", "k3s", "kubelite", NULL };
	const char *manager = w->replicas_manager ? w->replicas_manager : UNKNOWN;
	bool ours = strcmp(manager, KSCALED) == 0; /* control adds the reason when its call is answered */

	add_change(&e->object, timestamp_now_ms(), e->replicas, w->replicas, manager,
		ours || !w->replicas_by_scale ? "" : "through /scale");
	if (hpa && w->replicas_by_scale && text_is_one_of(manager, controllers))
		name_hpa(&e->object.changes[e->object.change_count - 1], hpa);
	else
		name_unknown(e, hpa);
}

static void look_at_target(const struct store *store, struct object *o)
{
	struct journal_entry *e = entry_get(o);
	const struct workload *w;
	uint64_t target;

	if (targets_get(o, &w) != TARGET_PRESENT) {
		e->seen = false;
		return;
	}
	target = fingerprint_fast(w->uid, strlen(w->uid));
	if (e->seen && e->target == target && e->replicas != w->replicas)
		note_change(e, w, hpa_of(store, o));
	e->seen = true;
	e->target = target;
	e->replicas = w->replicas;
}

/*
 * The entry of the same change, if the target's watch showed it before our call was answered: the
 * newest one if it led to these replicas, otherwise one of ours that others have changed since.
 */
static struct journal_change *noted(struct journal_entry *e, int64_t at_unix_ms, int32_t from, int32_t to)
{
	struct journal_object *o = &e->object;

	for (size_t i = o->change_count; i > 0; i--) {
		struct journal_change *c = &o->changes[i - 1];
		bool unexplained = !*c->why && (strcmp(c->who, KSCALED) == 0 || strcmp(c->who, UNKNOWN) == 0) &&
			c->at_unix_ms >= at_unix_ms - ANSWER_LATE_MS && c->at_unix_ms <= at_unix_ms;

		if (c->to == to &&
			((i == o->change_count && e->seen && e->replicas == to) || (c->from == from && unexplained)))
			return c;
	}
	return NULL;
}

void journal_scaled(struct object *o, int64_t at_unix_ms, int32_t from, int32_t to, const char *why)
{
	struct journal_entry *e = entry_get(o);
	struct journal_change *change;
	const struct workload *w;

	if (!e)
		return;
	/* Only control reports a ScaledJob's Jobs, so an equal change is a new one. */
	change = o->kind == SCALED_JOB ? NULL : noted(e, at_unix_ms, from, to);
	if (change) {
		set_text(&change->who, KSCALED);
		set_text(&change->why, why ? why : "");
	} else {
		add_change(&e->object, at_unix_ms, from, to, KSCALED, why);
	}
	/* Others may have changed it again before our call was answered. */
	if (targets_get(o, &w) == TARGET_PRESENT)
		e->replicas = w->replicas == from ? to : w->replicas;
}

/* ---- The interface ---- */

void journal_follow(const struct store *store, struct object *o, unsigned changes)
{
	if ((changes & OBJECT_GONE) && o->journal) {
		entry_free(o->journal);
		o->journal = NULL;
	}
	if (o->gone)
		return;
	if (changes & OBJECT_TARGET)
		look_at_target(store, o);
	if ((changes & (OBJECT_HPA | OBJECT_HPA_STATUS)) && o->journal)
		name_unknown(o->journal, hpa_of(store, o));
}

const struct journal_object *journal_get(const struct object *o)
{
	const struct journal_entry *e = o->journal;

	return e && (e->object.decided || e->object.change_count > 0) ? &e->object : NULL;
}
