/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAWIRE_H
#define NET_KAFKA_KAFKAWIRE_H

/*
 * The primitives of Kafka's protocol: big-endian numbers, texts with a length of 16 bits, arrays
 * with a count of 32, read by base/wire. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/wire.h"

struct kafkawire_text { /* borrowed; no terminator; data NULL: null */
	const char *data;
	size_t len;
};

int8_t kafkawire_i8(struct wire *r);
int16_t kafkawire_i16(struct wire *r);
int32_t kafkawire_i32(struct wire *r);
int64_t kafkawire_i64(struct wire *r);
struct kafkawire_text kafkawire_text(struct wire *r);
struct kafkawire_text kafkawire_bytes(struct wire *r); /* with a length of 32 bits */
/*
 * The count of an array whose elements have at least `least` bytes each; 0 for null. A count that
 * cannot be true, because so many do not fit into what is left, fails, so that nobody allocates for
 * it.
 */
size_t kafkawire_count(struct wire *r, size_t least);
void kafkawire_skip(struct wire *r, size_t len);

/* A copy as a C string, which the caller owns; NULL for null, and for one with a NUL inside. */
char *kafkawire_dup(struct kafkawire_text text);

void kafkawire_put_i8(struct buf *b, int8_t value);
void kafkawire_put_i16(struct buf *b, int16_t value);
void kafkawire_put_i32(struct buf *b, int32_t value);
void kafkawire_put_i64(struct buf *b, int64_t value);
void kafkawire_put_text(struct buf *b, const char *text); /* at most 32,767 bytes; longer: the buffer fails */
void kafkawire_put_bytes(struct buf *b, const void *bytes, size_t len);

#endif
