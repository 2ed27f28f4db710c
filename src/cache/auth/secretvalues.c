/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/secretvalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/json.h"
#include "base/mem.h"

#define RETRY_AFTER_MOST_MS (10 * 60000) /* limit of Retry-After */
#define AGAIN_MS            60000
#define AGAIN_LEAST_MS      1000
#define AGAIN_MOST_MS       (24 * 3600 * INT64_C(1000))
#define BYTES_MAX           ((size_t)32 << 20) /* of secrets, over all namespaces */
#define BYTES_FEW           ((size_t)1 << 18)  /* one namespace's maximum from the reserve */
#define TEXTS_MAX           24

static const char **text_at(const struct secretvalues_kind *kind, const void *source, size_t i)
{
	return (const char **)((uintptr_t)source + kind->texts[i]);
}

static void *source_of(const struct secretvalue *v)
{
	return (void *)((uintptr_t)v + v->kind->source);
}

/* ---- Members ---- */

static void forget_parsed(void *arg)
{
	struct secretvalue *v = arg;

	json_decref(v->parsed);
	v->parsed = NULL;
	v->is_parsed = false;
}

/* Parses the text once per turn, however many members are wanted or missing. */
static const json_t *parsed(struct secretvalue *v)
{
	if (!v->is_parsed) {
		v->parsed = json_parse_foreign(v->fetched.text, strlen(v->fetched.text), NULL);
		v->is_parsed = true;
		loop_task_queue(v->keeper->config.loop, &v->forget);
	}
	return v->parsed;
}

/* Extracts each member once. */
static enum reference_state get_member(struct secretvalue *v, const char *member, const char **value, struct err *err)
{
	char *text = NULL;

	*value = strmap_get(&v->members, member);
	if (*value)
		return REFERENCE_FOUND;
	if (v->kind->member(v, parsed(v), member, &text, err)) {
		v->any_change = true;
		return REFERENCE_MISSING;
	}
	strmap_set(&v->members, member, text);
	mem_free_secret(text);
	*value = strmap_get(&v->members, member);
	return REFERENCE_FOUND;
}

/* Whether a new text differs in what owners have or wait for: some secrets have a clock in them. */
static bool is_changed(struct secretvalue *v)
{
	bool changed = v->any_change;

	for (size_t i = 0; i < v->members.count && !changed; i++) {
		const struct strmap_pair *old = &v->members.pairs[i];
		char *text = NULL;

		changed = v->kind->member(v, parsed(v), old->key, &text, NULL) || strcmp(text, old->value) != 0;
		mem_free_secret(text);
	}
	return changed;
}

/* ---- The result of a read ---- */

void secretvalue_failed(struct secretvalue *v, const struct err *err)
{
	struct err named = *err;
	int64_t after_ms = err->retry_after_ms;

	v->kind->wrap(v, &named);
	fetched_failed(&v->fetched, &named, v->kind->log, "the value read before stays in use");
	if (after_ms > 0)
		loop_timer_set(&v->fetched.again, after_ms < RETRY_AFTER_MOST_MS ? after_ms : RETRY_AFTER_MOST_MS);
}

/* Takes or gives back the difference to the text before. */
static bool take_share(struct secretvalue *v, size_t len)
{
	const char *namespace_ = *text_at(v->kind, source_of(v), 0);
	size_t has = v->share.has;

	if (len < has)
		shares_give(&v->share, has - len);
	return len <= has || shares_take(&v->keeper->shares, &v->share, namespace_ ? namespace_ : "", len - has);
}

void secretvalue_take(struct secretvalue *v, const char *text, int64_t good_for_ms)
{
	int64_t again_in_ms = good_for_ms <= 0 ? AGAIN_MS
		: good_for_ms < AGAIN_LEAST_MS ? AGAIN_LEAST_MS
		: good_for_ms > AGAIN_MOST_MS  ? AGAIN_MOST_MS
					       : good_for_ms;
	struct err err;

	if (!take_share(v, strlen(text))) {
		err_set(&err, ERR_TEMPORARY,
			"this namespace has used up its share of the %zu MiB for secrets: its TriggerAuthentications "
			"read too many, or too large ones",
			BYTES_MAX >> 20);
		secretvalue_failed(v, &err);
		return;
	}
	v->read_ms = loop_now_ms(v->keeper->config.loop);
	v->again_ms = v->read_ms + again_in_ms;
	v->refused = false;
	if (!fetched_take(&v->fetched, text, again_in_ms))
		return;
	forget_parsed(v);
	if (!is_changed(v))
		return;
	strmap_done_secret(&v->members);
	v->any_change = false;
	holders_notify(&v->fetched.held);
}

