/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

/*
 * uthash as this house uses it: include this header, never <uthash.h>. Its tables hash with SipHash
 * under a key of the process, so that nobody who chooses names (of objects, of metrics asked for)
 * can make them all fall into one bucket, and the hash is a function, not code at each use.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* under the key of the process; of the long one hash_of is a part */
unsigned hash_of(const void *bytes, size_t len);
uint64_t hash_long(const void *bytes, size_t len);
/* SipHash-1-3 itself (words in the machine's byte order) */
uint64_t hash_keyed(uint64_t key0, uint64_t key1, const void *bytes, size_t len);

#ifdef UTHASH_H
#error "<uthash.h> was included before base/hash.h"
#endif
#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = hash_of((keyptr), (keylen)))
#define uthash_malloc(size)                  mem_alloc(size)
#include <uthash.h>

#endif
