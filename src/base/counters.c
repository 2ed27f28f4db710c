/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

#define LABELS_MAX 8
#define SERIES_MAX 20000
#define KEY_ON_STACK 512

/* A series is found by its label values, each with its NUL, one behind the other. */
struct series {
	UT_hash_handle hh;
	double value;
	size_t key_len;
	char key[];
};

struct counters_family {
	UT_hash_handle hh;
	struct counters *registry; /* borrowed */
	enum counters_type type;
	char *name;
	char *help;
	char *labels[LABELS_MAX];
	size_t label_count;
	struct series *series; /* owned */
};

struct counters {
	struct counters_family *families; /* owned, in the order of their declaration */
	size_t series_count;
	uint64_t dropped;
};

struct counters *counters_new(void)
{
	return mem_zalloc(sizeof(struct counters));
}

static void remove_series(struct counters_family *f, struct series *s)
{
	HASH_DEL(f->series, s);
	free(s);
	f->registry->series_count--;
}

static void family_free(struct counters_family *f)
{
	struct series *s, *next;

	HASH_ITER(hh, f->series, s, next)
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
	HASH_ITER(hh, c->families, f, next) {
		HASH_DEL(c->families, f);
		family_free(f);
	}
	free(c);
}

struct counters_family *counters_declare(struct counters *c, enum counters_type type, const char *name, const char *help, const char *const *label_names)
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
	for (; label_names != NULL && label_names[f->label_count] != NULL && f->label_count < LABELS_MAX; f->label_count++)
		f->labels[f->label_count] = mem_dup(label_names[f->label_count]);
	HASH_ADD_KEYPTR(hh, c->families, f->name, strlen(f->name), f);
	return f;
}

/* The key of a series, built on the stack unless it is long. */
struct key {
	char *bytes;
	size_t len;
	char small[KEY_ON_STACK];
};

static void key_init(struct key *k, const struct counters_family *f, const char *const *values)
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

static void key_done(struct key *k)
{
	if (k->bytes != k->small)
		free(k->bytes);
}

static struct series *add_series(struct counters_family *f, const struct key *k)
{
	if (f->registry->series_count >= SERIES_MAX) {
		f->registry->dropped++;
		return NULL;
	}
	struct series *s = mem_zalloc(sizeof(*s) + k->len);
	s->key_len = k->len;
	if (k->len > 0)
		memcpy(s->key, k->bytes, k->len);
	HASH_ADD_KEYPTR(hh, f->series, s->key, s->key_len, s);
	f->registry->series_count++;
	return s;
}

/* The series with these label values, made when `make` says so; NULL when there is none. */
static struct series *find_series(struct counters_family *f, const char *const *values, bool make)
{
	struct key k;
	struct series *s;

	key_init(&k, f, values);
	HASH_FIND(hh, f->series, k.bytes, k.len, s);
	if (s == NULL && make)
		s = add_series(f, &k);
	key_done(&k);
	return s;
}

/* A counter never goes down: Prometheus would take that for a restart. */
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

double counters_get(const struct counters_family *f, const char *const *label_values)
{
	struct key k;
	struct series *s;

	key_init(&k, f, label_values);
	HASH_FIND(hh, f->series, k.bytes, k.len, s);
	key_done(&k);
	return s != NULL ? s->value : 0;
}

void counters_remove(struct counters_family *f, const char *const *label_values)
{
	struct series *s = find_series(f, label_values, false);

	if (s != NULL)
		remove_series(f, s);
}

static const char *label_value(const struct series *s, size_t index)
{
	const char *value = s->key;

	for (; index > 0; index--)
		value += strlen(value) + 1;
	return value;
}

/* Index of the label, or label_count. */
static size_t label_index(const struct counters_family *f, const char *name)
{
	size_t i = 0;

	while (i < f->label_count && strcmp(f->labels[i], name) != 0)
		i++;
	return i;
}

void counters_drop(struct counters_family *f, const char *name, const char *value, const char *name2, const char *value2)
{
	size_t first = label_index(f, name);
	size_t second = name2 != NULL ? label_index(f, name2) : first;
	struct series *s, *next;

	if (first == f->label_count || second == f->label_count)
		return;
	HASH_ITER(hh, f->series, s, next) {
		if (strcmp(label_value(s, first), value) != 0)
			continue;
		if (name2 == NULL || strcmp(label_value(s, second), value2) == 0)
			remove_series(f, s);
	}
}

/* What stands for the character of `step` bytes at text, or NULL when it stands for itself. One byte that is no UTF-8 would make a scraper refuse the whole page. */
static const char *escape_for(const char *text, size_t step, bool quotes)
{
	if (step == 0)
		return UTF8_REPLACEMENT;
	if (text[0] == '\n')
		return "\\n";
	if (text[0] == '\\')
		return "\\\\";
	return text[0] == '"' && quotes ? "\\\"" : NULL;
}

static void put_escaped(struct buf *out, const char *text, bool quotes)
{
	size_t len = strlen(text);
	size_t run = 0; /* start of what is copied as it is */

	for (size_t i = 0; i < len;) {
		size_t step = utf8_step(text + i, len - i);
		const char *escape = escape_for(text + i, step, quotes);
		if (escape != NULL) {
			buf_append(out, text + run, i - run);
			buf_puts(out, escape);
		}
		i += step > 0 ? step : 1;
		if (escape != NULL)
			run = i;
	}
	buf_append(out, text + run, len - run);
}

/* Whole numbers as such; others with as many digits as it takes to read them back. */
static void put_value(struct buf *out, double value)
{
	if (isnan(value))
		buf_puts(out, "NaN");
	else if (isinf(value))
		buf_puts(out, value > 0 ? "+Inf" : "-Inf");
	else if (value == floor(value) && fabs(value) < 1e15)
		buf_printf(out, "%lld", (long long)value);
	else
		buf_printf(out, "%.17g", value);
}

static void put_series(struct buf *out, const struct counters_family *f, const struct series *s)
{
	const char *value = s->key;

	buf_puts(out, f->name);
	for (size_t i = 0; i < f->label_count; i++) {
		buf_putc(out, i == 0 ? '{' : ',');
		buf_puts(out, f->labels[i]);
		buf_puts(out, "=\"");
		put_escaped(out, value, true);
		buf_putc(out, '"');
		value += strlen(value) + 1;
	}
	buf_puts(out, f->label_count > 0 ? "} " : " ");
	put_value(out, s->value);
	buf_putc(out, '\n');
}

static void put_head(struct buf *out, const char *name, const char *help, enum counters_type type)
{
	buf_puts(out, "# HELP ");
	buf_puts(out, name);
	buf_putc(out, ' ');
	put_escaped(out, help, false);
	buf_puts(out, "\n# TYPE ");
	buf_puts(out, name);
	buf_puts(out, type == COUNTERS_COUNTER ? " counter\n" : " gauge\n");
}

void counters_write(const struct counters *c, struct buf *out)
{
	const struct counters_family *f;
	const struct series *s;

	for (f = c->families; f != NULL; f = f->hh.next) {
		if (f->series == NULL)
			continue;
		put_head(out, f->name, f->help, f->type);
		for (s = f->series; s != NULL; s = s->hh.next)
			put_series(out, f, s);
	}
	put_head(out, "kscaled_metrics_series_dropped_total", "Samples not counted because the registry holds its most series.", COUNTERS_COUNTER);
	buf_printf(out, "kscaled_metrics_series_dropped_total %llu\n", (unsigned long long)c->dropped);
}
