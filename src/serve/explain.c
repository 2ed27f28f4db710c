/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "cache/journal.h"
#include "decide/directives.h"
#include "net/httppath.h"
#include "serve/apistatus.h"
#include "serve/explaintriggers.h"
#include "serve/jsonout.h"
#include "serve/nearnames.h"
#include "serve/request.h"

#define ANSWER_MAX ((size_t)32 << 20)

/* --- what an item is made of -------------------------------------------------------------------------------------------------- */

struct view { /* all borrowed */
	struct cache *cache;
	const char *key;
	const struct scaledobject *so;
	const struct hpa *hpa;               /* NULL */
	const struct journal_object *journal; /* NULL */
	struct directives directives;
	const struct workload *workload;     /* NULL unless present */
	enum target_state target;
};

static void view_make(struct view *v, struct cache *cache, const char *key, const struct scaledobject *so)
{
	char name[254], hpa_key[STORE_KEY_MAX];

	*v = (struct view){ .cache = cache, .key = key, .so = so };
	v->hpa = store_hpa(cache->store, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), hpa_key));
	v->journal = cache->journal ? journal_get(cache->journal, key) : NULL;
	v->target = targets_get(cache->targets, key, &v->workload);
	/* An annotation that cannot be read is in Ready. */
	directives_read(so, &v->directives, NULL);
}

static const char *condition_text(const struct view *v, const char *type)
{
	const struct condition *c = conditions_get(&v->so->status.conditions, type);

	return c ? condition_status_name(c->status) : NULL;
}

/* --- parts -------------------------------------------------------------------------------------------------------------------- */

static void write_leader(struct jsonout *j, const struct leadership *l)
{
	jsonout_object(j, "leader");
	jsonout_bool(j, "leading", l->leading);
	jsonout_text(j, "holder", *l->holder ? l->holder : NULL);
	jsonout_text(j, "whyNot", l->leading || !*l->why_not ? NULL : l->why_not);
	jsonout_end_object(j);
}

static void write_known(struct jsonout *j, const char *key, bool known, int64_t value)
{
	if (known)
		jsonout_int(j, key, value);
	else
		jsonout_null(j, key);
}

static void write_target(struct jsonout *j, const struct view *v)
{
	static const char *const states[] = { [TARGET_UNREAD] = "unread", [TARGET_MISSING] = "missing", [TARGET_PRESENT] = "present" };
	const struct scaledobject_spec *spec = &v->so->spec;

	jsonout_object(j, "target");
	jsonout_text(j, "apiVersion", spec->target_api_version && *spec->target_api_version ? spec->target_api_version : "apps/v1");
	jsonout_text(j, "kind", scaledobject_target_kind(spec));
	jsonout_text(j, "name", spec->target_name);
	jsonout_text(j, "state", states[v->target]);
	write_known(j, "replicas", v->workload, v->workload ? v->workload->replicas : 0);
	write_known(j, "ready", v->workload && v->workload->ready_replicas >= 0, v->workload ? v->workload->ready_replicas : 0);
	jsonout_text(j, "trouble", targets_trouble(v->cache->targets, v->key));
	jsonout_end_object(j);
}

static void write_bounds(struct jsonout *j, const struct view *v)
{
	const struct scaledobject_spec *spec = &v->so->spec;

	jsonout_int(j, "min", scaledobject_min(spec));
	jsonout_int(j, "max", scaledobject_hpa_max(spec));
	write_known(j, "idle", spec->idle_replicas != INT32_UNSET, spec->idle_replicas);
}

static void write_directives(struct jsonout *j, const struct directives *d)
{
	jsonout_bool(j, "paused", d->paused);
	jsonout_object(j, "pausing");
	write_known(j, "replicas", d->paused && d->paused_replicas != INT32_UNSET, d->paused_replicas);
	jsonout_bool(j, "scaleIn", d->scale_in_paused);
	jsonout_bool(j, "scaleOut", d->scale_out_paused);
	jsonout_end_object(j);
	jsonout_bool(j, "forced", d->force_active);
}

static void write_hpa_condition(struct jsonout *j, const char *type, const char *status, const char *reason, const char *message)
{
	if (!status || !*status)
		return;
	jsonout_object(j, NULL);
	jsonout_text(j, "type", type);
	jsonout_text(j, "status", status);
	jsonout_text(j, "reason", reason);
	jsonout_text(j, "message", message);
	jsonout_end_object(j);
}

