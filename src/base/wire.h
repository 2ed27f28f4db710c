/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

/*
 * Reads and writes big-endian numbers, for AMQP, DNS and Kafka. A reader never leaves its bytes:
 * missing bytes read as 0 and set `failed`, which is checked once, at the end. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct wire { /* a value; borrows the bytes */
	const unsigned char *at;
	size_t left; /* 0 after a failure */
	bool failed;
};

/* The next len bytes; NULL: fewer are left. */
static inline const unsigned char *wire_take(struct wire *w, size_t len)
{
	const unsigned char *at = w->at;

	if (w->failed || len > w->left) {
		w->failed = true;
		w->left = 0;
		return NULL;
	}
	w->at += len;
	w->left -= len;
	return at;
}

/* A number of up to 8 bytes. */
static inline uint64_t wire_number(struct wire *w, size_t bytes)
{
	const unsigned char *at = wire_take(w, bytes);
	uint64_t value = 0;

	for (size_t i = 0; at && i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* Up to 8 bytes; higher bits are dropped. */
static inline void wire_put(struct buf *b, uint64_t value, size_t bytes)
{
	unsigned char out[8];

	for (size_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
	buf_append(b, out, bytes);
}

#endif
