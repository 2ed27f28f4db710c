/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_PROMREGEX_H
#define SCALERS_METRICSAPI_PROMREGEX_H

/*
 * The regular expressions of Prometheus' matchers (RE2's, matched against the whole of a label's
 * value) as far as labels need them: x . [a-z] [^...] \d \w \s \D \W \S (...) (?:...) | * + ? {n,m}
 * ^ $ and escaped signs. PCRE2 matches them. What it reads in another way than RE2 is written for
 * it anew or refused, as is what is not known here ((?i), \p{...}, [[:alpha:]], \b, look-around,
 * back references, callouts): nothing is taken for something else.
 *
 * Both the expression and the texts come from strangers: steps are counted against a budget, memory
 * has a limit.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PROMREGEX_LENGTH_MAX 512
#define PROMREGEX_SIZE_MAX   32768 /* bytes, compiled; repetitions are written out */

struct promregex;

struct promregex *promregex_compile(const char *text, struct err *err); /* ERR_INVALID; the caller owns it */
void promregex_free(struct promregex *r);                               /* NULL is fine */

/*
 * Takes the steps that it costs from *budget; false when they do not suffice, with *budget 0. A
 * text that is no UTF-8 never fits.
 */
bool promregex_fits(const struct promregex *r, const char *text, size_t *budget);

#endif
