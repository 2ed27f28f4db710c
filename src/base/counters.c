/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counters.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exposition.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shares.h"

#define LABELS_MAX   8
#define SERIES_MAX   20000 /* without a namespace */
#define SHARED_MAX   40000 /* with one */
#define SHARED_FEW   64
#define SHARED_BYTES 256 /* of label values, counted as one more series: metric names have no length limit */
#define KEY_ON_STACK 512

/* The key of a series is its label values, each with its NUL, concatenated. */
struct series {
	UT_hash_handle hh;
	double value;             /* of a histogram: the sum of the observations */
	uint64_t *buckets;        /* owned; of a histogram: observations per bucket, not cumulative; otherwise NULL */
	struct shares_hold share; /* of a family with namespaces */
	size_t key_len;
	char key[];
};

struct counters_family {
	UT_hash_handle hh;
	struct counters *registry; /* borrowed */
	enum counters_type type;
	char *name;
	char *help;
	char *labels[LABELS_MAX + 1]; /* NULL-terminated */
	size_t label_count;
	size_t namespace_at;  /* index in labels; label_count: none */
	const double *bounds; /* borrowed; of a histogram */
	size_t bound_count;
	struct series *series; /* owned */
	struct series *last;   /* found last, one of series; often the next one, too */
};

struct counters {
	struct counters_family *families; /* owned, in the order of their declaration */
	size_t series_count;              /* without a namespace */
	struct shares shares;             /* of those with one */
	uint64_t dropped;
};

struct counters *counters_new(void)
{
	struct counters *c = mem_zalloc(sizeof(*c));

	c->shares = (struct shares){ .total = SHARED_MAX, .few = SHARED_FEW };
	return c;
}

static void remove_series(struct counters_family *f, struct series *s)
{
	HASH_DEL(f->series, s);
	if (f->last == s)
		f->last = NULL;
	if (s->share.has)
		shares_give(&s->share, s->share.has);
	else
		f->registry->series_count--;
	free(s->buckets);
	free(s);
}

static void family_free(struct counters_family *f)
{
	struct series *s, *next;

	HASH_ITER (hh, f->series, s, next)
		remove_series(f, s);
	for (size_t i = 0; i < f->label_count; i++)
		free(f->labels[i]);
	free(f->name);
	free(f->help);
	free(f);
}

void counters_free(struct counters *c)
{
	struct counters_family *f, *next;

	if (c == NULL)
		return;
	HASH_ITER (hh, c->families, f, next) {
		HASH_DEL(c->families, f);
		family_free(f);
	}
	free(c);
}

/* Index of the label, or label_count. */
static size_t label_index(const struct counters_family *f, const char *name)
{
	size_t i = 0;

	while (i < f->label_count && strcmp(f->labels[i], name) != 0)
		i++;
	return i;
}

struct counters_family *counters_declare(struct counters *c, enum counters_type type, const char *name,
	const char *help, const char *const *label_names)
{
	struct counters_family *f;

	HASH_FIND_STR(c->families, name, f);
	if (f != NULL)
		return f;
	f = mem_zalloc(sizeof(*f));
	f->registry = c;
	f->type = type;
	f->name = mem_dup(name);
	f->help = mem_dup(help);
	for (; label_names != NULL && label_names[f->label_count] != NULL && f->label_count < LABELS_MAX;
		f->label_count++)
		f->labels[f->label_count] = mem_dup(label_names[f->label_count]);
	f->namespace_at = label_index(f, "namespace");
	HASH_ADD_KEYPTR(hh, c->families, f->name, strlen(f->name), f);
	return f;
}

struct counters_family *counters_declare_histogram(struct counters *c, const char *name, const char *help,
	const char *const *label_names, const double *bounds, size_t bound_count)
{
	struct counters_family *f = counters_declare(c, COUNTERS_HISTOGRAM, name, help, label_names);

	f->bounds = bounds;
	f->bound_count = bound_count;
	return f;
}

/* Built on the stack unless it is long. */
struct series_key {
	char *bytes;
	size_t len;
	char small[KEY_ON_STACK];
};

static void key_init(struct series_key *k, const struct counters_family *f, const char *const *values)
{
	size_t sizes[LABELS_MAX];

	k->len = 0;
	for (size_t i = 0; i < f->label_count; i++) {
		sizes[i] = strlen(values[i]) + 1;
		k->len += sizes[i];
	}
	k->bytes = k->len <= sizeof(k->small) ? k->small : mem_alloc(k->len);
	char *end = k->bytes;
	for (size_t i = 0; i < f->label_count; i++) {
		memcpy(end, values[i], sizes[i]);
		end += sizes[i];
	}
}

static void key_done(struct series_key *k)
{
	if (k->bytes != k->small)
		free(k->bytes);
}

/* The label value at this index in the key of a series. */
static const char *label_value(const char *key, size_t index)
{
	for (; index > 0; index--)
		key += strlen(key) + 1;
	return key;
}

static bool take_room(struct counters_family *f, const struct series_key *k, struct shares_hold *share)
{
	struct counters *c = f->registry;

	if (f->namespace_at < f->label_count)
		return shares_take(&c->shares, share, label_value(k->bytes, f->namespace_at),
			1 + k->len / SHARED_BYTES);
	if (c->series_count >= SERIES_MAX)
		return false;
	c->series_count++;
	return true;
}

static struct series *add_series(struct counters_family *f, const struct series_key *k)
{
	struct shares_hold share = { 0 };

