/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

/*
 * Counters, gauges and histograms for /metrics (base/exposition writes them). One registry per
 * daemon; families are declared once with help and label names, series appear when first touched
 * and can be dropped (an object that is gone). Series per registry are capped; those that have a
 * label "namespace" have shares by it (base/shares).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct counters;
struct counters_family; /* borrowed from its registry, lives as long */

enum counters_type { COUNTERS_COUNTER, COUNTERS_GAUGE, COUNTERS_HISTOGRAM };

struct counters *counters_new(void);
void counters_free(struct counters *c);

/*
 * Declares a counter or a gauge; label_names is a NULL-terminated array (at most 8), copied. A
 * second declaration of the same name gives the same family.
 */
struct counters_family *counters_declare(struct counters *c, enum counters_type type, const char *name,
	const char *help, const char *const *label_names);

/*
 * bounds: ascending, borrowed for the registry's life; what is beyond the last is counted, too.
 * label_names: at most 7.
 */
struct counters_family *counters_declare_histogram(struct counters *c, const char *name, const char *help,
	const char *const *label_names, const double *bounds, size_t bound_count);

/* label_values: as many as the family has names. */
void counters_add(struct counters_family *f, const char *const *label_values, double delta);
void counters_set(struct counters_family *f, const char *const *label_values, double value);
/* of a histogram only */
void counters_observe(struct counters_family *f, const char *const *label_values, double value);
/* 0 when untouched; of a histogram the sum */
double counters_get(const struct counters_family *f, const char *const *label_values);

/* drops the one series with these label values, without looking at the others */
void counters_remove(struct counters_family *f, const char *const *label_values);

/*
 * Drops each series of the family whose label `name` has this value and, unless name2 is NULL,
 * label name2 has value2. Looks at all of them: not for each of many objects, unless the family has
 * few.
 */
void counters_drop(struct counters_family *f, const char *name, const char *value, const char *name2,
	const char *value2);

void counters_write(const struct counters *c, struct buf *out);

#endif
