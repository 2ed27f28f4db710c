/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/secretvalues.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/json.h"
#include "base/mem.h"

#define RETRY_AFTER_MOST_MS (10 * 60000)       /* limit of Retry-After */
#define BYTES_MAX           ((size_t)32 << 20) /* of secrets, over all namespaces */
#define BYTES_FEW           ((size_t)1 << 18)  /* one namespace's maximum from the reserve */
#define TEXTS_MAX           24

static const char **text_at(const struct secretvalues_kind *kind, const void *source, size_t i)
{
	return (const char **)((uintptr_t)source + kind->texts[i]);
}

static void *source_of(const struct secretvalue *v)
{
	return (void *)((uintptr_t)v + v->owner->kind->source);
}

/* ---- The result of a read ---- */

static void forget_parsed(void *arg)
{
	struct secretvalue *v = arg;

	json_decref(v->parsed);
	v->parsed = NULL;
	v->is_parsed = false;
}

void secretvalue_failed(struct secretvalue *v, const struct err *err)
{
	struct err named = *err;
	int64_t after_ms = err->retry_after_ms;

	v->owner->kind->wrap(v, &named);
	fetched_failed(&v->fetched, &named, v->owner->kind->log, "the value read before stays in use");
	if (after_ms > 0)
		loop_timer_set(&v->fetched.again, after_ms < RETRY_AFTER_MOST_MS ? after_ms : RETRY_AFTER_MOST_MS);
}

void secretvalue_take(struct secretvalue *v, const char *text, int64_t again_in_ms)
{
	const char *namespace_ = *text_at(v->owner->kind, source_of(v), 0);
	struct shares_hold share = { 0 };
	struct err err;

	if (v->fetched.text && strcmp(v->fetched.text, text) == 0) {
		fetched_take(&v->fetched, text, again_in_ms);
		return;
	}
	if (!shares_take(&v->owner->shares, &share, namespace_ ? namespace_ : "", strlen(text))) {
		err_set(&err, ERR_TEMPORARY,
			"this namespace has used up its share of the %zu MiB for secrets: its TriggerAuthentications "
			"read too many, or too large ones",
			BYTES_MAX >> 20);
		secretvalue_failed(v, &err);
		return;
	}
	shares_give(&v->share, v->share.has);
	v->share = share;
	forget_parsed(v);
	strmap_done_secret(&v->members);
	fetched_take(&v->fetched, text, again_in_ms);
}

static void on_again(void *arg)
{
	struct secretvalue *v = arg;

	v->owner->kind->read(v);
}

/* ---- Keeping ---- */

static char *key_of(const struct secretvalues_kind *kind, const void *source, char out[FINGERPRINT_TEXT])
{
	const char *known_by[TEXTS_MAX + 2] = { NULL };
	size_t count = 0;

	for (size_t i = kind->loose_count; i < kind->text_count; i++) {
		const char *text = *text_at(kind, source, i);

		known_by[count++] = text ? text : "";
	}
	kind->also(source, known_by + count);
	count += 2;
	return fingerprint_of(known_by, count, out);
}

static void on_unheld(void *arg, struct held *held)
{
	struct secretvalue *v = (struct secretvalue *)held;
	const struct secretvalues *s = arg;

	s->kind->done(v);
	loop_task_cancel(s->loop, &v->forget);
	forget_parsed(v);
	fetched_done(&v->fetched);
	strmap_done_secret(&v->members);
	shares_give(&v->share, v->share.has);
	for (size_t i = 0; i < s->kind->text_count; i++)
		mem_free_secret((char *)(uintptr_t)*text_at(s->kind, source_of(v), i));
	free(v);
}

static struct secretvalue *value_new(struct secretvalues *s, const void *source)
{
	struct secretvalue *v = mem_zalloc(s->kind->size);
	void *copy;

	v->owner = s;
	copy = source_of(v);
	memcpy(copy, source, s->kind->source_size);
	for (size_t i = 0; i < s->kind->text_count; i++)
		*text_at(s->kind, copy, i) = mem_dup(*text_at(s->kind, source, i));
	loop_timer_init(&v->fetched.again, s->loop, on_again, v);
	loop_task_init(&v->forget, forget_parsed, v);
	loop_timer_set(&v->fetched.again, 0); /* asynchronously, not from inside the request */
	return v;
}

/* Parses the text once per turn, however many members are wanted or missing. */
static const json_t *parsed(struct secretvalue *v)
{
	if (!v->is_parsed) {
		v->parsed = json_parse_foreign(v->fetched.text, strlen(v->fetched.text), NULL);
		v->is_parsed = true;
		loop_task_queue(v->owner->loop, &v->forget);
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
	if (v->owner->kind->member(v, parsed(v), member, &text, err))
		return REFERENCE_MISSING;
	strmap_set(&v->members, member, text);
	mem_free_secret(text);
	*value = strmap_get(&v->members, member);
	return REFERENCE_FOUND;
}

enum reference_state secretvalues_get(struct secretvalues *s, struct object *owner, const void *source,
	const char *member, struct secretvalue **found, const char **value, struct err *err)
{
	char key[FINGERPRINT_TEXT];
	struct secretvalue *v = (struct secretvalue *)holders_find(&s->holders, key_of(s->kind, source, key));

	if (!v) {
		v = value_new(s, source);
		holders_add(&s->holders, &v->fetched.held, key);
	}
	*found = v;
	if (fetched_get(&v->fetched, owner, value, err))
		return member ? get_member(v, member, value, err) : REFERENCE_FOUND;
	if (!v->fetched.err) {
		s->kind->unread(source, err);
		return REFERENCE_UNREAD;
	}
	if (v->fetched.err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return v->fetched.err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
}

void secretvalues_init(struct secretvalues *s, struct loop *loop, const struct secretvalues_kind *kind)
{
	*s = (struct secretvalues){ .loop = loop, .kind = kind, .shares = { .total = BYTES_MAX, .few = BYTES_FEW } };
	holders_init(&s->holders, on_unheld, s);
}