static void write_hpa(struct jsonout *j, const struct view *v)
{
	const struct hpa *h = v->hpa;

	if (!h) {
		jsonout_null(j, "hpa");
		return;
	}
	jsonout_object(j, "hpa");
	jsonout_text(j, "name", h->meta.name);
	jsonout_int(j, "min", scaledobject_hpa_min(&v->so->spec));
	jsonout_int(j, "max", scaledobject_hpa_max(&v->so->spec));
	jsonout_int(j, "current", h->current_replicas);
	jsonout_int(j, "desired", h->desired_replicas);
	jsonout_time(j, "lastScaleTime", h->last_scale_unix_ms);
	jsonout_array(j, "conditions");
	write_hpa_condition(j, "ScalingActive", h->scaling_active_status, h->scaling_active_reason, h->scaling_active_message);
	write_hpa_condition(j, "AbleToScale", h->able_to_scale.reason ? condition_status_name(h->able_to_scale.status) : NULL, h->able_to_scale.reason, h->able_to_scale.message);
	write_hpa_condition(j, "ScalingLimited", h->scaling_limited.reason ? condition_status_name(h->scaling_limited.status) : NULL, h->scaling_limited.reason, h->scaling_limited.message);
	jsonout_end_array(j);
	jsonout_end_object(j);
}

/* --- the reason --------------------------------------------------------------------------------------------------------------- */

/* What a leader decided last that leads no more was overtaken long ago: it is history, and stands among the decisions. */
static bool has_decision(const struct view *v)
{
	return v->cache->leadership.leading && v->journal && v->journal->decided;
}

/* What is wrong goes before what was decided; a standby, which decides nothing, repeats what the conditions say. */
static void write_reason(struct jsonout *j, const struct view *v)
{
	const struct condition *ready = conditions_get(&v->so->status.conditions, "Ready"), *active = conditions_get(&v->so->status.conditions, "Active");
	bool refused = ready && ready->status == CONDITION_FALSE && strcmp(ready->reason, "ScaledObjectCheckFailed") == 0;
	bool decided = has_decision(v) && v->journal->text;
	struct buf text = BUF_INIT(4096);

	if (refused) {
		buf_puts(&text, ready->message);
	} else if (decided) {
		buf_puts(&text, v->journal->text);
	} else if (v->directives.paused && v->directives.paused_replicas != INT32_UNSET) {
		buf_printf(&text, "paused at %d replicas", (int)v->directives.paused_replicas);
	} else if (v->directives.paused) {
		buf_puts(&text, "paused");
	} else if (ready && ready->status != CONDITION_TRUE) {
		buf_puts(&text, ready->message);
	} else if (active) {
		buf_puts(&text, active->message);
	}
	jsonout_text(j, "rule", decided ? scale_rule_name(v->journal->decision.rule) : NULL);
	jsonout_text(j, "reason", text.len ? buf_text(&text) : NULL);
	buf_done(&text);
}

static void write_item(struct jsonout *j, const struct view *v)
{
	jsonout_text(j, "kind", "ScaledObject");
	jsonout_text(j, "namespace", v->so->meta.namespace_);
	jsonout_text(j, "name", v->so->meta.name);
	write_target(j, v);
	write_bounds(j, v);
	write_directives(j, &v->directives);
	jsonout_text(j, "ready", condition_text(v, "Ready"));
	jsonout_text(j, "active", condition_text(v, "Active"));
	jsonout_text(j, "fallback", condition_text(v, "Fallback"));
	jsonout_text(j, "triggersTypes", v->so->status.triggers_types);
	write_hpa(j, v);
	write_reason(j, v);
}

/* --- one object --------------------------------------------------------------------------------------------------------------- */

