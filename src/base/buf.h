/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

/*
 * A byte buffer that grows up to a mandatory cap. A chain of appends is checked once: past the cap
 * the buffer keeps what it has, drops the rest and remembers (buf_failed). The content is always
 * NUL-terminated behind len.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* owned; NULL while empty */
	size_t len;
	size_t alloc;
	size_t cap;
	bool failed;
};

#define BUF_INIT(cap_bytes)                                                                                            \
	{                                                                                                              \
		NULL, 0, 0, (cap_bytes), false                                                                         \
	}

void buf_init(struct buf *b, size_t cap_bytes);
void buf_done(struct buf *b);        /* frees the content; the buffer may be used again */
void buf_done_secret(struct buf *b); /* wipes first */
void buf_reset(struct buf *b);       /* forgets the content, keeps the memory */
/* room for len bytes more at once: a secret that fits leaves no copy behind by growing */
void buf_reserve(struct buf *b, size_t len);
void buf_append(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
bool buf_failed(const struct buf *b);      /* true once something did not fit */
const char *buf_text(const struct buf *b); /* borrowed; "" when empty */
char *buf_take(struct buf *b);             /* the caller owns the text (never NULL); the buffer is empty again */

/* Appends text with all but letters, digits, -_.~ and those of `keep` as %XX (RFC 3986). */
void buf_put_percent(struct buf *b, const char *text, const char *keep);

/*
 * Appends text as a JSON string literal, quotes included. Bytes that are not UTF-8 become U+FFFD.
 */
void buf_put_json(struct buf *b, const char *text);

#endif
