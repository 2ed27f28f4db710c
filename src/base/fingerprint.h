/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FINGERPRINT_H
#define BASE_FINGERPRINT_H

/*
 * Keyed hashes of credentials: a question's key distinguishes credentials without containing them,
 * and caches can be keyed by token. The key is random per process, so a fingerprint in a log or a
 * dump reveals nothing. Also a fast hash without a key, and random numbers.
 */

#include <stddef.h>
#include <stdint.h>

#define FINGERPRINT_TEXT 33 /* 32 hex digits and a NUL */

/*
 * The first 128 bits of HMAC-SHA-256 under the process's key, as hex; returns out. Strings are
 * prefixed by their lengths, so ("ab","c") and ("a","bc") differ. NULL differs from "".
 */
char *fingerprint_of(const char *const *strings, size_t count, char out[FINGERPRINT_TEXT]);

/*
 * A fast 64-bit hash without a key; not for input that an attacker chooses. Stable across processes
 * and versions, because it is written to Jobs (crd/scaledjob).
 */
uint64_t fingerprint_fast(const void *bytes, size_t len);

/* Random numbers, by getentropy(3). */
uint64_t fingerprint_random(void);
double fingerprint_random_unit(void); /* in [0,1) */

#endif