static void write_decision(struct jsonout *j, const struct view *v)
{
	const struct journal_object *o = v->journal;
	const struct scale_decision *d = o ? &o->decision : NULL;

	if (!has_decision(v)) {
		jsonout_null(j, "decision");
		return;
	}
	jsonout_object(j, "decision");
	jsonout_text(j, "rule", scale_rule_name(d->rule));
	jsonout_text(j, "text", o->text);
	jsonout_bool(j, "act", d->act);
	jsonout_int(j, "replicas", d->replicas);
	jsonout_bool(j, "active", d->active);
	jsonout_bool(j, "forced", d->forced);
	jsonout_bool(j, "failing", d->failing);
	jsonout_time(j, "until", d->until_unix_ms);
	jsonout_time(j, "decidedAt", o->decided_at_unix_ms);
	jsonout_end_object(j);
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

static void write_decisions(struct jsonout *j, const struct journal_object *o)
{
	jsonout_array(j, "decisions");
	for (size_t i = o ? o->decision_count : 0; i > 0; i--) {
		const struct journal_decision *d = &o->decisions[i - 1];

		jsonout_object(j, NULL);
		jsonout_time(j, "at", d->at_unix_ms);
		jsonout_text(j, "rule", scale_rule_name(d->rule));
		jsonout_int(j, "replicas", d->replicas);
		jsonout_text(j, "text", d->text);
		jsonout_end_object(j);
	}
	jsonout_end_array(j);
}

static void write_object(struct jsonout *j, const struct view *v)
{
	jsonout_object(j, NULL);
	write_leader(j, &v->cache->leadership);
	write_item(j, v);
	jsonout_time(j, "created", v->so->meta.created_unix_ms);
	jsonout_int(j, "generation", v->so->meta.generation);
	explaintriggers_write(j, v->cache, v->key, v->so);
	write_decision(j, v);
	write_conditions(j, &v->so->status.conditions);
	write_changes(j, v->journal);
	write_decisions(j, v->journal);
	jsonout_end_object(j);
}

static void reply(struct request *r, struct buf *out)
{
	if (buf_failed(out))
		apistatus_reply(r, APISTATUS_INTERNAL_ERROR, "the answer would be longer than %zu bytes: ask with ?namespace=", ANSWER_MAX);
	else
		request_reply(r, 200, "application/json", out->data, out->len);
	buf_done(out);
}

static bool part(const struct request *r, size_t i, char *out, size_t size)
{
	return httppath_decode(r->parts.list[i].text, r->parts.list[i].len, false, out, size) == 0 && *out;
}

static void reply_unknown(struct request *r, const char *namespace_, const char *name)
{
	struct buf text = BUF_INIT(4096);

	nearnames_explain(r->serve->cache->store, namespace_, name, &text);
	apistatus_reply(r, APISTATUS_NOT_FOUND, "%s", buf_text(&text));
	buf_done(&text);
}

void explain_handle_object(struct request *r)
{
	struct cache *cache = r->serve->cache;
	struct buf out = BUF_INIT(ANSWER_MAX);
	struct jsonout j = JSONOUT_INIT(&out);
	char namespace_[254], name[254], key[STORE_KEY_MAX];
	const struct scaledobject *so;
	struct view view;

	if (!part(r, 0, namespace_, sizeof(namespace_)) || !part(r, 1, name, sizeof(name))) {
		apistatus_reply(r, APISTATUS_BAD_REQUEST, "the path must be /explain/NAMESPACE/NAME");
		return;
	}
	so = store_scaledobject(cache->store, store_key(namespace_, name, key));
	if (!so) {
		reply_unknown(r, namespace_, name);
		return;
	}
	view_make(&view, cache, key, so);
	write_object(&j, &view);
	reply(r, &out);
}

/* --- all of them -------------------------------------------------------------------------------------------------------------- */

struct listed {
	const char *key;
	const struct scaledobject *so;
};

struct list {
	const char *namespace_; /* NULL: all */
	struct listed *items;
	size_t count, alloc;
};

static void on_listed(void *arg, const char *key, const struct scaledobject *so)
{
	struct list *l = arg;

	if (l->namespace_ && strcmp(l->namespace_, so->meta.namespace_) != 0)
		return;
	if (l->count == l->alloc) {
		l->alloc = l->alloc ? 2 * l->alloc : 64;
		l->items = mem_resize(l->items, l->alloc, sizeof(*l->items));
	}
	l->items[l->count++] = (struct listed){ key, so };
}

static int compare(const void *a, const void *b)
{
	const struct scaledobject *x = ((const struct listed *)a)->so, *y = ((const struct listed *)b)->so;
	int by_namespace = strcmp(x->meta.namespace_, y->meta.namespace_);

	return by_namespace ? by_namespace : strcmp(x->meta.name, y->meta.name);
}

void explain_handle_list(struct request *r)
{
	struct cache *cache = r->serve->cache;
	const char *namespace_ = httpd_query(r->http, "namespace");
	struct buf out = BUF_INIT(ANSWER_MAX);
	struct jsonout j = JSONOUT_INIT(&out);
	struct list list = { .namespace_ = namespace_ && *namespace_ ? namespace_ : NULL };
	struct view view;

	store_each_scaledobject(cache->store, on_listed, &list);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare);
	jsonout_object(&j, NULL);
	write_leader(&j, &cache->leadership);
	jsonout_bool(&j, "synced", store_synced(cache->store));
	jsonout_array(&j, "items");
	for (size_t i = 0; i < list.count; i++) {
		view_make(&view, cache, list.items[i].key, list.items[i].so);
		jsonout_object(&j, NULL);
		write_item(&j, &view);
		jsonout_end_object(&j);
	}
	jsonout_end_array(&j);
	jsonout_end_object(&j);
	free(list.items);
	reply(r, &out);
}
