/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The stream of a Redis server. The first byte is the size of the pieces: whatever their size, the
 * same replies come, each below its caps, and all that was fed and not told is below one, too.
 */

#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "net/redis/redisreply.h"

#define FEED_MAX 4096

struct tally {
	size_t elements, bytes;
};

/* Into text what two streams have to agree on. */
static void look_at(const struct redis_reply *reply, int depth, struct tally *tally, struct buf *text)
{
	must(depth <= REDISREPLY_DEPTH_MAX && ++tally->elements <= REDISREPLY_ELEMENTS_MAX + 1);
	buf_printf(text, "%d %lld %zu %zu:", (int)reply->type, (long long)reply->integer, reply->len, reply->count);
	if (reply->text) {
		must(reply->len <= REDISREPLY_TEXT_MAX && reply->text[reply->len] == '\0');
		buf_append(text, reply->text, reply->len);
		tally->bytes += reply->len;
	}
	must(reply->text || (reply->type != REDIS_STATUS && reply->type != REDIS_ERROR && reply->type != REDIS_STRING));
	must(reply->type != REDIS_ERROR || redis_error_kind(reply->text) != ERR_NONE);
	must(reply->type == REDIS_ARRAY || reply->count == 0);
	for (size_t i = 0; i < reply->count; i++)
		look_at(reply->elements[i], depth + 1, tally, text);
	must(tally->bytes <= REDISREPLY_TOTAL_MAX);
}

/* 0, or -1 when the stream broke. */
static int take_out(struct redisreply *r, struct buf *text)
{
	struct redis_reply *reply;
	struct err err = { 0 };
	int state;

	while ((state = redisreply_next(r, &reply, &err)) > 0) {
		struct tally tally = { 0 };

		look_at(reply, 0, &tally, text);
		redis_reply_free(reply);
	}
	must(state == 0 || (err.kind == ERR_TEMPORARY && !strpbrk(err.msg, "\r\n")));
	return state;
}

static void feed(const uint8_t *data, size_t size, size_t piece, struct buf *text)
{
	struct redisreply *r = redisreply_new();
	struct err err = { 0 };
	int state = 0;

	for (size_t at = 0; at < size && state == 0; at += piece) {
		state = redisreply_feed(r, data + at, size - at < piece ? size - at : piece, &err);
		must(state == 0 || err.kind == ERR_TEMPORARY);
		state = state == 0 ? take_out(r, text) : state;
		must(redisreply_bytes(r) <= 2 * REDISREPLY_UNPARSED_MAX + size);
	}
	buf_puts(text, state == 0 ? "more" : "broken");
	redisreply_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT(16 << 20), pieces = BUF_INIT(16 << 20);

	if (size < 2)
		return 0;
	feed(data + 1, size - 1, FEED_MAX, &whole);
	feed(data + 1, size - 1, data[0] + (size_t)1, &pieces);
	must(whole.len == pieces.len && memcmp(whole.data, pieces.data, whole.len) == 0);
	buf_done(&whole);
	buf_done(&pieces);
	return 0;
}