static void on_again(void *arg)
{
	struct secretvalue *v = arg;

	v->kind->read(v);
}

/* Failed reads are retried anyway. */
static void reread(void *arg, struct held *held)
{
	struct secretvalue *v = (struct secretvalue *)held;
	const struct secretvalues *s = arg;
	int64_t apart_ms = (v->again_ms - v->read_ms) / 4, at_ms;

	if (v->refused || !v->fetched.text || v->fetched.err || (v->kind->is_fixed && v->kind->is_fixed(v)))
		return;
	v->refused = true;
	at_ms = v->read_ms + (apart_ms > s->config.apart_ms ? apart_ms : s->config.apart_ms);
	if (at_ms < v->again_ms)
		loop_timer_set(&v->fetched.again,
			at_ms > loop_now_ms(s->config.loop) ? at_ms - loop_now_ms(s->config.loop) : 0);
}

void secretvalues_reread(struct secretvalues *s, const struct object *owner)
{
	holdings_each(owner, &s->holders, reread, s);
}

/* ---- Keeping ---- */

static char *key_of(const struct secretvalues_kind *kind, const void *source, char out[FINGERPRINT_TEXT])
{
	const char *known_by[TEXTS_MAX + 2] = { kind->log, kind->also(source) };
	size_t count = 2;

	for (size_t i = kind->loose_count; i < kind->text_count; i++) {
		const char *text = *text_at(kind, source, i);

		known_by[count++] = text ? text : "";
	}
	return fingerprint_of(known_by, count, out);
}

static void on_unheld(void *arg, struct held *held)
{
	struct secretvalue *v = (struct secretvalue *)held;
	const struct secretvalues *s = arg;

	v->kind->done(v);
	loop_task_cancel(s->config.loop, &v->forget);
	forget_parsed(v);
	fetched_done(&v->fetched);
	strmap_done_secret(&v->members);
	shares_give(&v->share, v->share.has);
	for (size_t i = 0; i < v->kind->text_count; i++)
		mem_free_secret((char *)(uintptr_t)*text_at(v->kind, source_of(v), i));
	free(v);
}

static struct secretvalue *value_new(struct secretvalues *s, const struct secretvalues_kind *kind, const void *source)
{
	struct secretvalue *v = mem_zalloc(kind->size);
	void *copy;

	v->keeper = s;
	v->kind = kind;
	copy = source_of(v);
	memcpy(copy, source, kind->source_size);
	for (size_t i = 0; i < kind->text_count; i++)
		*text_at(kind, copy, i) = mem_dup(*text_at(kind, source, i));
	loop_timer_init(&v->fetched.again, s->config.loop, on_again, v);
	loop_task_init(&v->forget, forget_parsed, v);
	loop_timer_set(&v->fetched.again, 0); /* asynchronously, not from inside the request */
	return v;
}

enum reference_state secretvalues_get(struct secretvalues *s, const struct secretvalues_kind *kind,
	struct object *owner, const void *source, const char *member, struct secretvalue **found, const char **value,
	struct err *err)
{
	char key[FINGERPRINT_TEXT];
	struct secretvalue *v = (struct secretvalue *)holders_find(&s->holders, key_of(kind, source, key));
	enum reference_state state;

	if (!v) {
		v = value_new(s, kind, source);
		holders_add(&s->holders, &v->fetched.held, key);
	}
	*found = v;
	state = fetched_get(&v->fetched, owner, value, err);
	if (state == REFERENCE_FOUND && member)
		return get_member(v, member, value, err);
	v->any_change = true;
	if (state == REFERENCE_UNREAD && !v->fetched.err)
		kind->unread(source, err);
	return state;
}

/* ---- Life ---- */

struct secretvalues *secretvalues_new(const struct secretvalues_config *config)
{
	struct secretvalues *s = mem_zalloc(sizeof(*s));

	s->config = *config;
	s->shares = (struct shares){ .total = BYTES_MAX, .few = BYTES_FEW };
	holders_init(&s->holders, on_unheld, s);
	return s;
}

void secretvalues_free(struct secretvalues *s)
{
	if (s)
		holders_done(&s->holders);
	free(s);
}

void secretvalues_listen(struct secretvalues *s, object_fn fn, void *arg)
{
	holders_listen(&s->holders, fn, arg);
}
