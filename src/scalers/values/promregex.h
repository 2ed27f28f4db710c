/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_PROMREGEX_H
#define SCALERS_VALUES_PROMREGEX_H

/*
 * Regular expressions in a subset of RE2's syntax, matched against the whole text; for Prometheus'
 * matchers and for types that select names. The subset: x . [a-z] [^...] \d \w \s \D \W \S (...)
 * (?:...) | * + ? {n,m} ^ $ and escaped punctuation. PCRE2 does the matching. Syntax that PCRE2
 * interprets differently from RE2 is translated or refused; everything else ((?i), \p{...},
 * [[:alpha:]], \b, look-around, back references, callouts) is refused.
 *
 * Expressions and texts are untrusted: steps are counted against a budget, and memory is limited.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PROMREGEX_LENGTH_MAX 512
#define PROMREGEX_SIZE_MAX   32768 /* bytes of compiled code, in which repetitions are expanded */

struct promregex;

struct promregex *promregex_compile(const char *text, struct err *err); /* ERR_INVALID; the caller owns it */
void promregex_free(struct promregex *r);                               /* NULL is fine */

/*
 * Whether text matches. Subtracts the steps it takes from *budget; when they do not suffice,
 * returns false with *budget 0. Text that is not UTF-8 never matches.
 */
bool promregex_fits(const struct promregex *r, const char *text, size_t *budget);

#endif
