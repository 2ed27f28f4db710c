/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMREGEX_H
#define SCALERS_METRICSAPI_PROMREGEX_H

/*
 * The regular expressions of Prometheus' matchers (RE2's, matched against the whole of a label's value) as far as labels need them: x . [a-z] [^...] \d \w \s \D \W \S (...) (?:...) | * + ? {n,m} ^ $ and escaped signs. Both the
 * expression and the texts come from strangers, so all states are followed at once: time is at most the product of the lengths and counted against a budget, memory is that of the expression. libc's regexec promises neither.
 * What is not known ((?i), \p{...}, [[:alpha:]], \b) is refused, never taken for something else.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PROMREGEX_LENGTH_MAX 512
#define PROMREGEX_CODE_MAX   2000 /* instructions; repetitions are written out */

struct promregex;

struct promregex *promregex_compile(const char *text, struct err *err); /* ERR_INVALID; the caller owns it */
void promregex_free(struct promregex *r); /* NULL is fine */

/* Takes from *budget what it costs; false when nothing is left of it. */
bool promregex_fits(const struct promregex *r, const char *text, size_t *budget);

#endif
