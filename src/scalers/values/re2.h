/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_RE2_H
#define SCALERS_VALUES_RE2_H

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

#define RE2_LENGTH_MAX 512
#define RE2_SIZE_MAX   32768 /* bytes of compiled code, in which repetitions are expanded */

struct re2;

struct re2 *re2_compile(const char *text, struct err *err); /* ERR_INVALID; the caller owns it */
void re2_free(struct re2 *r);                               /* NULL is fine */

/*
 * Whether text matches. Subtracts the steps it takes from *budget; when they do not suffice,
 * returns false with *budget 0. Text that is not UTF-8 never matches.
 */
bool re2_matches(const struct re2 *r, const char *text, size_t *budget);

#endif
