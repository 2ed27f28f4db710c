/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongoreply.h"

#include <bson/bson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define WORDS_MAX  200  /* bytes of the server's text to show */
#define FIELDS_MAX 1000 /* of an answer; MongoDB's greeting has about 25 */

/* ---- Fields ---- */

/* False: malformed, or too many fields to search for ours quickly. */
static bool open_document(struct mongowire_document document, bson_t *out)
{
	size_t fields = 0;
	bson_iter_t at;

	if (!bson_init_static(out, document.bytes, document.len) || !bson_iter_init(&at, out))
		return false;
	while (fields <= FIELDS_MAX && bson_iter_next(&at))
		fields++;
	return fields <= FIELDS_MAX;
}

static bool find_field(const bson_t *b, const char *key, bson_iter_t *at)
{
	return bson_iter_init_find(at, b, key);
}

/* True for true, and for numbers other than 0. */
static bool is_set(const bson_t *b, const char *key)
{
	bson_iter_t at;

	return find_field(b, key, &at) && bson_iter_as_bool(&at) && bson_iter_type(&at) != BSON_TYPE_UNDEFINED;
}

static bool is_number(const bson_iter_t *at)
{
	return BSON_ITER_HOLDS_INT32(at) || BSON_ITER_HOLDS_INT64(at) || BSON_ITER_HOLDS_DOUBLE(at);
}

/* Borrowed; NULL: not a string. Ends at an embedded NUL. */
static const char *text_of(const bson_iter_t *at)
{
	return BSON_ITER_HOLDS_UTF8(at) ? bson_iter_utf8(at, NULL) : NULL;
}

static const char *find_text(const bson_t *b, const char *key)
{
	bson_iter_t at;

	return find_field(b, key, &at) ? text_of(&at) : NULL;
}

static int64_t find_whole(const bson_t *b, const char *key)
{
	bson_iter_t at;

	return find_field(b, key, &at) && (BSON_ITER_HOLDS_INT32(&at) || BSON_ITER_HOLDS_INT64(&at))
		? bson_iter_as_int64(&at)
		: 0;
}

/* ---- Success or error ---- */

int mongoreply_status(struct mongowire_document document, struct mongoreply_status *out, struct err *err)
{
	bson_t b;
	bson_iter_t at;
	int64_t code;

	if (!open_document(document, &b) || !find_field(&b, "ok", &at) ||
		!(is_number(&at) || bson_iter_type(&at) == BSON_TYPE_BOOL))
		return err_set(err, ERR_INVALID, "the answer makes no sense: it has no \"ok\"");
	code = find_whole(&b, "code");
	*out = (struct mongoreply_status){
		.ok = bson_iter_as_bool(&at),
		.code = code > 0 && code <= INT32_MAX ? (int32_t)code : 0,
		.name = find_text(&b, "codeName"),
		.message = find_text(&b, "errmsg"),
	};
	return 0;
}

bool mongoreply_is_elsewhere(const struct mongoreply_status *s)
{
	static const int32_t codes[] = { 6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436 };

	for (size_t i = 0; !s->ok && i < MEM_COUNT(codes); i++)
		if (s->code == codes[i])
			return true;
	return false;
}

static enum err_kind kind_of(const struct mongoreply_status *s)
{
	switch (s->code) {
	case 11: /* UserNotFound */
	case 13: /* Unauthorized */
	case 18: /* AuthenticationFailed */ return ERR_DENIED;
	case 0:
	case 50: /* MaxTimeMSExpired */
	case 133: /* FailedToSatisfyReadPreference, by a router */ return ERR_TEMPORARY;
	default: return mongoreply_is_elsewhere(s) ? ERR_TEMPORARY : ERR_INVALID;
	}
}

static bool has_secret(const char *words, const char *secret)
{
	return words && secret && *secret && strstr(words, secret);
}

int mongoreply_refused(const struct mongoreply_status *s, const char *doing, const char *secret, struct err *err)
{
	const char *words = s->message && *s->message ? s->message : "refused";
	size_t len = strlen(words);
	/* Truncated between characters; err_set replaces invalid UTF-8. */
	MEM_AUTO char *shown = mem_dupn(words, len < WORDS_MAX ? len : utf8_cut(words, len, WORDS_MAX));

	if (has_secret(s->message, secret) || has_secret(s->name, secret))
		return err_set(err, kind_of(s), "%s: the server's words repeat the password, so they are not shown",
			doing);
	for (char *c = shown; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
	if (s->code)
		return err_set(err, kind_of(s), "%s: %s (%.60s%s%d)", doing, shown, s->name ? s->name : "code",
			s->name ? ", " : " ", s->code);
	return err_set(err, kind_of(s), "%s: %s", doing, shown);
}

/* ---- The server's role ---- */

static void add_member(struct mongoreply_hello *out, const char *name)
{
	if (!name || !*name || strlen(name) > MONGOREPLY_NAME_MAX || out->count >= MONGOREPLY_MEMBERS_MAX)
		return;
	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->members[i], name) == 0)
			return;
	if (!out->members)
		out->members = mem_array(MONGOREPLY_MEMBERS_MAX, sizeof(*out->members));
	out->members[out->count++] = mem_dup(name);
}

