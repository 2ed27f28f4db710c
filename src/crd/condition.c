/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "crd/intern.h"
#include "crd/shape.h"

#define CONDITIONS_MAX 100
#define MS_PER_S       1000

static const char *const
	status_names[] = { [CONDITION_UNKNOWN] = "Unknown", [CONDITION_TRUE] = "True", [CONDITION_FALSE] = "False" };

const char *condition_status_name(enum condition_status s)
{
	return (size_t)s < MEM_COUNT(status_names) ? status_names[s] : "Unknown";
}

enum condition_status condition_status_of(const char *name)
{
	for (size_t i = 0; i < MEM_COUNT(status_names); i++)
		if (strcmp(status_names[i], name) == 0)
			return (enum condition_status)i;
	return CONDITION_UNKNOWN;
}

static void condition_done(struct condition *c)
{
	intern_free(c->type);
	intern_free(c->reason);
	intern_free(c->message);
}

static int decode_one(const struct json_at *at, struct condition *out, struct err *err)
{
	MEM_AUTO char *status = NULL;

	out->reason = intern_dup("");
	out->message = intern_dup("");
	if (shape_object(at, err) < 0 || intern_get(at, "type", &out->type, err) < 0 ||
		json_get_string(at, "status", &status, err) < 0 || intern_get(at, "reason", &out->reason, err) < 0 ||
		intern_get(at, "message", &out->message, err) < 0 ||
		json_get_time(at, "lastTransitionTime", &out->since_unix_ms, err) < 0 ||
		json_get_int64(at, "observedGeneration", &out->observed_generation, err) < 0)
		return -1;
	if (out->type == NULL)
		return shape_missing(at, "type", err);
	out->status = condition_status_of(status != NULL ? status : "");
	return 0;
}

/* For a list with a single owner. */
static void resize(struct conditions *c, size_t count)
{
	c->list = mem_resize(c->list, 1, sizeof(*c->list) + count * sizeof(c->list->items[0]));
	c->list->owners = 1;
	c->count = count;
}

int conditions_decode(const struct json_at *array, struct conditions *out, struct err *err)
{
	size_t count;

	memset(out, 0, sizeof(*out));
	if (shape_array(array, CONDITIONS_MAX, &count, err) < 0)
		return -1;
	if (count == 0)
		return 0;
	resize(out, count);
	memset(out->list->items, 0, count * sizeof(out->list->items[0]));
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(array, i);

		if (decode_one(&element, &out->list->items[i], err) < 0) {
			conditions_done(out);
			return -1;
		}
	}
	return 0;
}

static json_t *encode_one(const struct condition *c)
{
	json_t *object = json_object();
	char text[TIMESTAMP_TEXT_MAX];

	json_object_set_new(object, "type", json_string(c->type));
	json_object_set_new(object, "status", json_string(condition_status_name(c->status)));
	if (*c->reason != '\0')
		json_object_set_new(object, "reason", json_string(c->reason));
	if (*c->message != '\0')
		json_object_set_new(object, "message", json_string(c->message));
	if (c->since_unix_ms != 0)
		json_object_set_new(object, "lastTransitionTime",
			json_string(timestamp_format(c->since_unix_ms, text)));
	if (c->observed_generation != 0)
		json_object_set_new(object, "observedGeneration", json_integer(c->observed_generation));
	return object;
}

json_t *conditions_encode(const struct conditions *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(array, encode_one(&c->list->items[i]));
	return array;
}

void conditions_done(struct conditions *c)
{
	if (c->list && --c->list->owners == 0) {
		for (size_t i = 0; i < c->count; i++)
			condition_done(&c->list->items[i]);
		free(c->list);
	}
	memset(c, 0, sizeof(*c));
}

void conditions_copy(struct conditions *to, const struct conditions *from)
{
	*to = *from;
	if (to->list)
		to->list->owners++;
}

void conditions_share(struct conditions *c, const struct conditions *other)
{
	if (c->list == other->list || !conditions_equal(c, other, true))
		return;
	conditions_done(c);
	conditions_copy(c, other);
}

/*
 * Called before c is changed: copies a shared list. Returns `one` (NULL: none) in the list that c
 * alone now owns.
 */
static struct condition *own(struct conditions *c, const struct condition *one)
{
	const struct conditions shared = *c;
	size_t at = one ? (size_t)(one - shared.list->items) : 0;

	if (c->list && c->list->owners > 1) {
		c->list->owners--;
		c->list = NULL;
		resize(c, shared.count);
		for (size_t i = 0; i < c->count; i++) {
			struct condition *copy = &c->list->items[i];

			*copy = shared.list->items[i];
			copy->type = intern_dup(copy->type);
			copy->reason = intern_dup(copy->reason);
			copy->message = intern_dup(copy->message);
		}
	}
	return one ? &c->list->items[at] : NULL;
}

static struct condition *condition_find(const struct conditions *c, const char *type)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->list->items[i].type, type) == 0)
			return &c->list->items[i];
	return NULL;
}

const struct condition *conditions_get(const struct conditions *c, const char *type)
{
	return condition_find(c, type);
}

static struct condition *append(struct conditions *c, const char *type, int64_t now_unix_ms)
{
	struct condition *added;

	resize(c, c->count + 1);
	added = &c->list->items[c->count - 1];
	*added = (struct condition){ .type = intern_dup(type),
		.status = CONDITION_UNKNOWN,
		.reason = intern_dup(""),
		.message = intern_dup(""),
		.since_unix_ms = now_unix_ms };
	return added;
}

bool conditions_set(struct conditions *c, const char *type, enum condition_status status, const char *reason,
	const char *message, int64_t now_unix_ms, int64_t generation)
{
	struct condition *one = condition_find(c, type);
	bool same = one && one->status == status && strcmp(one->reason, reason) == 0 &&
		strcmp(one->message, message) == 0;

	if (same && one->observed_generation == generation)
		return false;
	one = own(c, one);
	if (!one)
		one = append(c, type, now_unix_ms);
	if (one->status != status)
		one->since_unix_ms = now_unix_ms;
	one->status = status;
	intern_set(&one->reason, reason); /* which may be the replaced text itself */
	intern_set(&one->message, message);
	one->observed_generation = generation;
	return !same;
}

void conditions_observe(struct conditions *c, const char *type, int64_t generation)
{
	struct condition *one = condition_find(c, type);

	if (one && one->observed_generation != generation)
		one = own(c, one);
	if (one)
		one->observed_generation = generation;
}

void conditions_remove(struct conditions *c, const char *type)
{
	struct condition *one = condition_find(c, type);

	if (!one)
		return;
	one = own(c, one);
	condition_done(one);
	c->count--;
	memmove(one, one + 1, (size_t)(&c->list->items[c->count] - one) * sizeof(*one));
}

/* Times in whole seconds, as stored: a time set in memory equals the one read back. */
static bool same_times(const struct condition *a, const struct condition *b)
{
	return a->since_unix_ms / MS_PER_S == b->since_unix_ms / MS_PER_S &&
		a->observed_generation == b->observed_generation;
}

bool conditions_equal(const struct conditions *a, const struct conditions *b, bool with_times)
{
	if (a->list == b->list)
		return true;
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct condition *x = &a->list->items[i], *y = conditions_get(b, x->type);

		if (y == NULL || x->status != y->status || strcmp(x->reason, y->reason) != 0 ||
			strcmp(x->message, y->message) != 0)
			return false;
		if (with_times && !same_times(x, y))
			return false;
	}
	return true;
}
