/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_H2SERVER_H
#define TESTS_UNIT_FAKES_H2SERVER_H

/*
 * A gRPC server on a loopback port that answers as a test says, byte by byte if need be: frames of
 * HTTP/2 are written here by hand, because no real server sends wrong ones. On the test's own loop.
 * It reads no more of a request than its frames, and knows no HPACK: which request it is it knows
 * by its number.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/loop.h"

struct h2server;

/*
 * A request (counted from 0 over all connections) has come in whole, `message` without gRPC's five
 * bytes: puts what is answered into *out. False: the connection is closed after that.
 */
typedef bool (*h2server_fn)(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out);

struct h2server *h2server_start(struct loop *loop, h2server_fn fn, void *arg);
void h2server_end(struct h2server *s);
void h2server_limit_streams(struct h2server *s, unsigned char streams); /* on each connection from now on */
uint16_t h2server_port(const struct h2server *s);
unsigned h2server_connections(const struct h2server *s); /* so far */
unsigned h2server_requests(const struct h2server *s);
/* Writes to the connection that spoke last, now. */
void h2server_send(struct h2server *s, const struct buf *bytes);
void h2server_close(struct h2server *s); /* all connections */

/* Pieces of answers. */
#define H2_DATA        0
#define H2_HEADERS     1
#define H2_RST_STREAM  3
#define H2_GOAWAY      7
#define H2_END_STREAM  1
#define H2_END_HEADERS 4
void h2server_frame(struct buf *out, unsigned type, unsigned flags, uint32_t stream, const void *payload, size_t len);
/* :status 200, content-type application/grpc */
void h2server_headers(struct buf *out, uint32_t stream);
/* one gRPC message */
void h2server_message(struct buf *out, uint32_t stream, const void *message, size_t len);
void h2server_trailers(struct buf *out, uint32_t stream, const char *code, const char *text /* NULL */);
void h2server_trailers_only(struct buf *out, uint32_t stream, const char *code, const char *text /* NULL */);
/* All of a good answer. */
void h2server_answer(struct buf *out, uint32_t stream, const void *message, size_t len);

#endif
