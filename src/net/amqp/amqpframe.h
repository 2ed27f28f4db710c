/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQPFRAME_H
#define NET_AMQP_AMQPFRAME_H

/*
 * The frames of AMQP 0-9-1, and the methods needed to ask for the length of queues: those of
 * connection and channel, and the passive declaration. Nothing else is written; other methods
 * received are reported by number. Bounded, pure. For net/amqp/amqplink.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define AMQPFRAME_HELLO     "AMQP\0\0\x9\x1" /* 8 bytes, before the first frame */
#define AMQPFRAME_HELLO_LEN 8
#define AMQPFRAME_AROUND    8    /* bytes of a frame besides its payload */
#define AMQPFRAME_MAX       8192 /* largest frame accepted, in bytes; RabbitMQ 4.1 requires at least that */
#define AMQPFRAME_TEXT_MAX  255  /* bytes of a short string: a queue, a vhost, an error text */

/* ---- Reading ---- */

enum amqpframe_type { AMQPFRAME_METHOD = 1, AMQPFRAME_HEARTBEAT = 8 };

struct amqpframe {
	unsigned type;
	unsigned channel;
	const unsigned char *payload; /* borrowed */
	size_t len;
	size_t whole; /* bytes of the frame */
};

/*
 * Reads the first frame of the bytes. 1: *out is set; 0: incomplete; -1 with ERR_TEMPORARY: not a
 * frame, or one of more than AMQPFRAME_MAX bytes. first: no bytes came before, so the error
 * explains what the server speaks instead (HTTP, TLS, another AMQP).
 */
int amqpframe_next(const void *bytes, size_t len, bool first, struct amqpframe *out, struct err *err);

/* Class and method. */
enum amqpframe_id {
	AMQPFRAME_START = 10 << 16 | 10,
	AMQPFRAME_SECURE = 10 << 16 | 20,
	AMQPFRAME_TUNE = 10 << 16 | 30,
	AMQPFRAME_OPEN_OK = 10 << 16 | 41,
	AMQPFRAME_CLOSE = 10 << 16 | 50,
	AMQPFRAME_CLOSE_OK = 10 << 16 | 51,
	AMQPFRAME_CHANNEL_OPEN_OK = 20 << 16 | 11,
	AMQPFRAME_CHANNEL_CLOSE = 20 << 16 | 40,
	AMQPFRAME_CHANNEL_CLOSE_OK = 20 << 16 | 41,
	AMQPFRAME_DECLARE_OK = 50 << 16 | 11,
};

struct amqpmethod {
	uint32_t id;                       /* enum amqpframe_id; the arguments of other methods are not read */
	unsigned major, minor;             /* START */
	bool plain, external;              /* START: mechanisms offered */
	unsigned channel_max, beat_s;      /* TUNE */
	uint32_t frame_max;                /* TUNE */
	unsigned code;                     /* CLOSE, CHANNEL_CLOSE */
	uint32_t messages, consumers;      /* DECLARE_OK */
	char text[AMQPFRAME_TEXT_MAX + 1]; /* CLOSE, CHANNEL_CLOSE: the reason; DECLARE_OK: the queue; NUL-terminated */
	size_t text_len;
};

/* -1 with ERR_TEMPORARY: too short for its method. */
int amqpframe_read(const struct amqpframe *frame, struct amqpmethod *out, struct err *err);

/* ---- Writing: each appends one frame ---- */

/*
 * user NULL: EXTERNAL. Also requests authentication_failure_close, so that the server reports a
 * refused login. The buffer is secret afterwards.
 */
void amqpframe_put_start_ok(struct buf *out, const char *connection_name, const char *user, const char *password);
void amqpframe_put_tune_ok(struct buf *out, unsigned channel_max, uint32_t frame_max, unsigned beat_s);
void amqpframe_put_open(struct buf *out, const char *vhost);
void amqpframe_put_close(struct buf *out);
void amqpframe_put_channel_open(struct buf *out, unsigned channel);
void amqpframe_put_channel_close_ok(struct buf *out, unsigned channel);
void amqpframe_put_declare(struct buf *out, unsigned channel, const char *queue); /* passive */
void amqpframe_put_heartbeat(struct buf *out);

#endif
