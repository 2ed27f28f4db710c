/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqpframe.h"

#include <string.h>

#include "base/wire.h"

#define HEADER    7 /* type, channel, size */
#define FRAME_END 0xce

/* ---- Reading ---- */

static uint32_t take_number(struct wire *w, size_t bytes)
{
	return (uint32_t)wire_number(w, bytes);
}

static void take_short(struct wire *c, struct amqpmethod *out)
{
	size_t len = take_number(c, 1);
	const unsigned char *at = wire_take(c, len);

	out->text_len = at ? len : 0;
	if (at)
		memcpy(out->text, at, len);
	out->text[out->text_len] = '\0';
}

/* A long string or a table: both are a length and bytes. */
static const char *take_long(struct wire *c, size_t *len)
{
	*len = take_number(c, 4);
	return (const char *)wire_take(c, *len);
}

/* Whether a blank-separated list has this word. */
static bool has_word(const char *list, size_t len, const char *word)
{
	size_t word_len = strlen(word), from = 0;

	for (size_t i = 0; list && i <= len; i++) {
		if (i < len && list[i] != ' ')
			continue;
		if (i - from == word_len && memcmp(list + from, word, word_len) == 0)
			return true;
		from = i + 1;
	}
	return false;
}

static int not_a_frame(const unsigned char *bytes, size_t len, bool first, struct err *err)
{
	if (first && len >= 4 && memcmp(bytes, "HTTP", 4) == 0)
		return err_set(err, ERR_TEMPORARY,
			"the server speaks HTTP, not AMQP 0-9-1 (is it the management port? then write http:// or "
			"https://)");
	if (first && len >= 4 && memcmp(bytes, "AMQP", 4) == 0)
		return err_set(err, ERR_TEMPORARY, "the server speaks another version of AMQP than 0-9-1");
	if (first && bytes[0] == 21) /* a TLS alert */
		return err_set(err, ERR_TEMPORARY, "the server speaks TLS here (write amqps://)");
	return err_set(err, ERR_TEMPORARY,
		first ? "the server does not speak AMQP 0-9-1" : "the server sent something other than an AMQP frame");
}

int amqpframe_next(const void *bytes, size_t len, bool first, struct amqpframe *out, struct err *err)
{
	const unsigned char *at = bytes;
	struct wire c = { at, len, false };

	if (len > 0 && at[0] != AMQPFRAME_METHOD && at[0] != AMQPFRAME_HEARTBEAT)
		return !first || len >= 4 || at[0] == 21 ? not_a_frame(at, len, first, err) : 0;
	if (len < HEADER)
		return 0;
	out->type = take_number(&c, 1);
	out->channel = take_number(&c, 2);
	out->len = take_number(&c, 4);
	if (out->len > AMQPFRAME_MAX - AMQPFRAME_AROUND)
		return err_set(err, ERR_TEMPORARY, "the server sent a frame of %zu bytes, which is more than %d",
			out->len, AMQPFRAME_MAX);
	out->whole = out->len + AMQPFRAME_AROUND;
	out->payload = at + HEADER;
	if (len < out->whole)
		return 0;
	return at[HEADER + out->len] == FRAME_END ? 1 : not_a_frame(at, len, false, err);
}

static void read_start(struct wire *c, struct amqpmethod *out)
{
	const char *mechanisms;
	size_t len;

	out->major = take_number(c, 1);
	out->minor = take_number(c, 1);
	take_long(c, &len); /* server properties */
	mechanisms = take_long(c, &len);
	out->plain = has_word(mechanisms, len, "PLAIN");
	out->external = has_word(mechanisms, len, "EXTERNAL");
}

int amqpframe_read(const struct amqpframe *frame, struct amqpmethod *out, struct err *err)
{
	struct wire c = { frame->payload, frame->len, false };

	*out = (struct amqpmethod){ .id = take_number(&c, 4) };
	switch (out->id) {
	case AMQPFRAME_START: read_start(&c, out); break;
	case AMQPFRAME_TUNE:
		out->channel_max = take_number(&c, 2);
		out->frame_max = take_number(&c, 4);
		out->beat_s = take_number(&c, 2);
		break;
	case AMQPFRAME_CLOSE:
	case AMQPFRAME_CHANNEL_CLOSE:
		out->code = take_number(&c, 2);
		take_short(&c, out);
		break;
	case AMQPFRAME_DECLARE_OK:
		take_short(&c, out);
		out->messages = take_number(&c, 4);
		out->consumers = take_number(&c, 4);
		break;
	default: break;
	}
	if (c.failed)
		return err_set(err, ERR_TEMPORARY, "the server sent a truncated method (%u.%u)", out->id >> 16,
			out->id & 0xffff);
	return 0;
}

