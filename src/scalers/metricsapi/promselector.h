/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMSELECTOR_H
#define SCALERS_METRICSAPI_PROMSELECTOR_H

/*
 * Which series of a page of metrics is meant, as PromQL's instant selectors say it: `name`,
 * `name{a="b",c!="d",e=~"x|y",f!~"z"}`, `{__name__="name"}`, `{"a.name"}`. A label that a series
 * has not is the empty text. KEDA compares for equality whatever the operator (keda-scalers.md
 * A.8); here each means what it says. Called by metricsapi (to compile) and promtext (to match).
 *
 * Regular expressions are those of promregex, matched against the whole value. What their matching
 * costs is counted.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/metricsapi/promregex.h"

#define PROMSELECTOR_LENGTH_MAX   2048
#define PROMSELECTOR_MATCHERS_MAX 32

enum promselector_operator { PROMSELECTOR_EQUAL, PROMSELECTOR_UNEQUAL, PROMSELECTOR_FITS, PROMSELECTOR_UNFITS };

struct promselector_matcher {
	char *label, *value; /* owned */
	enum promselector_operator operator;
	struct promregex *regex; /* owned; of FITS and UNFITS */
};

struct promselector {
	char *name;                            /* owned; of the series */
	struct promselector_matcher *matchers; /* owned */
	size_t count;
};

/* ERR_INVALID `position 3: ...`, counted from 1. The caller owns it. */
struct promselector *promselector_compile(const char *text, struct err *err);
void promselector_free(struct promselector *s); /* NULL is fine */

/*
 * Whether a matcher holds for a label's value; "" is a label that is not there. With *budget at 0
 * (see promregex_fits) the answer means nothing.
 */
bool promselector_holds(const struct promselector_matcher *m, const char *value, size_t *budget);

#endif