/* Calls take for each text of the array, at most MONGOREPLY_MEMBERS_MAX. */
static void each_text(const bson_t *b, const char *key, void (*take)(struct mongoreply_hello *out, const char *text),
	struct mongoreply_hello *out)
{
	bson_iter_t at, element;

	if (!find_field(b, key, &at) || !BSON_ITER_HOLDS_ARRAY(&at) || !bson_iter_recurse(&at, &element))
		return;
	for (size_t left = MONGOREPLY_MEMBERS_MAX; left > 0 && bson_iter_next(&element); left--)
		take(out, text_of(&element));
}

static void add_mechanism(struct mongoreply_hello *out, const char *name)
{
	out->sha1 = out->sha1 || (name && strcmp(name, "SCRAM-SHA-1") == 0);
	out->sha256 = out->sha256 || (name && strcmp(name, "SCRAM-SHA-256") == 0);
}

void mongoreply_hello(struct mongowire_document document, struct mongoreply_hello *out)
{
	const char *set, *message;
	bson_t b;

	*out = (struct mongoreply_hello){ 0 };
	if (!open_document(document, &b))
		return;
	set = find_text(&b, "setName");
	message = find_text(&b, "msg");
	out->is_router = message && strcmp(message, "isdbgrid") == 0;
	/* Servers before 4.4.2 only have the older field. */
	out->is_primary = is_set(&b, "isWritablePrimary") || is_set(&b, "ismaster");
	out->is_secondary = is_set(&b, "secondary");
	out->is_unready = is_set(&b, "isreplicaset");
	out->set = set && strlen(set) <= MONGOREPLY_NAME_MAX ? mem_dup(set) : NULL;
	out->newest = find_whole(&b, "maxWireVersion");
	add_member(out, find_text(&b, "primary"));
	each_text(&b, "hosts", add_member, out);
	each_text(&b, "passives", add_member, out);
	each_text(&b, "saslSupportedMechs", add_mechanism, out);
}

void mongoreply_hello_done(struct mongoreply_hello *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->members[i]);
	free(h->members);
	free(h->set);
	*h = (struct mongoreply_hello){ 0 };
}

/* ---- A login ---- */

int mongoreply_sasl(struct mongowire_document document, struct mongoreply_sasl *out, struct err *err)
{
	bson_subtype_t subtype;
	const uint8_t *bytes = NULL;
	uint32_t len = 0;
	bson_iter_t at;
	bson_t b;

	if (!open_document(document, &b) || !find_field(&b, "payload", &at) || !BSON_ITER_HOLDS_BINARY(&at))
		return err_set(err, ERR_DENIED, "the answer makes no sense: it has no \"payload\"");
	bson_iter_binary(&at, &subtype, &len, &bytes);
	*out = (struct mongoreply_sasl){
		.conversation = find_field(&b, "conversationId", &at) && BSON_ITER_HOLDS_INT32(&at)
			? bson_iter_int32(&at)
			: 0,
		.done = is_set(&b, "done"),
		.message = (const char *)bytes,
		.len = len,
	};
	return 0;
}

/* ---- A count ---- */

int mongoreply_count(struct mongowire_document document, double *out, struct err *err)
{
	bson_iter_t at, batch, first, field;
	bson_t b;

	if (!open_document(document, &b) || !bson_iter_init(&at, &b) ||
		!bson_iter_find_descendant(&at, "cursor.firstBatch", &batch) || !BSON_ITER_HOLDS_ARRAY(&batch) ||
		!bson_iter_recurse(&batch, &first))
		return err_set(err, ERR_INVALID, "the answer makes no sense: it has no \"cursor.firstBatch\"");
	*out = 0;
	if (!bson_iter_next(&first)) {
		if (first.err_off)
			return err_set(err, ERR_INVALID, "the answer makes no sense: its batch is broken");
		/* A count comes with the first batch; an open cursor may still deliver it. */
		if (bson_iter_init(&at, &b) && bson_iter_find_descendant(&at, "cursor.id", &field) &&
			bson_iter_as_int64(&field) != 0)
			return err_set(err, ERR_TEMPORARY, "the server had not finished counting");
		return 0;
	}
	if (!BSON_ITER_HOLDS_DOCUMENT(&first) || !bson_iter_recurse(&first, &at) || !bson_iter_find(&at, "n") ||
		!is_number(&at))
		return err_set(err, ERR_INVALID, "the answer makes no sense: there is no number \"n\" in it");
	*out = BSON_ITER_HOLDS_DOUBLE(&at) ? bson_iter_double(&at) : (double)bson_iter_as_int64(&at);
	if (!isfinite(*out) || *out < 0)
		return err_set(err, ERR_INVALID, "the answer makes no sense: its number is not a count");
	return 0;
}
