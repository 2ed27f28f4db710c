/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongocommand.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "net/mongo/mongowire.h"

static void put_command(struct buf *out, int32_t number, bson_t *command, const char *database)
{
	BSON_APPEND_UTF8(command, "$db", database);
	mongowire_put(out, number, bson_get_data(command), command->len);
	bson_destroy(command);
}

/* Our name, shown in the server's log and by its currentOp. */
static void put_client(bson_t *command, const char *app_name)
{
	bson_t client, part;

	BSON_APPEND_DOCUMENT_BEGIN(command, "client", &client);
	if (app_name) {
		BSON_APPEND_DOCUMENT_BEGIN(&client, "application", &part);
		BSON_APPEND_UTF8(&part, "name", app_name);
		bson_append_document_end(&client, &part);
	}
	BSON_APPEND_DOCUMENT_BEGIN(&client, "driver", &part);
	BSON_APPEND_UTF8(&part, "name", PACKAGE_NAME);
	BSON_APPEND_UTF8(&part, "version", PACKAGE_VERSION);
	bson_append_document_end(&client, &part);
	BSON_APPEND_DOCUMENT_BEGIN(&client, "os", &part);
	BSON_APPEND_UTF8(&part, "type", "Linux");
	bson_append_document_end(&client, &part);
	bson_append_document_end(command, &client);
}

void mongocommand_hello(struct buf *out, int32_t number, bool old, const char *user, const char *app_name)
{
	bson_t command = BSON_INITIALIZER;

	BSON_APPEND_INT32(&command, old ? "isMaster" : "hello", 1);
	BSON_APPEND_BOOL(&command, "helloOk", true);
	put_client(&command, app_name);
	if (user)
		BSON_APPEND_UTF8(&command, "saslSupportedMechs", user);
	put_command(out, number, &command, "admin");
}

static void put_message(bson_t *command, const char *message)
{
	BSON_APPEND_BINARY(command, "payload", BSON_SUBTYPE_BINARY, (const uint8_t *)message,
		(uint32_t)strlen(message));
}

void mongocommand_sasl_start(struct buf *out, int32_t number, const char *source, const char *mechanism,
	const char *message)
{
	bson_t command = BSON_INITIALIZER, options;

	BSON_APPEND_INT32(&command, "saslStart", 1);
	BSON_APPEND_UTF8(&command, "mechanism", mechanism);
	put_message(&command, message);
	BSON_APPEND_DOCUMENT_BEGIN(&command, "options", &options);
	BSON_APPEND_BOOL(&options, "skipEmptyExchange", true);
	bson_append_document_end(&command, &options);
	put_command(out, number, &command, source);
}

void mongocommand_sasl_continue(struct buf *out, int32_t number, const char *source, int32_t conversation,
	const char *message)
{
	bson_t command = BSON_INITIALIZER;

	BSON_APPEND_INT32(&command, "saslContinue", 1);
	BSON_APPEND_INT32(&command, "conversationId", conversation);
	put_message(&command, message);
	put_command(out, number, &command, source);
}

void mongocommand_x509(struct buf *out, int32_t number, const char *user)
{
	bson_t command = BSON_INITIALIZER;

	BSON_APPEND_INT32(&command, "authenticate", 1);
	BSON_APPEND_UTF8(&command, "mechanism", "MONGODB-X509");
	if (user)
		BSON_APPEND_UTF8(&command, "user", user);
	put_command(out, number, &command, "$external");
}

/* [{$match: filter}, {$group: {_id: 1, n: {$sum: 1}}}] */
static void put_pipeline(bson_t *command, const struct mongofilter *filter)
{
	bson_t pipeline, stage, group, sum, match;

	if (!bson_init_static(&match, filter->bytes, filter->len))
		abort(); /* mongofilter made it */
	BSON_APPEND_ARRAY_BEGIN(command, "pipeline", &pipeline);
	BSON_APPEND_DOCUMENT_BEGIN(&pipeline, "0", &stage);
	BSON_APPEND_DOCUMENT(&stage, "$match", &match);
	bson_append_document_end(&pipeline, &stage);
	BSON_APPEND_DOCUMENT_BEGIN(&pipeline, "1", &stage);
	BSON_APPEND_DOCUMENT_BEGIN(&stage, "$group", &group);
	BSON_APPEND_INT32(&group, "_id", 1);
	BSON_APPEND_DOCUMENT_BEGIN(&group, "n", &sum);
	BSON_APPEND_INT32(&sum, "$sum", 1);
	bson_append_document_end(&group, &sum);
	bson_append_document_end(&stage, &group);
	bson_append_document_end(&pipeline, &stage);
	bson_append_array_end(command, &pipeline);
}

static void put_choice(bson_t *command, const char *name, const char *field, const char *word)
{
	bson_t part;

	if (!word)
		return;
	BSON_APPEND_DOCUMENT_BEGIN(command, name, &part);
	BSON_APPEND_UTF8(&part, field, word);
	bson_append_document_end(command, &part);
}

void mongocommand_count(struct buf *out, int32_t number, const struct mongocommand_count *count)
{
	bson_t command = BSON_INITIALIZER, cursor;

	BSON_APPEND_UTF8(&command, "aggregate", count->collection);
	put_pipeline(&command, count->filter);
	BSON_APPEND_DOCUMENT_BEGIN(&command, "cursor", &cursor);
	bson_append_document_end(&command, &cursor);
	BSON_APPEND_INT64(&command, "maxTimeMS", count->limit_ms);
	put_choice(&command, "readConcern", "level", count->read_concern);
	put_choice(&command, "$readPreference", "mode", count->read_preference);
	put_command(out, number, &command, count->database);
}
