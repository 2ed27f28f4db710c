/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisreply.h"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct redisreply {
	redisReader *reader;
	size_t elements; /* of the unfinished reply */
	size_t bytes;
	char refused[96]; /* why a callback refused; "" if none has */
};

void redis_reply_free(struct redis_reply *reply)
{
	if (!reply)
		return;
	for (size_t i = 0; i < reply->count; i++)
		redis_reply_free(reply->elements[i]);
	free(reply->elements);
	free(reply->text);
	free(reply);
}

enum err_kind redis_error_kind(const char *text)
{
	static const struct {
		const char *prefix;
		enum err_kind kind;
	} kinds[] = {
		{ "NOPERM", ERR_DENIED },
		{ "NOAUTH", ERR_DENIED },
		{ "WRONGPASS", ERR_DENIED },
		{ "LOADING", ERR_TEMPORARY },
		{ "BUSY", ERR_TEMPORARY },
		{ "MASTERDOWN", ERR_TEMPORARY },
		{ "TRYAGAIN", ERR_TEMPORARY },
		{ "CLUSTERDOWN", ERR_TEMPORARY },
		{ "READONLY", ERR_TEMPORARY },
	};

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (text_begins(text, kinds[i].prefix))
			return kinds[i].kind;
	return ERR_INVALID;
}

/* ---- Callbacks of hiredis; returning NULL refuses ---- */

static struct redis_reply *new_reply(const redisReadTask *task, enum redis_reply_type type)
{
	struct redis_reply *reply = mem_zalloc(sizeof(*reply));
	struct redis_reply *parent = task->parent ? task->parent->obj : NULL;

	reply->type = type;
	if (parent)
		parent->elements[task->idx] = reply;
	return reply;
}

static void *on_string(const redisReadTask *task, char *text, size_t len)
{
	struct redisreply *r = task->privdata;
	enum redis_reply_type type = task->type == REDIS_REPLY_STATUS ? REDIS_STATUS
		: task->type == REDIS_REPLY_ERROR                     ? REDIS_ERROR
								      : REDIS_STRING;
	struct redis_reply *reply;

	if (len > REDISREPLY_TEXT_MAX || r->bytes + len > REDISREPLY_TOTAL_MAX) {
		snprintf(r->refused, sizeof(r->refused), "a string of %zu bytes is too long", len);
		return NULL;
	}
	r->bytes += len;
	reply = new_reply(task, type);
	reply->text = mem_dupn(text, len);
	reply->len = len;
	return reply;
}

static void *on_array(const redisReadTask *task, int count)
{
	struct redisreply *r = task->privdata;
	struct redis_reply *reply;
	int depth = 1;

	for (const redisReadTask *t = task; t->parent; t = t->parent)
		depth++;
	if (depth > REDISREPLY_DEPTH_MAX) {
		snprintf(r->refused, sizeof(r->refused), "arrays are nested more than %d deep", REDISREPLY_DEPTH_MAX);
		return NULL;
	}
	if (count < 0 || (size_t)count > REDISREPLY_ELEMENTS_MAX - r->elements) {
		snprintf(r->refused, sizeof(r->refused), "an array of %d elements is too long", count);
		return NULL;
	}
	r->elements += (size_t)count;
	reply = new_reply(task, REDIS_ARRAY);
	reply->count = (size_t)count;
	reply->elements = mem_array((size_t)count, sizeof(*reply->elements));
	return reply;
}

static void *on_integer(const redisReadTask *task, long long value)
{
	struct redis_reply *reply = new_reply(task, REDIS_INTEGER);

	reply->integer = value;
	return reply;
}

static void *on_nil(const redisReadTask *task)
{
	return new_reply(task, REDIS_NIL);
}

#if HIREDIS_MAJOR >= 1
/*
 * RESP3 types, which we did not request. Without a callback the reader would return numbers in
 * place of objects.
 */
static void *refuse_type(const redisReadTask *task)
{
	struct redisreply *r = task->privdata;

	snprintf(r->refused, sizeof(r->refused), "an unexpected RESP3 type");
	return NULL;
}

static void *on_double(const redisReadTask *task, double value, char *text, size_t len)
{
	(void)value;
	(void)text;
	(void)len;
	return refuse_type(task);
}

static void *on_bool(const redisReadTask *task, int value)
{
	(void)value;
	return refuse_type(task);
}
#endif

static void on_free(void *reply)
{
	redis_reply_free(reply);
}

static redisReplyObjectFunctions functions = {
	.createString = on_string,
	.createArray = on_array,
	.createInteger = on_integer,
	.createNil = on_nil,
#if HIREDIS_MAJOR >= 1
	.createDouble = on_double,
	.createBool = on_bool,
#endif
	.freeObject = on_free,
};

/* ---- The reader ---- */

struct redisreply *redisreply_new(void)
{
	struct redisreply *r = mem_zalloc(sizeof(*r));

	r->reader = redisReaderCreateWithFunctions(&functions);
	if (!r->reader)
		abort(); /* out of memory */
	r->reader->privdata = r;
	return r;
}

void redisreply_free(struct redisreply *r)
{
	if (!r)
		return;
	redisReaderFree(r->reader);
	free(r);
}

int redisreply_feed(struct redisreply *r, const void *bytes, size_t len, struct err *err)
{
	if (r->reader->len - r->reader->pos + len > REDISREPLY_UNPARSED_MAX)
		return err_set(err, ERR_TEMPORARY, "the reply is longer than %d bytes", REDISREPLY_UNPARSED_MAX);
	if (redisReaderFeed(r->reader, bytes, len) != REDIS_OK)
		return err_set(err, ERR_TEMPORARY, "%s", r->reader->errstr);
	return 0;
}

int redisreply_next(struct redisreply *r, struct redis_reply **reply, struct err *err)
{
	void *object = NULL;

	*reply = NULL;
	if (redisReaderGetReply(r->reader, &object) != REDIS_OK)
		return err_set(err, ERR_TEMPORARY, "malformed reply: %s",
			r->refused[0] ? r->refused : r->reader->errstr);
	if (!object)
		return 0;
	r->elements = 0;
	r->bytes = 0;
	*reply = object;
	return 1;
}

size_t redisreply_bytes(const struct redisreply *r)
{
	return r->reader->len - r->reader->pos + r->bytes + r->elements * sizeof(struct redis_reply);
}
