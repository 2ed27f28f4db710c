/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

/*
 * A byte buffer that grows up to a mandatory cap. Appends report no error: what would exceed the
 * cap is dropped, and so is everything after it. buf_failed reports that, so a chain of appends is
 * checked once. The content is NUL-terminated after len bytes.
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
void buf_done(struct buf *b);        /* frees the content; the buffer can be used again */
void buf_done_secret(struct buf *b); /* wipes first */
void buf_reset(struct buf *b);       /* empties it, keeps the memory */
/* allocates for len more bytes, so that a secret leaves no copies by reallocation */
void buf_reserve(struct buf *b, size_t len);
void buf_append(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
bool buf_failed(const struct buf *b);      /* whether something did not fit */
const char *buf_text(const struct buf *b); /* borrowed; "" when empty */
char *buf_take(struct buf *b);             /* the content, which the caller owns (never NULL); empties the buffer */

/*
 * Appends text percent-encoded (RFC 3986), except letters, digits, -_.~ and characters in `keep`.
 */
void buf_put_percent(struct buf *b, const char *text, const char *keep);
char *buf_percent(const char *text); /* the same as a text of its own, which the caller owns */

/* Appends the shortest number of at least 15 digits that reads as this value. */
void buf_put_real(struct buf *b, double value);

/*
 * Appends text with some characters replaced. escape gets every character except printable ASCII
 * other than `"` and `\`, with its length `step` as from utf8_step (0: a byte that is not UTF-8).
 * It returns the replacement, which may be in `room`, or NULL to keep the character.
 */
#define BUF_ESCAPE_MAX 8
typedef const char *(*buf_escape_fn)(const char *text, size_t step, char room[BUF_ESCAPE_MAX]);
void buf_put_escaped(struct buf *b, const char *text, buf_escape_fn escape);

/*
 * Appends text as a JSON string literal, quotes included. Bytes that are not UTF-8 become U+FFFD.
 */
void buf_put_json(struct buf *b, const char *text);
/*
 * Appends `"name":"value"`, after a comma unless it is the first of its object; nothing for NULL
 * and "".
 */
void buf_put_json_field(struct buf *b, const char *name, const char *value);

#endif
