/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLOGIN_H
#define NET_MONGO_MONGOLOGIN_H

/*
 * A login: SCRAM-SHA-256, SCRAM-SHA-1, or by the certificate of the connection. Which messages are
 * sent, and what the answers mean. Pure; net/mongo/mongo carries the messages.
 *
 * Without a mechanism in the settings it is the best that the server has for the user; a server
 * that does not say (before 4.0) has SCRAM-SHA-1. For that MongoDB makes a digest of user and
 * password first. For SCRAM-SHA-256 a password is used as it is written: SASLprep, which MongoDB
 * asks for, leaves all printable ASCII and most of what people type alone.
 */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongoreply.h"

struct mongologin;
struct scram;

/* source: database of the user. nonce: as of scram_new. All is borrowed until this returns. */
struct mongologin *mongologin_new(const struct mongoendpoint *e, const char *source,
	const struct mongoreply_hello *hello, const char *nonce);
void mongologin_free(struct mongologin *l); /* wipes; NULL is fine */

/* Appends the first message, of this number. */
void mongologin_start(struct mongologin *l, int32_t number, struct buf *out);
/*
 * An answer: 1 when the message appended to out is to be sent, 0 when we are logged in, -1 with err
 * (ERR_DENIED, but when the server says something else). MONGOLOGIN_SALT: mongologin_scram is to be
 * salted first (net/sign/salter), then mongologin_prove says the same.
 */
#define MONGOLOGIN_SALT 2
int mongologin_step(struct mongologin *l, struct mongowire_document answer, int32_t number, struct buf *out,
	struct err *err);
struct scram *mongologin_scram(const struct mongologin *l); /* borrowed; NULL: by a certificate */
int mongologin_prove(struct mongologin *l, int32_t number, struct buf *out, struct err *err);

#endif
