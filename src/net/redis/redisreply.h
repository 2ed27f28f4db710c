/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISREPLY_H
#define NET_REDIS_REDISREPLY_H

/*
 * Parses a RESP2 stream into replies with hiredis' reader and our own reply objects: announced
 * sizes above the limits are rejected before memory is allocated. Pure. For net/redis.
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
 * The error kind of an error reply's text: "NOPERM ..." is ERR_DENIED, "LOADING ..." ERR_TEMPORARY,
 * unknown words ERR_INVALID.
 */
enum err_kind redis_error_kind(const char *text);

/* Per reply. */
#define REDISREPLY_DEPTH_MAX    4
#define REDISREPLY_ELEMENTS_MAX 65536
#define REDISREPLY_TEXT_MAX     (1 << 20)
#define REDISREPLY_TOTAL_MAX    (4 << 20)
/* Bytes fed but not parsed yet. */
#define REDISREPLY_UNPARSED_MAX (4 << 20)

struct redisreply;

struct redisreply *redisreply_new(void);
void redisreply_free(struct redisreply *r); /* NULL is fine */

/*
 * Feeds bytes, at most a few KiB at a time. All replies must be taken out before the next call. -1
 * with ERR_TEMPORARY when too many bytes are unparsed.
 */
int redisreply_feed(struct redisreply *r, const void *bytes, size_t len, struct err *err);

size_t redisreply_bytes(const struct redisreply *r); /* memory of the unfinished reply */

/*
 * 1 with the next reply (for redis_reply_free), 0 when more bytes are needed, -1 with ERR_TEMPORARY
 * when the stream is malformed: another connection may work.
 */
int redisreply_next(struct redisreply *r, struct redis_reply **reply, struct err *err);

#endif
