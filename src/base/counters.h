/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

/*
 * A registry of counters, gauges and histograms for /metrics, which base/exposition writes. The
 * daemon has one. A family is declared once, with its help text and label names. A series is
 * created by its first value and removed with the object that it describes. The number of series is
 * capped; series with a label "namespace" share a quota by namespace (base/shares).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct counters;
struct counters_family; /* owned by its registry */

enum counters_type { COUNTERS_COUNTER, COUNTERS_GAUGE, COUNTERS_HISTOGRAM };

struct counters *counters_new(void);
void counters_free(struct counters *c);

/*
 * Declares a counter or a gauge, or returns the family that already has this name. label_names:
 * NULL-terminated, at most 8, copied; NULL: none.
 */
struct counters_family *counters_declare(struct counters *c, enum counters_type type, const char *name,
	const char *help, const char *const *label_names);

/*
 * bounds: the upper bounds of the buckets, ascending, borrowed as long as the registry lives; +Inf
 * is added. label_names: at most 7.
 */
struct counters_family *counters_declare_histogram(struct counters *c, const char *name, const char *help,
	const char *const *label_names, const double *bounds, size_t bound_count);

/*
 * label_values: as many as the family has names. Without room the value is dropped and the drop
 * counted. counters_add ignores a negative delta for a counter.
 */
void counters_add(struct counters_family *f, const char *const *label_values, double delta);
void counters_set(struct counters_family *f, const char *const *label_values, double value);
/* one observation of a histogram */
void counters_observe(struct counters_family *f, const char *const *label_values, double value);
/* for tests: 0 if the series does not exist; of a histogram, the sum */
double counters_get(struct counters_family *f, const char *const *label_values);

/* removes one series, if it exists, in constant time */
void counters_remove(struct counters_family *f, const char *const *label_values);

/*
 * Removes every series of the family whose label `name` has this value and, unless name2 is NULL,
 * whose label name2 has value2. Takes time proportional to the number of series.
 */
void counters_drop(struct counters_family *f, const char *name, const char *value, const char *name2,
	const char *value2);

/* Appends all families that have series, in the Prometheus text format. */
void counters_write(const struct counters *c, struct buf *out);

#endif
