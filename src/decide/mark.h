/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_MARK_H
#define DECIDE_MARK_H

/*
 * A fingerprint of a decision, computed from everything that its sentence mentions: each function
 * takes the fingerprint so far and returns the next one. Valid within one process.
 */

#include <stdint.h>

#include "base/err.h"

uint64_t mark_word(uint64_t mark, uint64_t word);
uint64_t mark_pair(uint64_t mark, int32_t a, int32_t b);
uint64_t mark_number(uint64_t mark, double number);
uint64_t mark_text(uint64_t mark, const char *text);     /* NULL is fine */
uint64_t mark_err(uint64_t mark, const struct err *err); /* its message; NULL is fine */
/*
 * A message as far as it names a cause: without quoted text (the name of a Job) and without
 * numbers, which vary from failure to failure (times, ports, a quota), except an HTTP status.
 */
uint64_t mark_words(uint64_t mark, const char *text);

#endif
