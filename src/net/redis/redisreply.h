/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISREPLY_H
#define NET_REDIS_REDISREPLY_H

/*
 * A stream of RESP2 bytes into replies, by hiredis' reader with reply objects of our own: a server
 * that lies about sizes is refused before anything is allocated for them. For net/redis; pure but
 * for memory.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum redis_reply_type { REDIS_STATUS, REDIS_ERROR, REDIS_INTEGER, REDIS_NIL, REDIS_STRING, REDIS_ARRAY };
struct redis_reply {
	enum redis_reply_type type;
	int64_t integer;
	char *text; /* STATUS, ERROR, STRING; NUL-terminated, len bytes */
	size_t len;
	struct redis_reply **elements; /* ARRAY */
	size_t count;
};

void redis_reply_free(struct redis_reply *reply); /* NULL is fine */
/*
 * What the text of an error reply means for whoever asked: "NOPERM ..." is ERR_DENIED, "LOADING
 * ..." passes by itself; ERR_INVALID for what is no such word.
 */
enum err_kind redis_error_kind(const char *text);

/* Per reply. */
#define REDISREPLY_DEPTH_MAX    4
#define REDISREPLY_ELEMENTS_MAX 65536
#define REDISREPLY_TEXT_MAX     (1 << 20)
#define REDISREPLY_TOTAL_MAX    (4 << 20)
/* Fed, but not yet a reply. */
#define REDISREPLY_UNPARSED_MAX (4 << 20)

struct redisreply;

struct redisreply *redisreply_new(void);
void redisreply_free(struct redisreply *r); /* NULL is fine */

/*
 * Takes bytes, at most a few KiB at a time; take all replies out before feeding more. -1
 * (ERR_TEMPORARY) when too many lie unparsed.
 */
int redisreply_feed(struct redisreply *r, const void *bytes, size_t len, struct err *err);

size_t redisreply_bytes(const struct redisreply *r); /* in memory of what is not a reply yet */

/*
 * 1 with the next reply (redis_reply_free), 0 when more bytes are needed, -1 when the stream is
 * broken for good (ERR_TEMPORARY: another connection may do better).
 */
int redisreply_next(struct redisreply *r, struct redis_reply **reply, struct err *err);

#endif
