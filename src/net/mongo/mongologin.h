/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOLOGIN_H
#define NET_MONGO_MONGOLOGIN_H

/*
 * A login: SCRAM-SHA-256, SCRAM-SHA-1, or by the connection's client certificate. Makes the
 * messages, and judges the answers. Pure; net/mongo/mongo carries the messages.
 *
 * If the settings name no mechanism, the server's best for the user is taken; a server that lists
 * none (before 4.0) has SCRAM-SHA-1. For SCRAM-SHA-1, MongoDB first makes a digest of user and
 * password. For SCRAM-SHA-256 the password is used as it is: SASLprep, which MongoDB requires,
 * leaves all printable ASCII and most of what people type unchanged.
 */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongoreply.h"

struct mongologin;
struct scram;

/* source: the user's database. nonce: as for scram_new. All borrowed for the call. */
struct mongologin *mongologin_new(const struct mongoendpoint *e, const char *source,
	const struct mongoreply_hello *hello, const char *nonce);
void mongologin_free(struct mongologin *l); /* wipes; NULL is fine */

/* Appends the first message, with this number. */
void mongologin_start(struct mongologin *l, int32_t number, struct buf *out);
/*
 * Takes an answer. 1: send the message appended to out. 0: logged in. -1 with err, ERR_DENIED
 * unless the server gives another reason. MONGOLOGIN_SALT: salt mongologin_scram first
 * (net/sign/salter), then mongologin_prove returns one of the others.
 */
#define MONGOLOGIN_SALT 2
int mongologin_step(struct mongologin *l, struct mongowire_document answer, int32_t number, struct buf *out,
	struct err *err);
struct scram *mongologin_scram(const struct mongologin *l); /* borrowed; NULL: login by certificate */
int mongologin_prove(struct mongologin *l, int32_t number, struct buf *out, struct err *err);

#endif