/* ---- Writing ---- */

static void put_short(struct buf *out, const char *text)
{
	size_t len = strnlen(text, AMQPFRAME_TEXT_MAX);

	wire_put(out, len, 1);
	buf_append(out, text, len);
}

static void put_long(struct buf *out, const char *text)
{
	wire_put(out, strlen(text), 4);
	buf_puts(out, text);
}

/* Sets the 4-byte size at `at` to the number of bytes written after it. */
static void set_size(struct buf *out, size_t at)
{
	size_t len;

	if (buf_failed(out))
		return;
	len = out->len - at - 4;
	for (size_t i = 0; i < 4; i++)
		out->data[at + i] = (char)(len >> 8 * (3 - i) & 0xff);
}

/* Returns the offset of its size, for end_frame. */
static size_t begin_frame(struct buf *out, enum amqpframe_type type, unsigned channel)
{
	wire_put(out, type, 1);
	wire_put(out, channel, 2);
	wire_put(out, 0, 4);
	return out->len - 4;
}

static void end_frame(struct buf *out, size_t at)
{
	set_size(out, at);
	wire_put(out, FRAME_END, 1);
}

static size_t begin_method(struct buf *out, unsigned channel, unsigned class, unsigned method)
{
	size_t at = begin_frame(out, AMQPFRAME_METHOD, channel);

	wire_put(out, class, 2);
	wire_put(out, method, 2);
	return at;
}

static void put_properties(struct buf *out, const char *connection_name)
{
	size_t all = out->len, capabilities;

	wire_put(out, 0, 4);
	put_short(out, "product");
	buf_putc(out, 'S');
	put_long(out, "kscaled");
	put_short(out, "connection_name");
	buf_putc(out, 'S');
	put_long(out, connection_name);
	put_short(out, "capabilities");
	buf_putc(out, 'F');
	capabilities = out->len;
	wire_put(out, 0, 4);
	put_short(out, "authentication_failure_close");
	buf_putc(out, 't');
	wire_put(out, 1, 1);
	set_size(out, capabilities);
	set_size(out, all);
}

void amqpframe_put_start_ok(struct buf *out, const char *connection_name, const char *user, const char *password)
{
	size_t user_len = user ? strlen(user) : 0, password_len = user ? strlen(password) : 0, at;

	buf_reserve(out, 512 + strlen(connection_name) + user_len + password_len);
	at = begin_method(out, 0, 10, 11);
	put_properties(out, connection_name);
	put_short(out, user ? "PLAIN" : "EXTERNAL");
	wire_put(out, (user ? user_len + password_len + 2 : 0), 4);
	if (user) {
		buf_putc(out, '\0');
		buf_append(out, user, user_len);
		buf_putc(out, '\0');
		buf_append(out, password, password_len);
	}
	put_short(out, "en_US");
	end_frame(out, at);
}

void amqpframe_put_tune_ok(struct buf *out, unsigned channel_max, uint32_t frame_max, unsigned beat_s)
{
	size_t at = begin_method(out, 0, 10, 31);

	wire_put(out, channel_max, 2);
	wire_put(out, frame_max, 4);
	wire_put(out, beat_s, 2);
	end_frame(out, at);
}

void amqpframe_put_open(struct buf *out, const char *vhost)
{
	size_t at = begin_method(out, 0, 10, 40);

	put_short(out, vhost);
	wire_put(out, 0, 2); /* two obsolete fields */
	end_frame(out, at);
}

void amqpframe_put_close(struct buf *out)
{
	size_t at = begin_method(out, 0, 10, 50);

	wire_put(out, 200, 2);
	put_short(out, "done");
	wire_put(out, 0, 4); /* not caused by a method */
	end_frame(out, at);
}

void amqpframe_put_channel_open(struct buf *out, unsigned channel)
{
	size_t at = begin_method(out, channel, 20, 10);

	wire_put(out, 0, 1);
	end_frame(out, at);
}

void amqpframe_put_channel_close_ok(struct buf *out, unsigned channel)
{
	end_frame(out, begin_method(out, channel, 20, 41));
}

void amqpframe_put_declare(struct buf *out, unsigned channel, const char *queue)
{
	size_t at = begin_method(out, channel, 50, 10);

	wire_put(out, 0, 2);
	put_short(out, queue);
	wire_put(out, 1, 1); /* passive; no other flag */
	wire_put(out, 0, 4); /* no arguments */
	end_frame(out, at);
}

void amqpframe_put_heartbeat(struct buf *out)
{
	end_frame(out, begin_frame(out, AMQPFRAME_HEARTBEAT, 0));
}
