/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FINGERPRINT_H
#define BASE_FINGERPRINT_H

/*
 * Keyed hashes: to tell credentials apart in a question's key without holding them there, to cache
 * tokens, and to compare written with stored specs. The key is random per process, so a fingerprint
 * in a log or a dump reveals nothing.
 */

#include <stddef.h>
#include <stdint.h>

#define FINGERPRINT_TEXT 33 /* 32 hex digits and a NUL */

/*
 * HMAC-SHA-256 under the process key, first 128 bits, as hex; returns out. Strings are
 * length-prefixed, so ("ab","c") and ("a","bc") differ. NULL counts as absent, not as "".
 */
char *fingerprint_of(const char *const *strings, size_t count, char out[FINGERPRINT_TEXT]);

/*
 * A fast unkeyed 64-bit hash for comparing our own texts with themselves (not for input that
 * somebody chooses to deceive others with). The same in every process and every version: it is
 * written to Jobs (crd/scaledjob).
 */
uint64_t fingerprint_fast(const void *bytes, size_t len);

/* Random numbers for jitter and names (getrandom). */
uint64_t fingerprint_random(void);
double fingerprint_random_unit(void); /* in [0,1) */

#endif