	if (!take_room(f, k, &share)) {
		f->registry->dropped++;
		return NULL;
	}
	struct series *s = mem_zalloc(sizeof(*s) + k->len);
	s->share = share;
	s->key_len = k->len;
	if (k->len > 0)
		memcpy(s->key, k->bytes, k->len);
	if (f->type == COUNTERS_HISTOGRAM)
		s->buckets = mem_zalloc((f->bound_count + 1) * sizeof(*s->buckets));
	HASH_ADD_KEYPTR(hh, f->series, s->key, s->key_len, s);
	return s;
}

static bool has_values(const struct series *s, size_t count, const char *const *values)
{
	const char *key = s->key;

	for (size_t i = 0; i < count; i++, key += strlen(key) + 1)
		if (strcmp(key, values[i]) != 0)
			return false;
	return true;
}

/* NULL: the series does not exist, and, with `make`, there is no room for it. */
static struct series *find_series(struct counters_family *f, const char *const *values, bool make)
{
	struct series_key k;
	struct series *s;

	if (f->last && has_values(f->last, f->label_count, values))
		return f->last;
	key_init(&k, f, values);
	HASH_FIND(hh, f->series, k.bytes, k.len, s);
	if (s == NULL && make)
		s = add_series(f, &k);
	key_done(&k);
	f->last = s;
	return s;
}

/* Prometheus would take a counter that decreases for a restart. */
void counters_add(struct counters_family *f, const char *const *label_values, double delta)
{
	if (f->type == COUNTERS_COUNTER && !(delta >= 0))
		return;
	struct series *s = find_series(f, label_values, true);
	if (s != NULL)
		s->value += delta;
}

void counters_set(struct counters_family *f, const char *const *label_values, double value)
{
	struct series *s = find_series(f, label_values, true);

	if (s != NULL)
		s->value = value;
}

void counters_observe(struct counters_family *f, const char *const *label_values, double value)
{
	struct series *s = find_series(f, label_values, true);
	size_t i = 0;

	if (s == NULL)
		return;
	while (i < f->bound_count && !(value <= f->bounds[i]))
		i++;
	s->buckets[i]++;
	s->value += value;
}

double counters_get(struct counters_family *f, const char *const *label_values)
{
	const struct series *s = find_series(f, label_values, false);

	return s != NULL ? s->value : 0;
}

void counters_remove(struct counters_family *f, const char *const *label_values)
{
	struct series *s = find_series(f, label_values, false);

	if (s != NULL)
		remove_series(f, s);
}

void counters_drop(struct counters_family *f, const char *name, const char *value, const char *name2,
	const char *value2)
{
	size_t first = label_index(f, name);
	size_t second = name2 != NULL ? label_index(f, name2) : first;
	struct series *s, *next;

	if (first == f->label_count || second == f->label_count)
		return;
	HASH_ITER (hh, f->series, s, next) {
		if (strcmp(label_value(s->key, first), value) != 0)
			continue;
		if (name2 == NULL || strcmp(label_value(s->key, second), value2) == 0)
			remove_series(f, s);
	}
}

static void put_histogram(struct buf *out, const struct counters_family *f, const struct series *s, const char **values)
{
	const char *labels[LABELS_MAX + 2] = { NULL };
	char name[128], le[32];
	uint64_t sum = 0;

	memcpy(labels, f->labels, f->label_count * sizeof(*labels));
	labels[f->label_count] = "le";
	values[f->label_count] = le;
	snprintf(name, sizeof(name), "%s_bucket", f->name);
	for (size_t i = 0; i <= f->bound_count; i++) {
		if (i < f->bound_count)
			snprintf(le, sizeof(le), "%g", f->bounds[i]);
		else
			snprintf(le, sizeof(le), "+Inf");
		sum += s->buckets[i];
		exposition_sample(out, name, labels, values, (double)sum);
	}
	snprintf(name, sizeof(name), "%s_sum", f->name);
	exposition_sample(out, name, (const char *const *)f->labels, values, s->value);
	snprintf(name, sizeof(name), "%s_count", f->name);
	exposition_sample(out, name, (const char *const *)f->labels, values, (double)sum);
}

static void put_series(struct buf *out, const struct counters_family *f, const struct series *s)
{
	const char *values[LABELS_MAX + 1];

	for (size_t i = 0; i < f->label_count; i++)
		values[i] = label_value(s->key, i);
	if (f->type == COUNTERS_HISTOGRAM)
		put_histogram(out, f, s, values);
	else
		exposition_sample(out, f->name, (const char *const *)f->labels, values, s->value);
}

void counters_write(const struct counters *c, struct buf *out)
{
	static const char *const types
		[] = { [COUNTERS_COUNTER] = "counter", [COUNTERS_GAUGE] = "gauge", [COUNTERS_HISTOGRAM] = "histogram" };
	static const char dropped[] = "kscaled_metrics_series_dropped_total";

	for (const struct counters_family *f = c->families; f != NULL; f = f->hh.next) {
		if (f->series == NULL)
			continue;
		exposition_family(out, f->name, types[f->type], f->help);
		for (const struct series *s = f->series; s != NULL; s = s->hh.next)
			put_series(out, f, s);
	}
	exposition_family(out, dropped, types[COUNTERS_COUNTER],
		"Samples dropped because the limit of series was reached.");
	exposition_sample(out, dropped, NULL, NULL, (double)c->dropped);
}
