/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainparts.h"

#include <string.h>

void explainparts_leader(struct jsonout *j, const struct leadership *l)
{
	jsonout_object(j, "leader");
	jsonout_bool(j, "leading", l->leading);
	jsonout_text(j, "holder", *l->holder ? l->holder : NULL);
	jsonout_text(j, "whyNot", l->leading || !*l->why_not ? NULL : l->why_not);
	jsonout_end_object(j);
}

void explainparts_number(struct jsonout *j, const char *key, bool known, int64_t value)
{
	if (known)
		jsonout_int(j, key, value);
	else
		jsonout_null(j, key);
}

void explainparts_condition(struct jsonout *j, const char *key, const struct conditions *all, const char *type)
{
	const struct condition *c = conditions_get(all, type);

	jsonout_text(j, key, c ? condition_status_name(c->status) : NULL);
}

const struct journal_object *explainparts_decided(const struct cache *cache, const struct journal_object *o)
{
	return cache->leadership.leading && o && o->decided ? o : NULL;
}

static const char *find_reason(const struct conditions *all, const struct journal_object *decided, const char *refusal,
	const char *paused)
{
	const struct condition *ready = conditions_get(all, "Ready"), *active = conditions_get(all, "Active");

	if (ready && ready->status == CONDITION_FALSE && strcmp(ready->reason, refusal) == 0)
		return ready->message;
	if (decided && decided->text)
		return decided->text;
	if (paused)
		return paused;
	if (ready && ready->status != CONDITION_TRUE)
		return ready->message;
	return active ? active->message : NULL;
}

void explainparts_reason(struct jsonout *j, const struct conditions *all, const struct journal_object *decided,
	const char *refusal, const char *paused)
{
	const char *reason = find_reason(all, decided, refusal, paused);

	jsonout_text(j, "rule", decided && decided->text ? decided->decision.rule : NULL);
	jsonout_text(j, "reason", reason && *reason ? reason : NULL);
}

static void write_conditions(struct jsonout *j, const struct conditions *all)
{
	jsonout_array(j, "conditions");
	for (size_t i = 0; i < all->count; i++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "type", all->list[i].type);
		jsonout_text(j, "status", condition_status_name(all->list[i].status));
		jsonout_text(j, "reason", all->list[i].reason);
		jsonout_text(j, "message", all->list[i].message);
		jsonout_time(j, "lastTransitionTime", all->list[i].since_unix_ms);
		jsonout_end_object(j);
	}
	jsonout_end_array(j);
}

static void write_changes(struct jsonout *j, const struct journal_object *o)
{
	jsonout_array(j, "changes");
	for (size_t i = o ? o->change_count : 0; i > 0; i--) {
		const struct journal_change *c = &o->changes[i - 1];

		jsonout_object(j, NULL);
		jsonout_time(j, "at", c->at_unix_ms);
		jsonout_int(j, "from", c->from);
		jsonout_int(j, "to", c->to);
		jsonout_text(j, "who", c->who);
		jsonout_text(j, "why", c->why);
		jsonout_end_object(j);
	}
	jsonout_end_array(j);
}

static void write_decisions(struct jsonout *j, const struct journal_object *o, const char *number)
{
	jsonout_array(j, "decisions");
	for (size_t i = o ? o->decision_count : 0; i > 0; i--) {
		const struct journal_decision *d = &o->decisions[i - 1];

		jsonout_object(j, NULL);
		jsonout_time(j, "at", d->at_unix_ms);
		jsonout_text(j, "rule", d->rule);
		jsonout_int(j, number, d->replicas);
		jsonout_text(j, "text", d->text);
		jsonout_end_object(j);
	}
	jsonout_end_array(j);
}

void explainparts_history(struct jsonout *j, const struct conditions *all, const struct journal_object *o,
	const char *number)
{
	write_conditions(j, all);
	write_changes(j, o);
	write_decisions(j, o, number);
}
