/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

/*
 * uthash with SipHash under a random key; include this header, not <uthash.h>. Nobody can choose
 * names (of objects, of metrics) that collide, and the hash is a function, not inlined at each use.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* Under the key of the process; hash_of is truncated. */
unsigned hash_of(const void *bytes, size_t len);
uint64_t hash_long(const void *bytes, size_t len);
/*
 * 128 bits as hex, from two SipHashes under the process's keys: stands for bytes in a key without
 * showing them, at a tenth of the cost of base/fingerprint. Returns out.
 */
#define HASH_TEXT 33
char *hash_text(const void *bytes, size_t len, char out[HASH_TEXT]);

/* SipHash-1-3 itself, with words in native byte order. */
uint64_t hash_keyed(uint64_t key0, uint64_t key1, const void *bytes, size_t len);

#ifdef UTHASH_H
#error "<uthash.h> was included before base/hash.h"
#endif
#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = hash_of((keyptr), (keylen)))
#define uthash_malloc(size)                  mem_alloc(size)
#include <uthash.h>

#endif
