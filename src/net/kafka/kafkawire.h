/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAWIRE_H
#define NET_KAFKA_KAFKAWIRE_H

/*
 * The primitives of Kafka's protocol: big-endian numbers, strings with a 16-bit length, arrays with
 * a 32-bit count, read by base/wire. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/wire.h"

struct kafkawire_text { /* borrowed; not terminated; data NULL: null */
	const char *data;
	size_t len;
};

int8_t kafkawire_i8(struct wire *r);
int16_t kafkawire_i16(struct wire *r);
int32_t kafkawire_i32(struct wire *r);
int64_t kafkawire_i64(struct wire *r);
struct kafkawire_text kafkawire_text(struct wire *r);
struct kafkawire_text kafkawire_bytes(struct wire *r); /* with a 32-bit length */
/*
 * The count of an array whose elements have at least `least` bytes each; 0 for null. A count too
 * large for the bytes left fails the reader, so that nothing is allocated for it.
 */
size_t kafkawire_count(struct wire *r, size_t least);
void kafkawire_skip(struct wire *r, size_t len);

/* A copy as a C string, owned by the caller; NULL for null, or if it contains a NUL. */
char *kafkawire_dup(struct kafkawire_text text);

void kafkawire_put_i8(struct buf *b, int8_t value);
void kafkawire_put_i16(struct buf *b, int16_t value);
void kafkawire_put_i32(struct buf *b, int32_t value);
void kafkawire_put_i64(struct buf *b, int64_t value);
void kafkawire_put_text(struct buf *b, const char *text); /* at most 32,767 bytes; a longer one fails the buffer */
void kafkawire_put_bytes(struct buf *b, const void *bytes, size_t len);

#endif
