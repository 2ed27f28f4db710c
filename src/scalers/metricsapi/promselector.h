/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMSELECTOR_H
#define SCALERS_METRICSAPI_PROMSELECTOR_H

/*
 * Selects series of a metric page by a PromQL instant selector: `name`,
 * `name{a="b",c!="d",e=~"x|y",f!~"z"}`, `{__name__="name"}`, `{"a.name"}`. A missing label is an
 * empty text. Operators have their PromQL meaning, while KEDA always compares for equality
 * (doc/keda.md 8.10). Compiled by metricsapi, matched by promtext.
 *
 * Regular expressions (re2) match the whole value; their cost is counted.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/values/re2.h"

#define PROMSELECTOR_LENGTH_MAX   2048
#define PROMSELECTOR_MATCHERS_MAX 32

enum promselector_operator { PROMSELECTOR_EQUAL, PROMSELECTOR_UNEQUAL, PROMSELECTOR_MATCH, PROMSELECTOR_NOMATCH };

struct promselector_matcher {
	char *label, *value; /* owned */
	enum promselector_operator operator;
	struct re2 *regex; /* owned; for MATCH and NOMATCH */
};

struct promselector {
	char *name;                            /* owned; name of the series */
	struct promselector_matcher *matchers; /* owned */
	size_t count;
};

/* ERR_INVALID `position 3: ...`, counted from 1. The caller owns it. */
struct promselector *promselector_compile(const char *text, struct err *err);
void promselector_free(struct promselector *s); /* NULL is fine */

/*
 * Whether a matcher accepts a label value; "" for a missing label. The result is meaningless once
 * *budget is 0 (re2_matches).
 */
bool promselector_holds(const struct promselector_matcher *m, const char *value, size_t *budget);

#endif
